package flow_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// The trace has a step with a verdict for each link within another link. A pass
// without observers stops at the same link.
func TestTraceOfInnerLinks(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	type ofOwner = *checks.OwnerRequest
	yes, no := returns[ofPool]("yes", checks.Proceed(), nil), returns[ofPool]("no", checks.Block("No", "wait"), nil)
	ownerYes := returns[ofOwner]("owner yes", checks.Proceed(), nil)
	always := func(context.Context, ofPool) bool { return true }
	key := func(ofPool) int { return 1 }
	step := func(link, verdict string) flow.Step {
		s := flow.Step{Point: "PreCheck", Link: link, Verdict: verdict}
		if verdict == "block" {
			s.Reason, s.Message = "No", "wait"
		}
		return s
	}
	cases := map[string]struct {
		reason string
		links  []checks.Middleware[*pool]
		want   []flow.Step
		link   string // the link where the pass stopped
	}{
		"When": {"the link within When decides, and When passes its decision on", []checks.Middleware[*pool]{chain.When(always, yes, no, yes)},
			[]flow.Step{step("When(yes, no, yes)", "proceed"), step("yes", "proceed"), step("no", "block")}, "no"},
		"Nested": {"links have steps at any depth", []checks.Middleware[*pool]{chain.Named("some", chain.When(always, checks.All(checks.OnOwner[*pool](ownerYes), checks.Cached(time.Hour, key, no))))},
			[]flow.Step{step("some", "proceed"), step("All(OnOwner(owner yes), Cached(no))", "block"),
				step("OnOwner(owner yes)", "proceed"), step("owner yes", "proceed"), step("Cached(no)", "block"), step("no", "block")}, "All(OnOwner(owner yes), Cached(no))"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &recorder{}
			r := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: chain.New(tc.links...)}, flow.WithObserver(&recorder{off: true}), flow.WithObserver(o), flow.WithExplanations(1))
			out := r.Reconcile(t.Context(), &pool{})
			last, _ := r.Explain("unnamed")
			var steps []flow.Step
			for _, s := range last.Steps {
				if s.Point == "PreCheck" && s.Link != "" {
					steps = append(steps, s)
				}
			}
			mustEqual(t, tc.reason, tc.want, steps, noElapsed)
			mustEqual(t, "the link where the pass stopped", tc.link, out.Link())

			unobserved := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: chain.New(tc.links...)}).Reconcile(t.Context(), &pool{})
			mustEqual(t, "without a trace", tc.link, unobserved.Link())
		})
	}
}

// A link that passes on a context of another pass, or of none, does not end the
// pass. The links inside the next link are then reported to no observer.
func TestInsideWithAnotherContext(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	contextOf := func(observers int) (of context.Context) {
		var opts []flow.Option
		for range observers {
			opts = append(opts, flow.WithObserver(&recorder{}))
		}
		lend := checks.Check("lend", func(ctx context.Context, _ ofPool) (checks.Result, error) { of = ctx; return checks.Proceed(), nil })
		flow.New("Other", (&cloud{}).operations(), ext{PreCheck: chain.New(lend)}, opts...).Reconcile(t.Context(), &pool{})
		return of
	}
	for name, of := range map[string]context.Context{"None": t.Context(), "Fewer": contextOf(1), "More": contextOf(3)} {
		t.Run(name, func(t *testing.T) {
			seen := &recorder{}
			e := ext{PreCheck: chain.New(
				link("borrow", func(_ context.Context, req ofPool, next checks.Handler[*pool]) (checks.Result, error) {
					return next(of, req)
				}),
				checks.OnOwner[*pool](returns[*checks.OwnerRequest]("inner", checks.Proceed(), nil)))}
			out := flow.New("Pool", (&cloud{}).operations(), e, flow.WithObserver(seen), flow.WithObserver(&recorder{})).Reconcile(t.Context(), &pool{})
			mustBeReady(t, "the pass is not disturbed", out)
			for _, call := range seen.calls {
				if strings.HasSuffix(call, "/inner") {
					t.Errorf("an observer is called for a link of another context: %s", call)
				}
			}
		})
	}
}
