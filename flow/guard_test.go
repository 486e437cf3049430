package flow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

type nextPass = chain.Handler[*pool, flow.Outcome]

// A link on Pass can return only the outcome of its pass, an error or Stop.
func TestPass(t *testing.T) {
	locked := checks.Block("Locked", "the lock is held elsewhere", checks.WithAfter(time.Minute), checks.WithWaitingFor(fleet))
	var yesterday flow.Outcome
	c0 := &cloud{}
	flow.New("Pool", c0.operations(), ext{Pass: on("remember", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
		out, err := next(ctx, p)
		yesterday = out
		return out, err
	})}).Reconcile(t.Context(), &pool{})
	ofAnother := flow.New("Pool", c0.operations(), ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("no", checks.Block("No", "no"), nil))}).Reconcile(t.Context(), &pool{})

	cases := map[string]struct {
		reason string
		link   func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error)
		want   place
		err    error
		text   string
		calls  int
	}{
		"Error": {"an error before next fails the pass", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return flow.Outcome{}, errBoom }, place{flow.StateFailed, flow.PointPass, "link"}, errBoom, "boom", 0},
		"Stop":  {"a Stop before next ends the pass", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return flow.Stop(locked), nil }, place{flow.StateBlocked, flow.PointPass, "link"}, nil, "the lock is held elsewhere", 0},
		"StopAfterNext": {"a Stop after next replaces the outcome", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			_, _ = next(ctx, p)
			return flow.Stop(locked), nil
		}, place{flow.StateBlocked, flow.PointPass, "link"}, nil, "the lock is held elsewhere", 3},
		"StopNoBlock": {"Stop accepts only a block or an ignore", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return flow.Stop(checks.Proceed()), nil }, place{flow.StateFailed, flow.PointPass, "link"}, flow.ErrNoOutcome, "flow: link link: " + flow.ErrNoOutcome.Error(), 0},
		"Zero": {"the zero Outcome is not a result", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			_, _ = next(ctx, p)
			return flow.Outcome{}, nil
		}, place{flow.StateFailed, flow.PointPass, "link"}, flow.ErrNoOutcome, "flow: link link: " + flow.ErrNoOutcome.Error(), 3},
		"Remembered": {"the outcome of an earlier pass is refused", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return yesterday, nil }, place{flow.StateFailed, flow.PointPass, "link"}, flow.ErrForeignOutcome, "flow: link link: " + flow.ErrForeignOutcome.Error(), 0},
		"Foreign": {"the outcome of another reconciler is refused", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			_, _ = next(ctx, p)
			return ofAnother, nil
		}, place{flow.StateFailed, flow.PointPass, "link"}, flow.ErrForeignOutcome, "flow: link link: " + flow.ErrForeignOutcome.Error(), 3},
		"NoContext": {"the context of next must contain the pass", func(_ context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			return next(context.Background(), p)
		}, place{flow.StateFailed, flow.PointPass, "link"}, flow.ErrForeignRequest, flow.ErrForeignRequest.Error(), 0},
		"Twice": {"the last call of next counts", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			_, _ = next(ctx, p)
			return next(ctx, p)
		}, place{State: flow.StateReady}, nil, "", 6},
		"Swallows": {"an outer link may ignore the error of an inner link", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			out, _ := chain.After(func(context.Context, *pool, flow.Outcome) error { return errBoom })(next)(ctx, p)
			return out, nil
		}, place{State: flow.StateReady}, nil, "", 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for how, e := range map[string]ext{
				"alone": {Pass: on("link", tc.link)},
				"outer": {Pass: on("link", tc.link).Append(link("other", hands[*pool, flow.Outcome]))},
				"inner": {Pass: on("before", hands).Append(link("link", tc.link))},
			} {
				c := &cloud{}
				out := flow.New("Pool", c.operations(), e).Reconcile(t.Context(), &pool{generation: 3})
				mustEqual(t, how+": "+tc.reason, tc.want, placeOf(out))
				mustEqual(t, how+": "+tc.reason, []any{tc.text, tc.calls}, []any{out.Message(), len(c.take())})
				mustBe(t, how+": "+tc.reason, tc.err, out.Err())
				if out.State() == flow.StateReady {
					continue
				}
				mustEqual(t, how+": the outcome has the generation of the spec", int64(3), out.Generation())
			}
		})
	}
}

// A link on Get may replace the GET. It must pass the request of the pass to
// next.
func TestGetLinks(t *testing.T) {
	type next = chain.Handler[*request, flow.Observation]
	cases := map[string]struct {
		reason string
		link   func(ctx context.Context, req *request, next next) (flow.Observation, error)
		noGet  bool
		want   place
		calls  []string
	}{
		"InPlace": {"a link with a reason may replace Get", func(context.Context, *request, next) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present, InSync: true, Skip: "read a minute ago"}, nil
		}, false, place{State: flow.StateReady}, []string{"owner"}},
		"InSyncWithoutGet": {"InSync needs Get, or a reason", func(context.Context, *request, next) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present, InSync: true}, nil
		}, false, place{flow.StateFailed, flow.PointGet, "link"}, []string{"owner"}},
		"InSyncAfterError": {"InSync after an error of Get needs a reason", func(ctx context.Context, req *request, next next) (flow.Observation, error) {
			_, _ = next(ctx, req)
			return flow.Observation{Presence: checks.Present, InSync: true}, nil
		}, false, place{flow.StateFailed, flow.PointGet, "link"}, []string{"owner", "get"}},
		"Adjusts": {"a link may change the observation of Get", func(ctx context.Context, req *request, next next) (flow.Observation, error) {
			o, err := next(ctx, req)
			o.InSync, o.Presence = true, checks.Present
			return o, err
		}, false, place{State: flow.StateReady}, []string{"owner", "get"}},
		"WithoutGet": {"an Observation that is not in sync needs no reason", func(context.Context, *request, next) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present}, nil
		}, false, place{State: flow.StateReady}, []string{"owner", "apply"}},
		"NoGet": {"without Operations.Get, InSync needs no reason", func(ctx context.Context, req *request, next next) (flow.Observation, error) {
			_, err := next(ctx, req)
			return flow.Observation{Presence: checks.Present, InSync: true}, err
		}, true, place{State: flow.StateReady}, []string{"owner"}},
		"Foreign": {"a request that the link made is refused", func(ctx context.Context, req *request, next next) (flow.Observation, error) {
			return next(ctx, &request{Request: req.Request})
		}, false, place{flow.StateFailed, flow.PointGet, "link"}, []string{"owner"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			o := c.operations()
			if tc.noGet {
				o.Get = nil
			}
			if name == "InSyncAfterError" {
				c.getErr = errBoom
			}
			out := flow.New("Pool", o, ext{Get: chain.New(link("link", tc.link))}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, tc.calls, c.take())
			if out.State() == flow.StateFailed && !errors.Is(out.Err(), flow.ErrForeignRequest) && !errors.Is(out.Err(), flow.ErrNotSeen) {
				t.Errorf("%s: the error is %v", tc.reason, out.Err())
			}
		})
	}
}

// The outcome of a pass that Stop ended is not a result of another pass.
func TestStoppedOutcomeIsForeign(t *testing.T) {
	stop := flow.Stop(checks.Block("Locked", ""))
	once := func(out flow.Outcome) flow.Outcome {
		return flow.New("Pool", (&cloud{}).operations(), ext{Pass: on("lock", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return out, nil })}).
			Reconcile(t.Context(), &pool{})
	}
	first := once(stop)
	mustEqual(t, "Stop ends the pass", flow.StateBlocked, first.State())
	mustBe(t, "its outcome does not end another one", flow.ErrForeignOutcome, once(first).Err())
	mustEqual(t, "what Stop returned may be used again", flow.StateBlocked, once(stop).State())
}
