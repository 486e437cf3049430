package flow_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

func TestSetUp(t *testing.T) {
	with := func(change func(*ops)) func() {
		return func() {
			o := (&cloud{}).storing()
			change(&o)
			flow.New("Pool", o, ext{})
		}
	}
	mustPanic(t, map[string]panicCase{
		"Name":     {"the name identifies the kind", func() { flow.New(" ", (&cloud{}).operations(), ext{}) }, "flow: New: the name is empty: give the kind of resource"},
		"Key":      {"traces, back-off and tokens need a key", with(func(o *ops) { o.Key = nil }), "flow: New: Pool: Operations.Key is nil: give a function that identifies the resource"},
		"Apply":    {"a reconciler applies resources", with(func(o *ops) { o.Apply = nil }), "flow: New: Pool: Operations.Apply is nil: give the function that creates and updates the resource"},
		"Token":    {"no pass could read a stored token", with(func(o *ops) { o.Token = nil }), "flow: New: Pool: one of Operations.Token and Operations.SetToken is nil: give both, or neither to store tokens in memory"},
		"SetToken": {"no pass would store a token", with(func(o *ops) { o.SetToken = nil }), "flow: New: Pool: one of Operations.Token and Operations.SetToken is nil: give both, or neither to store tokens in memory"},
		"Delete":   {"the flow would never call Delete", with(func(o *ops) { o.Deleting = nil }), "flow: New: Pool: Operations.Delete is given and Operations.Deleting is nil, so the flow would never call Delete: give both"},
		"Owner": {"an owner check without an owner would always pass", func() {
			o := (&cloud{}).operations()
			o.Owner = nil
			flow.New("Pool", o, ext{OwnerCheck: chain.New(checks.OwnerReady())})
		}, "flow: New: Pool: there are owner checks (OwnerReady) and Operations.Owner is nil: give the function that finds the owner"},
		"OnOwner":     ownerless("a link at PreCheck needs the owner", "OnOwner(OwnerReady) at PreCheck", ext{PreCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))}),
		"OwnerFits":   ownerless("a link at PostCheck needs the owner", "fits at PostCheck", ext{PostCheck: chain.New(checks.OwnerFits("fits", func(*pool, *pool) string { return "" }))}),
		"GetCheck":    ownerless("a link at GetCheck needs the owner", "OnOwner(OwnerReady) at GetCheck", ext{GetCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))}),
		"DeleteCheck": ownerless("a link at DeleteCheck needs the owner", "OnOwner(OwnerReady) at DeleteCheck", ext{DeleteCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))}),
		"OwnerInAll":  ownerless("a group of checks needs the owner", "All(OnOwner(OwnerReady)) at PreCheck", ext{PreCheck: chain.New(checks.All(checks.OnOwner[*pool](checks.OwnerReady())))}),
		"OwnerInCached": ownerless("a cached check needs the owner", "Cached(OnOwner(OwnerReady)) at PreCheck", ext{
			PreCheck: chain.New(checks.Cached(time.Hour, func(*checks.Request[*pool]) int { return 0 }, checks.OnOwner[*pool](checks.OwnerReady()))),
		}),
		"OwnerInWhen": ownerless("a check for some requests needs the owner", "When(OnOwner(OwnerReady)) at PreCheck", ext{
			PreCheck: chain.New(chain.When(func(context.Context, *checks.Request[*pool]) bool { return true }, checks.OnOwner[*pool](checks.OwnerReady()))),
		}),
		"OwnerConverted": ownerless("a converted chain needs the owner", "OnOwner(OwnerReady) at PreCheck", ext{
			PreCheck: checks.Convert(chain.New(checks.OnOwner[*int](checks.OwnerReady())), func(*pool) (*int, error) { return new(int), nil }),
		}),
		"EntryCheck": {"the owner is read after EntryCheck", func() {
			flow.New("Pool", (&cloud{}).operations(), ext{EntryCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))})
		}, "flow: New: Pool: OnOwner(OwnerReady) at EntryCheck is about the owner, which is read after EntryCheck: move it to OwnerCheck or PreCheck"},
		"Option": {"a nil option is a mistake", func() { flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithExplanations(1), nil) }, "flow: New: Pool: option 2 is nil"},
	})
}

// ownerless is the case of a check of the owner without Operations.Owner.
func ownerless(reason, link string, e ext) panicCase {
	return panicCase{reason, func() {
		o := (&cloud{}).operations()
		o.Owner = nil
		flow.New("Pool", o, e)
	}, "flow: New: Pool: " + link + " is about the owner, and Operations.Owner is nil: give the function that finds the owner"}
}

// Only Key and Apply are required.
func TestLeastOperations(t *testing.T) {
	c := &cloud{}
	o := ops{Key: c.operations().Key, Apply: c.operations().Apply}
	r := flow.New("Pool", o, ext{})
	for range 2 {
		mustBeReady(t, "a resource in an unknown state is applied in each pass", r.Reconcile(t.Context(), &pool{deleting: true}))
	}
	mustEqual(t, "the flow calls only Apply", []string{"apply", "apply"}, c.take())
}

// Without Generation all tokens are for the present spec.
func TestNoGeneration(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
	o := c.operations()
	o.Generation, o.Owner, o.Get = nil, nil, nil
	r := flow.New("Pool", o, ext{})
	r.Reconcile(t.Context(), &pool{generation: 1})
	out := r.Reconcile(t.Context(), &pool{generation: 2})
	mustEqual(t, "the poll ends the work", []string{"apply", "apply a"}, c.take())
	mustBeReady(t, "the resource is ready", out)
}

// An operation for an older spec fails. The error may be about that spec, so the
// present one is applied soon, and the resource does not wait for a change that a
// user has made already.
func TestOlderOperationFails(t *testing.T) {
	cases := map[string]struct {
		reason  string
		err     error
		retry   classify.Retry // of the error
		present int64          // the generation when the operation ends
		want    classify.Retry
	}{
		"Older":    {"the user may have corrected the spec", flow.Failed(errBoom), classify.OnChange, 2, classify.Fast},
		"Never":    {"an error of an older spec is not final", flow.Failed(errBoom), classify.Never, 2, classify.Fast},
		"VerySlow": {"the resync is an hour away", flow.Failed(errBoom), classify.VerySlow, 2, classify.Fast},
		"Slow":     {"the service is busy, whatever the spec is", flow.Failed(errBoom), classify.Slow, 2, classify.Slow},
		"Present":  {"only a change of the spec helps", flow.Failed(errBoom), classify.OnChange, 1, classify.OnChange},
		"UnderWay": {"the poll failed, and the operation may continue", errBoom, classify.OnChange, 2, classify.OnChange},
		"Final":    {"no error of a poll is final while the operation is under way", errBoom, classify.Never, 1, classify.OnChange},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {err: tc.err}}}
			o := c.operations()
			o.Generation = func(p *pool) int64 { return p.generation }
			r := flow.New("Pool", o, ext{Classify: classify.Table{{Is: errBoom, Retry: tc.retry}}.Chain()})
			r.Reconcile(t.Context(), &pool{generation: 1})
			out := r.Reconcile(t.Context(), &pool{generation: tc.present})
			_, again := out.Again()
			mustEqual(t, tc.reason, []any{flow.StateFailed, tc.want, tc.want.Severity(), true}, []any{out.State(), out.Retry(), out.Severity(), again})
		})
	}
}

func TestNilContext(t *testing.T) {
	c := &cloud{}
	o := c.operations()
	o.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) { return flow.Done(), ctx.Err() }
	var none context.Context
	e := c.extensions()
	e.PostCheck = checks.Chain[*pool]{} // it would call Get again, which finds nothing
	mustBeReady(t, "a nil context is the background", flow.New("Pool", o, e).Reconcile(none, &pool{}))
}
