package checks_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// verdicts is an observer that records the verdict of each link.
type verdicts struct {
	off   bool
	asked int
	seen  []string
}

func (w *verdicts) Enabled(context.Context) bool { w.asked++; return !w.off }

func (w *verdicts) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }

func (w *verdicts) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
	verdict, _ := e.Verdict()
	w.seen = append(w.seen, l.Name+" "+verdict)
}

// The observers of a chain see the links within its links. Enabled is called
// once for each call.
func TestObservedInside(t *testing.T) {
	links := []link{
		checks.OnOwner[*Database](returns[ownerRequest]("owner", checks.Proceed(), nil)),
		checks.All(returns[request]("first", checks.Proceed(), nil), returns[request]("second", checks.Skip("on request"), nil)),
	}
	want := []string{"owner proceed", "first proceed", "second skip", "All(first, second) skip", "OnOwner(owner) proceed"}
	on, off := &verdicts{}, &verdicts{off: true}
	h := checks.Compose(chain.New(links...).Observe(off).Observe(on))
	if res, err := h(t.Context(), &checks.Request[*Database]{}); err != nil || !res.Skipped() {
		t.Fatal(res, err)
	}
	if diff := cmp.Diff(want, on.seen); diff != "" || on.asked != 1 {
		t.Errorf("the enabled observer was asked %d times; -want, +got:\n%s", on.asked, diff)
	}
	if len(off.seen) > 0 || off.asked != 1 {
		t.Errorf("the disabled observer was asked %d times, and saw %v", off.asked, off.seen)
	}
}

// All accepts a chain.When only if each of its links is a check.
func TestWhenFacts(t *testing.T) {
	always := func(context.Context, request) bool { return true }
	yes := returns[request]("yes", checks.Proceed(), nil)
	around := raw("around", func(ctx context.Context, req request, next handler) (checks.Result, error) { return next(ctx, req) })
	act := checks.Gate("act", func(context.Context, request) (checks.Result, error) { return checks.Proceed(), nil })
	refused := func(by, name string) string {
		return "checks: " + by + ": link " + name + " is not made by checks.Check: put it into the chain itself"
	}
	mustPanic(t, map[string]setUp{
		"Raw":  {"All refuses a raw link inside When", func() { checks.All(chain.When(always, yes, around)) }, refused("All", "When(yes, around)")},
		"Gate": {"All refuses a gate inside When", func() { checks.All(chain.When(always, yes, act)) }, refused("All", "When(yes, Gate(act))")},
	})
	res, err := checks.Compose(chain.New(checks.All(chain.When(always, yes, returns[request]("no", checks.Block("No", "wait"), nil)))))(t.Context(), &checks.Request[*Database]{})
	if err != nil || res.Message() != "wait" {
		t.Errorf("a When of checks only is a check: %s, %v", res, err)
	}
}
