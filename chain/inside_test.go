package chain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

// group makes a link that composes its links into a separate handler, as
// checks.OnOwner does.
func group(name string, inner ...link) link {
	open := func(observers []chain.Observer) chain.Middleware[request, string] {
		c := chain.New(inner...)
		for _, o := range observers {
			c = c.Observe(o)
		}
		return c.Then
	}
	return probe.Named(probe.Answer{Name: name, Inside: open}, open(nil))
}

// entries is an observer that records the entered links. If binds is true, it
// binds to each link.
type entries struct {
	off   bool
	binds bool
	asked *int
	seen  *[]string
	bound string
}

func newEntries(off, binds bool) *entries {
	return &entries{off: off, binds: binds, asked: new(int), seen: new([]string)}
}

func (e *entries) Enabled(context.Context) bool { *e.asked++; return !e.off }

func (e *entries) Bind(l *chain.Link) chain.Observer {
	if !e.binds {
		return nil // the observer itself
	}
	bound := *e
	bound.bound = "bound to " + l.Name + ": "
	return &bound
}

func (e *entries) Enter(ctx context.Context, l *chain.Link) context.Context {
	text := e.bound + l.Point + "/" + l.Name
	if l.Within != nil {
		text += " within " + l.Within.Name
	}
	*e.seen = append(*e.seen, text)
	return ctx
}

func (*entries) Exit(context.Context, *chain.Link, chain.Exit) {}

// Observers of a chain see the links within a group. Enabled is called once for
// each call.
func TestObserveInside(t *testing.T) {
	plain := func(id string) link { return step{id: id, op: pass}.named() }
	unrelated := chain.Named("unrelated", func(next handler) handler {
		return func(_ context.Context, req request) (string, error) { return next(context.Background(), req) }
	})
	cases := map[string]struct {
		reason    string
		links     []link
		observers []*entries
		want      [][]string
		asked     []int
	}{
		"Group": {
			"observers see a link within a group with the point of the group", []link{plain("a"), group("g", plain("b"), plain("c"))},
			[]*entries{newEntries(false, false)}, [][]string{{"P/a", "P/g", "P/b within g", "P/c within g"}}, []int{1},
		},
		"Two": {
			"each enabled observer sees the links, and a disabled one sees nothing", []link{group("g", plain("b"))},
			[]*entries{newEntries(false, false), newEntries(true, false), newEntries(false, false)},
			[][]string{{"P/g", "P/b within g"}, nil, {"P/g", "P/b within g"}}, []int{1, 1, 1},
		},
		"Nested": {
			"a group may be within a group and within When", []link{chain.When(always, group("g", group("h", plain("b"))))},
			[]*entries{newEntries(false, false)}, [][]string{{"P/When(g)", "P/g within When(g)", "P/h within g", "P/b within h"}}, []int{1},
		},
		"Bound": {"an observer is bound to the links within a group", []link{group("g", plain("b"))}, []*entries{newEntries(false, true)}, [][]string{{"bound to g: P/g", "bound to b: P/b within g"}}, []int{1}},
		"UnrelatedContext": {
			"after an unrelated context, Enabled is called again for each link", []link{unrelated, group("g", plain("b"))},
			[]*entries{newEntries(false, false)}, [][]string{{"P/unrelated", "P/g", "P/b within g"}}, []int{3},
		},
		"UnrelatedOff": {"a disabled observer sees nothing, even after an unrelated context", []link{unrelated, group("g", plain("b"))}, []*entries{newEntries(true, false)}, [][]string{nil}, []int{1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := chain.New(tc.links...).At("P")
			for _, o := range tc.observers {
				c = c.Observe(o)
			}
			play(c.Then(stopped.end()))
			for i, o := range tc.observers {
				if diff := cmp.Diff(tc.want[i], *o.seen); diff != "" || *o.asked != tc.asked[i] {
					t.Errorf("%s: observer %d: %d calls of Enabled, want %d; links: -want, +got:\n%s", tc.reason, i, *o.asked, tc.asked[i], diff)
				}
			}
		})
	}
}
