package chain_test

import (
	"context"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
	callrun "github.com/windlass-go/windlass/internal/run"
)

// The law telemetry tests the calls of observers. These tests are about the
// content of Exit.

// entries is an observer that records the entered links, and how they ended. If
// binds is true, it binds to each link.
type entries struct {
	off   bool
	binds bool
	asked *int
	seen  *[]string
	exits *[]chain.Exit
	bound string
}

func newEntries(off, binds bool) *entries {
	return &entries{off: off, binds: binds, asked: new(int), seen: new([]string), exits: new([]chain.Exit)}
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

func (e *entries) Enter(_ context.Context, l *chain.Link) context.Context {
	text := e.bound + l.Point + "/" + l.Name
	if l.Within != nil {
		text += " within " + l.Within.Name
	}
	*e.seen = append(*e.seen, text)
	return nil // means ctx
}

func (e *entries) Exit(_ context.Context, _ *chain.Link, x chain.Exit) {
	*e.exits = append(*e.exits, x)
}

func TestExit(t *testing.T) {
	cases := map[string]struct {
		reason string
		end    op
		want   chain.Exit
	}{
		"Panic":  {"Panic is the panic value, and there is no result", panicBefore, chain.Exit{Panic: failure("end panicked")}},
		"Goexit": {"Err says so if the goroutine ends", goexit, chain.Exit{Err: callrun.ErrGoexit}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // so that Elapsed is 0
				r := newEntries(false, false)
				play(chain.New(chain.Named("quota", through)).Observe(r).Then(step{id: "end", op: tc.end}.end()))
				if diff := cmp.Diff([]chain.Exit{tc.want}, *r.exits, sameError); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// All observers of a link learn that it passed on a decision, also those of
// outer chains.
func TestPassed(t *testing.T) {
	guarded := func(is bool) handler {
		return func(ctx context.Context, _ request) (string, error) {
			callrun.SetPassed(ctx, is)
			return "", nil
		}
	}
	for _, want := range []bool{false, true} {
		inner, outer := newEntries(false, false), newEntries(false, false)
		nested := chain.New(chain.Named("inner", through)).Observe(inner)
		_ = trace(chain.New(chain.Named("outer", nested.Then)).Observe(outer).Then(guarded(want)))
		for name, r := range map[string]*entries{"inner": inner, "outer": outer} {
			if exits := *r.exits; len(exits) != 1 || exits[0].Passed != want {
				t.Errorf("the observer of the %s chain got %+v, want one exit with Passed %t", name, exits, want)
			}
		}
	}
}

// A nested chain keeps track of its enabled observers separately.
func TestObserversOfNestedChains(t *testing.T) {
	on, off := func(id string) *tracer { return &tracer{id: id, on: true} }, func(id string) *tracer { return &tracer{id: id} }
	a, b, c := step{id: "a", op: pass}, step{id: "b", op: pass}, step{id: "c", op: pass}
	inner := chain.New(b.named()).Observe(off("i0")).Observe(on("i1"))
	outer := chain.New(a.named(), chain.Named("inner", inner.Then), c.named()).Observe(on("o0")).Observe(off("o1"))

	want := slices.Concat(
		layered([]step{a}, []string{"o0"}),
		[]step{{id: "o0(inner)", op: pass}},
		layered([]step{b}, []string{"i1"}),
		layered([]step{c}, []string{"o0"}),
	)
	if diff := cmp.Diff(trace(run(want, stopped)), trace(outer.Then(stopped.end()))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// decision is a result that describes itself.
type decision string

func (d decision) Describe() (verdict, reason string) { return string(d), "because" }

func TestVerdict(t *testing.T) {
	cases := map[string]struct {
		reason          string
		exit            chain.Exit
		verdict, detail string
	}{
		"Panic":           {"a panic is not an error", chain.Exit{Panic: "no"}, chain.VerdictPanic, ""},
		"Decided":         {"the result describes the decision of the link", chain.Exit{Result: decision("block")}, "block", "because"},
		"Passed":          {"a link that passed on a decision proceeds", chain.Exit{Result: decision("block"), Passed: true}, chain.VerdictProceed, ""},
		"DecidedAndFail":  {"an error overrides the decision and keeps its reason", chain.Exit{Result: decision("block"), Err: fs.ErrExist}, chain.VerdictError, "because"},
		"ProceedAndFail":  {"an error drops the reason to proceed", chain.Exit{Result: decision("proceed"), Err: fs.ErrExist}, chain.VerdictError, ""},
		"DecidedAndPanic": {"a panic overrides the decision and keeps its reason", chain.Exit{Result: decision("block"), Err: &chain.PanicError{Value: 1}}, chain.VerdictPanic, "because"},
		"PassedAndFail":   {"a link that passed on an error proceeds", chain.Exit{Err: fs.ErrExist, Passed: true}, chain.VerdictProceed, ""},
		"PassedAndPanic":  {"a panic that passes through the link is its verdict", chain.Exit{Panic: "no", Passed: true}, chain.VerdictPanic, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			verdict, detail := tc.exit.Verdict()
			if verdict != tc.verdict || detail != tc.detail {
				t.Errorf("%s: got %q, %q, want %q, %q", tc.reason, verdict, detail, tc.verdict, tc.detail)
			}
		})
	}
}

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
