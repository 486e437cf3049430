package chaintest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// Order fails the test unless the chain has exactly the links with these names,
// in this order, outermost first. It is [Ordered] with the rule [Exactly].
//
// A chain of checks fails the test: use checkstest.Order.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if check := checkOf(c.Links()); check != "" {
		t.Fatalf("chaintest: Order: link %s is a check, which only checks.Compose runs: use checkstest.Order", check)
		return
	}
	ordered(t, "Order", c, []Option{Exactly(names...)})
}

// checkOf returns the name of the first link that is a check, or "".
func checkOf(links []chain.Link) string {
	for i := range links {
		if _, check := links[i].Tag.(linktag.Check); check {
			return links[i].Name
		}
	}
	return ""
}

// Ordered fails the test for each rule that the chain breaks. The rules are
// [Exactly], [Before], [Adjacent], [First], [Last] and [Only]. A rule is broken
// if the chain lacks one of its links, unless [Optional] names that link.
//
// Ordered compares the rules with the list of links, and the list with calls.
// It draws 100 requests, or as many as the flag -rapid.checks sets, and calls
// the chain with each. The links must run in the listed order, and all of them
// if the call reaches the end. A failure shows the smallest request.
//
// With [WithRequests], every link must run for some request. Without it,
// Ordered makes requests from their type and only logs the first link that no
// call ran. [WithComposer] and [WithTimeout] are further options.
func Ordered[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], rules ...Option) {
	t.Helper()
	ordered(t, "Ordered", c, rules)
}

func ordered[Req, Res any](t rapid.TB, by string, c chain.Chain[Req, Res], opts []Option) {
	t.Helper()
	links := namesOf(c.Links())
	cfg := configure(by, c.Links(), opts)
	r := runner[Req, Res]{t: t, by: by, config: cfg, c: c, listed: links}
	composer := composerOf[Req, Res](cfg)
	if composer != nil {
		r.compose, r.view = composer.Compose, composer.View
	}
	if cfg.requests != nil {
		var err error
		if r.requests, err = generator[Req]("WithRequests", cfg.requests); err != nil {
			cfg.refuse("%v", err)
		}
	}
	if len(cfg.wrong) > 0 {
		t.Fatalf("chaintest: %s: %s", by, strings.Join(cfg.wrong, "\nchaintest: "+by+": "))
		return
	}
	broken := false
	for _, rule := range cfg.rules {
		if why := rule.check(links, cfg.optional); why != "" {
			broken = true
			source := rule.String()
			if by == "Order" {
				source = by
			}
			t.Errorf("chaintest: %s: %s\n  chain: %s", source, why, c)
		}
	}
	if !broken && len(links) > 0 {
		r.run()
	}
}

// rule is a rule about the order of links, by their names.
type rule struct {
	kind  string
	names []string
	// holds returns why the rule is broken, or "". at[i] is the position of
	// names[i] in links.
	holds func(names []string, at []int, links []string) string
}

// String prints the rule as Go code, as in `Before("lock", "quota")`.
func (r rule) String() string {
	quoted := make([]string, len(r.names))
	for i, name := range r.names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return r.kind + "(" + strings.Join(quoted, ", ") + ")"
}

// option adds the rule to those that Ordered checks.
func (r rule) option() Option {
	return Option{func(c *config) {
		for i, name := range r.names {
			if slices.Contains(r.names[:i], name) && r.kind != "Exactly" {
				c.refuse("%s: it names link %s twice", r, name)
				return
			}
		}
		if len(r.names) == 0 && r.kind != "Exactly" {
			c.refuse("%s: it names no link", r)
			return
		}
		c.rules = append(c.rules, r)
	}}
}

// Exactly is the rule that the chain has exactly these links, in this order. A
// name may occur twice.
func Exactly(names ...string) Option {
	return rule{"Exactly", names, func(names []string, _ []int, links []string) string {
		if slices.Equal(names, links) {
			return ""
		}
		return "the chain has other links, or in another order:\n" + strings.TrimSuffix(columns("expected", "actual", names, links), "\n")
	}}.option()
}

// Before is the rule that each link is an outer link of the next one. Other
// links may be between them.
func Before(names ...string) Option {
	return rule{"Before", names, func(_ []string, at []int, links []string) string {
		for i := 1; i < len(at); i++ {
			if at[i] < at[i-1] {
				return fmt.Sprintf("link %s comes after link %s", links[at[i-1]], links[at[i]])
			}
		}
		return ""
	}}.option()
}

// Adjacent is the rule that the links follow each other in this order, with no
// other link between them.
func Adjacent(names ...string) Option {
	return rule{"Adjacent", names, func(_ []string, at []int, links []string) string {
		for i := 1; i < len(at); i++ {
			if at[i] == at[i-1]+1 {
				continue
			}
			next := "no link"
			if at[i-1]+1 < len(links) {
				next = "link " + links[at[i-1]+1]
			}
			return fmt.Sprintf("link %s is followed by %s, not by link %s", links[at[i-1]], next, links[at[i]])
		}
		return ""
	}}.option()
}

// First is the rule that the chain begins with the links, in this order.
func First(names ...string) Option {
	return rule{"First", names, func(names []string, at []int, links []string) string {
		for i := range at {
			if at[i] != i {
				return fmt.Sprintf("link %d is %s, not %s", i+1, links[i], names[i])
			}
		}
		return ""
	}}.option()
}

// Last is the rule that the chain ends with the links, in this order.
func Last(names ...string) Option {
	return rule{"Last", names, func(names []string, at []int, links []string) string {
		for i := range at {
			if want := len(links) - len(at) + i; at[i] != want {
				return fmt.Sprintf("link %d of %d is %s, not %s", want+1, len(links), links[want], names[i])
			}
		}
		return ""
	}}.option()
}

// Only is the rule that the chain has the links, in any order, and no others.
func Only(names ...string) Option {
	return rule{"Only", names, func(_ []string, at []int, links []string) string {
		for i, link := range links {
			if !slices.Contains(at, i) {
				return fmt.Sprintf("the chain also has link %s", link)
			}
		}
		return ""
	}}.option()
}

// Optional names links that the chain may lack. The rules of [Ordered] ignore
// those that it lacks, so
//
//	chaintest.Ordered(t, guards, chaintest.Before("lock", "audit", "quota"), chaintest.Optional("audit"))
//
// passes for "lock -> quota" and fails for "quota -> lock" and for "audit ->
// quota". A name that no rule names fails the test.
func Optional(names ...string) Option {
	return Option{func(c *config) { c.optional = append(c.optional, names...) }}
}

// check returns why the rule is broken, or "".
func (r rule) check(links, optional []string) string {
	var names []string
	var at []int
	for _, name := range r.names {
		i := slices.Index(links, name)
		if i < 0 && slices.Contains(optional, name) {
			continue
		}
		if r.kind != "Exactly" && i < 0 {
			return fmt.Sprintf("the chain has no link %s; if it may lack the link, add chaintest.Optional(%q)", name, name)
		}
		if r.kind != "Exactly" && slices.Contains(links[i+1:], name) {
			return fmt.Sprintf("the chain has more than one link %s; give each a name of its own with chain.Named", name)
		}
		names, at = append(names, name), append(at, i)
	}
	return r.holds(names, at, links)
}

// runner calls a chain and compares the links that run with the listed links.
type runner[Req, Res any] struct {
	*config
	t        rapid.TB
	by       string
	c        chain.Chain[Req, Res]
	listed   []string
	requests *rapid.Generator[Req] // nil: make them from their type
	// compose is the function of a Composer, which needs the end as a link.
	// Nil: Then.
	compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	view    func(Req) any // returns the part of a request to print; nil: all of it

	ends  atomic.Int32 // the number of calls that reached the end
	calls int
	most  int    // the number of links that the longest call entered
	last  string // how the last call of that length ended
}

// run draws requests and reports the smallest one that shows another order.
func (r *runner[Req, Res]) run() {
	t, prefix := r.t, "chaintest: "+r.by
	t.Helper()
	given := r.requests != nil
	if !given {
		var err error
		if r.requests, err = generator[Req]("WithRequests", nil); err != nil {
			t.Logf("%s: no call was made: %v", prefix, err)
			return
		}
	}
	fault, stuck := "", false
	reported := search(t, r.by, func(rt *rapid.T) {
		req := r.requests.Draw(rt, "request")
		if stuck {
			return
		}
		r.calls++
		why, returned := r.call(req)
		stuck = !returned
		if why != "" {
			fault = why
			rt.Fatalf("the order differs")
		}
	})
	switch missing := r.most < len(r.listed); {
	case stuck:
		t.Fatalf("%s: %s", prefix, fault)
	case fault != "":
		t.Errorf("%s: %s%s", prefix, fault, strings.TrimSuffix(rerun(t, seed.FindString(reported)), "\n"))
	case reported != "":
		reported, _, _ = strings.Cut(reported, "\n") // the other lines are about this package
		t.Fatalf("%s: the requests could not be drawn: %s", prefix, reported)
	case missing && given:
		t.Errorf("%s: %s: give requests that pass the outer links", prefix, r.unseen())
	case missing:
		t.Logf("%s: %s: the links from there on were compared with the list only", prefix, r.unseen())
	}
}

// call makes one call. The call must enter the links in the listed order, and
// all of them if it reaches the end. Else call returns the difference.
func (r *runner[Req, Res]) call(req Req) (fault string, returned bool) {
	expected := slices.Clone(r.listed)
	if r.compose != nil {
		expected = append(expected, "end")
	}
	rec, before := &Recorder{}, r.ends.Load()
	how := "it ended its goroutine"
	if !within(r.within, func() {
		defer func() {
			if v := recover(); v != nil {
				how = "it panicked: " + text(v)
			}
		}()
		res, err := r.handler(rec)(context.Background(), req)
		if how = "it returned " + show(res); err != nil {
			how = "it failed: " + text(err)
		}
	}) {
		return fmt.Sprintf("a call did not return within %s:\n%s", r.within, indent(rec.String(), "    ")), false
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
		end := "did not reach the end"
		if reached {
			end = "reached the end"
		}
		printed := any(req)
		if r.view != nil {
			printed = r.view(req)
		}
		return fmt.Sprintf("a call did not run the links in the order of the list\n  chain:   %s\n  request: %s\n  call:    it %s; %s\n%s",
			r.c, show(printed), end, how, columns("listed", "ran", expected, entered)), true
	}
	if len(entered) >= r.most {
		r.most, r.last = len(entered), how
	}
	return "", true
}

// listed records the links that the chain lists, but no link within another
// one.
type listed struct{ *Recorder }

func (l listed) Enter(ctx context.Context, link *chain.Link) context.Context {
	if link.Within != nil {
		return ctx
	}
	return l.Recorder.Enter(ctx, link)
}

func (l listed) Exit(ctx context.Context, link *chain.Link, e chain.Exit) {
	if link.Within == nil {
		l.Recorder.Exit(ctx, link, e)
	}
}

// handler composes the chain, observed by rec.
func (r *runner[Req, Res]) handler(rec *Recorder) chain.Handler[Req, Res] {
	c := r.c.Observe(listed{rec})
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

// unseen describes the first link that no call ran, and the longest call.
func (r *runner[Req, Res]) unseen() string {
	outer := "none ran any link"
	if r.most > 0 {
		outer = "the longest ended in link " + r.listed[r.most-1]
	}
	return fmt.Sprintf("none of %d calls ran link %s; %s; %s", r.calls, r.listed[r.most], outer, r.last)
}
