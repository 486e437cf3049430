package chain_test

import (
	"context"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	callrun "github.com/windlass-go/windlass/internal/run"
)

// What observers are told in general is a law, see telemetry. Here is what an Exit holds.

// recorder is an observer that keeps what it was told.
type recorder struct {
	links []string
	exits []chain.Exit
	lost  bool // Enter returns nil
}

func (r *recorder) Enabled(context.Context) bool { return true }

func (r *recorder) Enter(ctx context.Context, l *chain.Link) context.Context {
	r.links = append(r.links, l.Point+"/"+l.Name)
	if r.lost {
		return nil
	}
	return ctx
}

func (r *recorder) Exit(_ context.Context, _ *chain.Link, e chain.Exit) { r.exits = append(r.exits, e) }

func TestExit(t *testing.T) {
	cases := map[string]struct {
		reason string
		end    op
		want   chain.Exit
	}{
		"Result": {"a result is shown", stop, chain.Exit{Result: "end()"}},
		"Error":  {"an error is shown with the result returned besides", fail, chain.Exit{Result: "end()", Err: failure("end failed")}},
		"Panic":  {"a panic is shown by its value, with no result that was not returned", panicBefore, chain.Exit{Panic: failure("end panicked")}},
		"Goexit": {"a goroutine that ends is an error of its own", goexit, chain.Exit{Err: chain.ErrGoexit}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which no time passes
				r := &recorder{}
				play(chain.New(chain.Named("quota", through)).Observe(r).Then(step{id: "end", op: tc.end}.end()))
				if diff := cmp.Diff([]chain.Exit{tc.want}, r.exits, sameError); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

// The guard of a link tells all observers around it whether the link passed on a decision, those of outer chains too.
func TestPassed(t *testing.T) {
	guarded := func(is bool) handler {
		return func(ctx context.Context, _ request) (string, error) {
			callrun.SetPassed(ctx, is)
			return "", nil
		}
	}
	for _, want := range []bool{false, true} {
		inner, outer := &recorder{}, &recorder{}
		nested := chain.New(chain.Named("inner", through)).Observe(inner)
		_ = trace(chain.New(chain.Named("outer", nested.Then)).Observe(outer).Then(guarded(want)))
		for name, r := range map[string]*recorder{"inner": inner, "outer": outer} {
			if len(r.exits) != 1 || r.exits[0].Passed != want {
				t.Errorf("the observer of the %s chain got %+v, want one exit with Passed %t", name, r.exits, want)
			}
		}
	}
}

// A chain without links has nothing to observe: its end gets the caller's context.
func TestObserverOfNothing(t *testing.T) {
	var got context.Context
	h := links{}.Observe(&recorder{}).Then(func(ctx context.Context, _ request) (string, error) {
		got = ctx
		return "", nil
	})
	if _, err := h(t.Context(), request{}); err != nil || got != t.Context() {
		t.Errorf("got context %v and error %v, want the caller's context", got, err)
	}
}

func TestElapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(next handler) handler {
			return func(ctx context.Context, req request) (string, error) {
				time.Sleep(time.Second)
				return next(ctx, req)
			}
		}
		r := &recorder{}
		_ = trace(chain.New(slow, link(slow)).Observe(r).Then(stopped.end()))
		var got []time.Duration
		for _, e := range r.exits {
			got = append(got, e.Elapsed)
		}
		if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second}, got); diff != "" {
			t.Errorf("a link's time is that of all behind it as well: -want, +got:\n%s", diff)
		}
	})
}

// An observer is told the point of a link, and may leave the context alone by returning nil.
func TestObserverOfPoint(t *testing.T) {
	r := &recorder{lost: true}
	c := chain.New(chain.Named("lock", through), chain.Named("quota", through)).At("Apply").Observe(r)
	if diff := cmp.Diff(trace(stopped.end()), trace(c.Then(stopped.end()))); diff != "" {
		t.Errorf("a nil context means the one given: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Apply/lock", "Apply/quota"}, r.links); diff != "" {
		t.Errorf("links seen: -want, +got:\n%s", diff)
	}
}

// Which of several observers listen is a matter of each chain, also where one is nested in another.
func TestObserversOfNestedChains(t *testing.T) {
	on, off := func(id string) *watcher { return &watcher{id: id, on: true} }, func(id string) *watcher { return &watcher{id: id} }
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

// Decorations nest around each link, the first outermost, and are made once for each link of a chain nobody observes.
func TestDecorate(t *testing.T) {
	var composed []string
	around := func(id string) func(*chain.Link, handler) handler {
		return func(l *chain.Link, h handler) handler {
			composed = append(composed, id+"("+l.Name+")")
			return step{id: id + "(" + l.Name + ")", op: pass}.raw()(h)
		}
	}
	a, b := step{id: "a", op: pass}, step{id: "b", op: pass}
	h := chain.New(a.named()).Decorate(around("d")).Decorate(around("e")).Append(b.named()).Then(stopped.end())
	if diff := cmp.Diff([]string{"e(b)", "d(b)", "e(a)", "d(a)"}, composed); diff != "" {
		t.Errorf("decorations made: -want, +got:\n%s", diff)
	}
	want := []step{{id: "d(a)", op: pass}, {id: "e(a)", op: pass}, a, {id: "d(b)", op: pass}, {id: "e(b)", op: pass}, b}
	if diff := cmp.Diff(trace(run(want, stopped)), trace(h)); diff != "" {
		t.Errorf("New(a, b).Decorate(d).Decorate(e).Then(h) = d(e(a(d(e(b(h)))))): -want, +got:\n%s", diff)
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
		"Zero":           {"nothing happened", chain.Exit{}, chain.VerdictProceed, ""},
		"Result":         {"a result that does not describe itself proceeds", chain.Exit{Result: 7}, chain.VerdictProceed, ""},
		"Error":          {"an error is the link's", chain.Exit{Result: 7, Err: fs.ErrExist}, chain.VerdictError, ""},
		"Goexit":         {"a goroutine that ended is an error", chain.Exit{Err: chain.ErrGoexit}, chain.VerdictError, ""},
		"Panic":          {"a panic is told from errors", chain.Exit{Panic: "no"}, chain.VerdictPanic, ""},
		"PanicError":     {"also if a guard made an error of it", chain.Exit{Err: &chain.PanicError{Value: 1}}, chain.VerdictPanic, ""},
		"Decided":        {"the result describes the decision of this link", chain.Exit{Result: decision("block")}, "block", "because"},
		"Passed":         {"a decision that the link passed on is not its own", chain.Exit{Result: decision("block"), Passed: true}, chain.VerdictProceed, ""},
		"DecidedAndFail": {"an error comes before a decision, and keeps its reason", chain.Exit{Result: decision("block"), Err: fs.ErrExist}, chain.VerdictError, "because"},
		"ProceedAndFail": {"the reason to proceed is not that of the error", chain.Exit{Result: decision("proceed"), Err: fs.ErrExist}, chain.VerdictError, ""},
		"DecidedAndDie":  {"a panic comes before a decision, too", chain.Exit{Result: decision("block"), Err: &chain.PanicError{Value: 1}}, chain.VerdictPanic, "because"},
		"PassedAndFail":  {"nor is an error that it passed on", chain.Exit{Err: fs.ErrExist, Passed: true}, chain.VerdictProceed, ""},
		"PassedAndPanic": {"a panic that passes through is shown", chain.Exit{Panic: "no", Passed: true}, chain.VerdictPanic, ""},
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

// binder notes for which links it was bound, and what the bound ones are told.
type binder struct {
	bound, told []string
	itself      bool
}

func (b *binder) Bind(link *chain.Link) chain.Observer {
	b.bound = append(b.bound, link.Name)
	if b.itself {
		return nil
	}
	return &boundTo{b, link}
}

func (*binder) Enabled(context.Context) bool { return true }
func (b *binder) Enter(ctx context.Context, l *chain.Link) context.Context {
	return b.tell(ctx, "itself > "+l.Name)
}
func (b *binder) Exit(ctx context.Context, l *chain.Link, _ chain.Exit) {
	b.tell(ctx, "itself < "+l.Name)
}
func (b *binder) tell(ctx context.Context, what string) context.Context {
	b.told = append(b.told, what)
	return ctx
}

type boundTo struct {
	*binder
	link *chain.Link
}

func (b *boundTo) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return b.tell(ctx, b.link.Name+" >")
}
func (b *boundTo) Exit(ctx context.Context, _ *chain.Link, _ chain.Exit) {
	b.tell(ctx, b.link.Name+" <")
}

// What is made of a link is made while the chain is composed, and whoever is bound to it is told of it.
func TestBinder(t *testing.T) {
	through := func(next chain.Handler[int, int]) chain.Handler[int, int] { return next }
	c := chain.New(chain.Named("a", through), chain.Named("b", through))
	end := func(_ context.Context, n int) (int, error) { return n, nil }
	cases := map[string]struct {
		reason string
		first  *binder
		others []chain.Observer
		want   []string
	}{
		"Bound":   {"each link has its own", &binder{}, nil, []string{"a >", "b >", "b <", "a <"}},
		"Itself":  {"there was nothing to bind", &binder{itself: true}, nil, []string{"itself > a", "itself > b", "itself < b", "itself < a"}},
		"Several": {"also where there are several observers", &binder{}, []chain.Observer{&binder{}}, []string{"a >", "b >", "b <", "a <"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := c.Observe(tc.first)
			for _, o := range tc.others {
				observed = observed.Observe(o)
			}
			h := observed.Then(end)
			if diff := cmp.Diff([]string{"b", "a"}, tc.first.bound); diff != "" {
				t.Errorf("it is bound once a link: -want, +got:\n%s", diff)
			}
			_, _ = h(t.Context(), 1)
			_, _ = h(t.Context(), 1)
			if diff := cmp.Diff(append(tc.want, tc.want...), tc.first.told); diff != "" || len(tc.first.bound) != 2 {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
