package chaintest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// Order fails the test unless the chain has exactly the links of these names, in this order, outermost first: in its
// listing, and in runs with requests made as [Laws] makes them, as far as a run gets. Where requests cannot be made it logs
// so, and looks at the listing only.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if got := namesOf(c.Links()); !slices.Equal(got, names) {
		t.Errorf("chaintest: Order: the chain has other links, or in another order:\n%s",
			strings.TrimSuffix(columns("expected", "actual", names, got), "\n"))
		return
	}
	runs(t, "Order", c)
}

// Ordered fails the test for each rule that does not hold, for chains of which only some of the order matters. It looks at
// the listing and at runs, as [Order] does.
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

// runs calls the chain a few times and compares what ran with the listing: links are entered in the order in which they
// are listed, and where the end was reached all of them were.
func runs[Req, Res any](t rapid.TB, who string, c chain.Chain[Req, Res]) {
	t.Helper()
	listed := namesOf(c.Links())
	requests, err := generator[Req]("Requests", nil)
	if err != nil || len(listed) == 0 {
		t.Logf("chaintest: %s: only the listing was looked at: %v", who, err)
		return
	}
	for seed := range 5 {
		rec, reached := &Recorder{}, false
		var failed any
		if !within(5*time.Second, func() {
			defer func() { failed = recover() }()
			h := c.Observe(rec).Then(func(context.Context, Req) (res Res, err error) {
				reached = true
				return res, nil
			})
			_, _ = h(context.Background(), requests.Example(seed))
		}) {
			t.Fatalf("chaintest: %s: a call did not come back within 5s:\n%s", who, indent(rec.String(), "    "))
			return
		}
		var entered []string
		for _, s := range rec.Steps() {
			if !s.Left && s.Depth == len(entered) {
				entered = append(entered, s.Link)
			}
		}
		inOrder := len(entered) <= len(listed) && slices.Equal(entered, listed[:len(entered)])
		if !inOrder || reached && len(entered) < len(listed) {
			t.Errorf("chaintest: %s: links do not run in the order in which the chain lists them (the end was reached: %t, panic: %v):\n%s",
				who, reached, failed, strings.TrimSuffix(columns("listed", "ran", listed, entered), "\n"))
			return
		}
	}
}
