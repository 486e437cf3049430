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

// The link that decided has its own verdict, and the outer links proceed. A link
// that runs a chain of its own decides itself.
func TestObservedVerdicts(t *testing.T) {
	block := returns[request]("i", checks.Block("B", "text"), nil)
	own := checks.Compose(chain.New(open[request]("o"), block))
	cases := map[string]struct {
		reason string
		b      func(context.Context, request, handler) (checks.Result, error)
		want   []string
	}{
		"Error": {"an error wins over a block", func(context.Context, request, handler) (checks.Result, error) {
			return checks.Block("B", "text"), errTest
		}, []string{"b error", "a proceed"}},
		"Panic": {"only the link that panicked", func(context.Context, request, handler) (checks.Result, error) { panic(errTest) }, []string{"b panic", "a proceed"}},
		"After": {"a block after a call of next", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			_, err := next(ctx, req)
			return checks.Block("B", "text"), err
		}, []string{"c proceed", "b block", "a proceed"}},
		"Own": {"the block of a chain of its own", func(ctx context.Context, req request, _ handler) (checks.Result, error) { return own(ctx, req) }, []string{"b block", "a proceed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composed, plain := &verdicts{}, &verdicts{}
			a, b, c := returns[request]("a", checks.Proceed(), nil), raw("b", tc.b), returns[request]("c", checks.Proceed(), nil)
			_, _ = checks.Compose(chain.New(a, b, c).Observe(composed))(t.Context(), ofDatabase(nil))
			if diff := cmp.Diff(tc.want, composed.seen); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if name == "Own" {
				_, _ = chain.New(b).Observe(plain).Then(proceeds)(t.Context(), ofDatabase(nil))
				if diff := cmp.Diff([]string{"b block"}, plain.seen); diff != "" {
					t.Errorf("without Compose: -want, +got:\n%s", diff)
				}
			}
		})
	}
}
