package chaintest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// Order fails the test unless the chain has exactly the links of these names, in this order, outermost first: in its
// listing, and in a few calls with requests that are made as [Laws] makes them. A call need not come to the last link.
// Order logs which links did not run. [Runs] requires each to run.
//
// A chain of checks fails the test: use checkstest.Order.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if check := checkOf(c.Links()); check != "" {
		t.Fatalf("chaintest: Order: link %s is a check, which runs in checks.Compose only: use checkstest.Order", check)
		return
	}
	if listed(t, "Order", c.Links(), names) {
		runs(t, "Order", c)
	}
}

// checkOf returns the name of the first link that is a check; empty if there is none.
func checkOf(links []chain.Link) string {
	for i := range links {
		if _, check := links[i].Tag.(linktag.Check); check {
			return links[i].Name
		}
	}
	return ""
}

// Ordered fails the test for each rule that does not hold, for chains of which only some of the order matters. It looks at
// the listing and at runs, as [Order] does; of a chain of checks it sees the listing only.
func Ordered[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], rules ...Rule) {
	t.Helper()
	links := namesOf(c.Links())
	if len(rules) == 0 {
		t.Fatalf("chaintest: Ordered: there is no rule: give some, such as chaintest.Before")
		return
	}
	broken := false
	for _, r := range rules {
		if why := r.check(links); why != "" {
			broken = true
			t.Errorf("chaintest: %s: %s: the chain is %s", r, why, c)
		}
	}
	if !broken {
		runs(t, "Ordered", c)
	}
}

// Rule says something about the order of links, by their names. The zero Rule holds for no chain.
type Rule struct {
	kind  string
	names []string
	holds func(at []int, links []string) string
}

// String is the rule as it was written, as in `Before("lock", "quota")`.
func (r Rule) String() string {
	quoted := make([]string, len(r.names))
	for i, name := range r.names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return r.kind + "(" + strings.Join(quoted, ", ") + ")"
}

// Before says that each of the links comes before the next one; others may stand between them.
func Before(names ...string) Rule {
	return Rule{"Before", names, func(at []int, links []string) string {
		for i := 1; i < len(at); i++ {
			if at[i] < at[i-1] {
				return fmt.Sprintf("%s comes before %s", links[at[i]], links[at[i-1]])
			}
		}
		return ""
	}}
}

// Adjacent says that the links follow one another in this order, with nothing between them.
func Adjacent(names ...string) Rule {
	return Rule{"Adjacent", names, func(at []int, links []string) string {
		for i := 1; i < len(at); i++ {
			if at[i] != at[i-1]+1 {
				return fmt.Sprintf("%s is not followed by %s", links[at[i-1]], links[at[i]])
			}
		}
		return ""
	}}
}

// First says that the chain begins with the links, in this order.
func First(names ...string) Rule {
	return Rule{"First", names, func(at []int, links []string) string {
		for i := range at {
			if at[i] != i {
				return fmt.Sprintf("link %d is %s", i+1, links[i])
			}
		}
		return ""
	}}
}

// Last says that the chain ends with the links, in this order.
func Last(names ...string) Rule {
	return Rule{"Last", names, func(at []int, links []string) string {
		for i := range at {
			if want := len(links) - len(at) + i; at[i] != want {
				return fmt.Sprintf("link %d of %d is %s", want+1, len(links), links[want])
			}
		}
		return ""
	}}
}

// Only says that the chain has the links, in any order, and no others.
func Only(names ...string) Rule {
	return Rule{"Only", names, func(at []int, links []string) string {
		for i, link := range links {
			if !slices.Contains(at, i) {
				return fmt.Sprintf("there is %s, too", link)
			}
		}
		return ""
	}}
}

// check says why a rule does not hold; empty if it does.
func (r Rule) check(links []string) string {
	if r.holds == nil {
		return "the zero Rule says nothing: make one by chaintest.Before and the like"
	}
	if len(r.names) == 0 {
		return "it names no link"
	}
	at := make([]int, len(r.names))
	for i, name := range r.names {
		if slices.Contains(r.names[:i], name) {
			return fmt.Sprintf("it names %q twice", name)
		}
		switch at[i] = slices.Index(links, name); {
		case at[i] < 0:
			return fmt.Sprintf("no link is named %q", name)
		case slices.Contains(links[at[i]+1:], name):
			return fmt.Sprintf("more than one link is named %q", name)
		}
	}
	return r.holds(at, links)
}

// Runs fails the test unless the chain has exactly the links of these names, in this order, and each of them is seen to
// run in this order. It calls the chain with 100 requests. Some of them have to pass the outer links: give them by
// [Requests]. [ComposedBy] and [Within] are the other options.
//
// For a chain of checks there is checkstest.Order, which uses it.
func Runs[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names []string, opts ...Option) {
	t.Helper()
	links := c.Links()
	if !listed(t, "Runs", links, names) {
		return
	}
	cfg := configure(links, opts)
	if cfg.results != nil || cfg.held != nil || cfg.keepsResult || len(cfg.excuses) > 0 {
		cfg.refuse("its options are Requests, ComposedBy and Within; the others are for Laws")
	}
	requests, err := generator[Req]("Requests", cfg.requests)
	if err != nil {
		cfg.refuse("%v", err)
	}
	by := composerOf[Req, Res](cfg)
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: Runs: %s", strings.Join(cfg.wrong, "\nchaintest: Runs: "))
		return
	}
	r := runner[Req, Res]{c: c, listed: names, requests: requests, within: cfg.within}
	if by != nil {
		r.compose = by.Compose
	}
	if r.run(t, "Runs", 100) && r.most < len(names) {
		t.Errorf("chaintest: Runs: %s: make requests that pass the outer links", r.unseen(100))
	}
}

// listed fails the test, and returns false, unless the links have these names.
func listed(t rapid.TB, who string, links []chain.Link, names []string) bool {
	t.Helper()
	if got := namesOf(links); !slices.Equal(got, names) {
		t.Errorf("chaintest: %s: the chain has other links, or in another order:\n%s", who,
			strings.TrimSuffix(columns("expected", "actual", names, got), "\n"))
		return false
	}
	return true
}

// runs calls the chain a few times with requests made from their type, and compares what ran with the listing. It logs
// which links did not run.
func runs[Req, Res any](t rapid.TB, who string, c chain.Chain[Req, Res]) {
	t.Helper()
	const calls = 5
	r := runner[Req, Res]{c: c, listed: namesOf(c.Links()), within: 5 * time.Second}
	if len(r.listed) == 0 {
		return
	}
	var err error
	if r.requests, err = generator[Req]("Requests", nil); err != nil {
		t.Logf("chaintest: %s: only the listing was looked at: %v", who, err)
		return
	}
	if r.run(t, who, calls) && r.most < len(r.listed) {
		t.Logf("chaintest: %s: %s: of the links after it only the listing was looked at", who, r.unseen(calls))
	}
}

// runner calls a chain and compares what runs with its listing.
type runner[Req, Res any] struct {
	c        chain.Chain[Req, Res]
	listed   []string
	requests *rapid.Generator[Req]
	within   time.Duration
	// compose is the function of a Composer, for which the end is a link. Nil: Then.
	compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]

	ends atomic.Int32 // how often the end was reached
	most int          // how many links the longest run entered
	last string       // how a run of that length ended
}

// run makes calls. Each has to enter the links in the order in which they are listed, and all of them if it reaches the
// end. It fails the test, and returns false, for the first call that does not.
func (r *runner[Req, Res]) run(t rapid.TB, who string, calls int) bool {
	t.Helper()
	expected := slices.Clone(r.listed)
	if r.compose != nil {
		expected = append(expected, "end")
	}
	for seed := range calls {
		req, fault := r.request(seed)
		if fault != "" {
			t.Fatalf("chaintest: %s: %s", who, fault)
			return false
		}
		rec, before := &Recorder{}, r.ends.Load()
		how := "its goroutine was ended"
		if !within(r.within, func() {
			defer func() {
				if v := recover(); v != nil {
					how = "panic: " + text(v)
				}
			}()
			res, err := r.handler(rec)(context.Background(), req)
			if how = "it returned " + show(res); err != nil {
				how = "error: " + text(err)
			}
		}) {
			t.Fatalf("chaintest: %s: a call did not come back within %s:\n%s", who, r.within, indent(rec.String(), "    "))
			return false
		}
		var entered []string
		for _, s := range rec.Steps() {
			if !s.Left && s.Depth == len(entered) {
				entered = append(entered, s.Link)
			}
		}
		reached := r.ends.Load() > before
		inOrder := len(entered) <= len(expected) && slices.Equal(entered, expected[:len(entered)])
		if !inOrder || reached && len(entered) < len(expected) {
			t.Errorf("chaintest: %s: links do not run in the order in which the chain lists them (the end was reached: %t; %s):\n%s",
				who, reached, how, strings.TrimSuffix(columns("listed", "ran", expected, entered), "\n"))
			return false
		}
		if len(entered) >= r.most {
			r.most, r.last = len(entered), how
		}
	}
	return true
}

// request makes a request.
func (r *runner[Req, Res]) request(seed int) (req Req, fault string) {
	defer func() {
		if v := recover(); v != nil {
			fault = "the generator of requests panics: " + text(v)
		}
	}()
	return r.requests.Example(seed), ""
}

// handler composes the chain, observed by rec.
func (r *runner[Req, Res]) handler(rec *Recorder) chain.Handler[Req, Res] {
	c := r.c.Observe(rec)
	if r.compose == nil {
		return c.Then(func(context.Context, Req) (res Res, err error) {
			r.ends.Add(1)
			return res, nil
		})
	}
	return r.compose(c.Append(chain.Named("end", func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			r.ends.Add(1)
			return next(ctx, req)
		}
	})))
}

// unseen says which link no call ran, and why.
func (r *runner[Req, Res]) unseen(calls int) string {
	outer := "none did"
	if r.most > 0 {
		outer = fmt.Sprintf("they came as far as link %s", r.listed[r.most-1])
	}
	return fmt.Sprintf("no call of %d ran link %s: %s; %s", calls, r.listed[r.most], outer, r.last)
}
