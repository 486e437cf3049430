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

func TestOptions(t *testing.T) {
	none := func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, nil }
	mustPanic(t, map[string]panicCase{
		"KeepNothing": {"no explanation would be stored", func() { flow.WithExplanations(0) }, "flow: WithExplanations(0): give at least 1"},
		"KeepLess":    {"the number is negative", func() { flow.WithExplanations(-1) }, "flow: WithExplanations(-1): give at least 1"},
		"Clock":       {"the clock would panic in each pass", func() { flow.WithClock(nil) }, "flow: WithClock: the function is nil"},

		"Resolvers": {"the checks ask one", func() {
			flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithResolver(none), flow.WithResolver(nil), flow.WithResolver(none))
		}, "flow: New: Pool: WithResolver is given twice: give it once, and not at all under ctrlx, which gives its own"},
		"Listers": {"the checks ask one", func() {
			list := func(context.Context, checks.Query) ([]checks.Object, error) { return nil, nil }
			flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithLister(list), flow.WithLister(list))
		}, "flow: New: Pool: WithLister is given twice: give it once, and not at all under ctrlx, which gives its own"},

		"Backoff":              {"it has no delays", func() { flow.WithBackoff(&flow.Backoff{}) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"NilBackoff":           {"WithoutBackoff is the option for none", func() { flow.WithBackoff(nil) }, "flow: WithBackoff: the Backoff is nil or has no table: make it with NewBackoff, or use WithoutBackoff"},
		"BackoffOption":        {"a nil option is a mistake", func() { flow.NewBackoff(flow.WithBackoffResync(1), nil) }, "flow: NewBackoff: option 2 is nil"},
		"BackoffClock":         {"the clock would panic in each pass", func() { flow.WithBackoffClock(nil) }, "flow: WithBackoffClock: the function is nil"},
		"Resync":               {"the queue would spin", func() { flow.WithBackoffResync(0) }, "flow: WithBackoffResync(0s): give a positive duration"},
		"NegativeResync":       {"a negative delay is lost or loops", func() { flow.WithBackoffResync(-time.Hour) }, "flow: WithBackoffResync(-1h0m0s): give a positive duration"},
		"Jitter":               {"a delay could be zero", func() { flow.WithBackoffJitter(1, 0) }, "flow: WithBackoffJitter(1, 0): give shares from 0 to below 1"},
		"NegativeJitter":       {"a delay could be longer than the longest", func() { flow.WithBackoffJitter(-0.1, 0) }, "flow: WithBackoffJitter(-0.1, 0): give shares from 0 to below 1"},
		"ResyncJitter":         {"a resync could have no delay", func() { flow.WithBackoffJitter(0, 1) }, "flow: WithBackoffJitter(0, 1): give shares from 0 to below 1"},
		"ResyncNegativeJitter": {"the jitter would have no bound", func() { flow.WithBackoffJitter(0, -0.1) }, "flow: WithBackoffJitter(0, -0.1): give shares from 0 to below 1"},
		"StepsOfOther":         {"the delays of VerySlow do not double", func() { flow.WithBackoffSteps(classify.VerySlow, 1, 2) }, "flow: WithBackoffSteps(very slow, 1ns, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsZero":            {"twice zero is zero", func() { flow.WithBackoffSteps(classify.Fast, 0, 2) }, "flow: WithBackoffSteps(fast, 0s, 2ns): give Fast or Slow, a positive first delay and a longest one not below it"},
		"StepsReversed":        {"the first delay would exceed the longest", func() { flow.WithBackoffSteps(classify.Slow, 2, 1) }, "flow: WithBackoffSteps(slow, 2ns, 1ns): give Fast or Slow, a positive first delay and a longest one not below it"},
	})
}

// Options with a nil argument change nothing.
func TestNilOptions(t *testing.T) {
	b := plain()
	r := flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithObserver(nil), flow.WithResolver(nil), flow.WithBackoff(b), flow.WithClock((&clock{noon}).now),
		flow.WithResolver(func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, nil }), flow.WithResolver(nil),
		flow.WithLister(func(context.Context, checks.Query) ([]checks.Object, error) { return nil, nil }), flow.WithLister(nil))
	out := r.Reconcile(t.Context(), &pool{})
	delay, again := out.Again()
	mustEqual(t, "the pass is as without the options", []any{time.Hour, true}, []any{delay, again})
	mustBeReady(t, "the pass is as without the options", out)
	mustEqual(t, "a reconciler shows its clock and its back-off", []any{noon, true}, []any{r.Clock()(), r.Backoff() == b})
}

// A reconciler has a back-off by default.
func TestDefaultBackoff(t *testing.T) {
	delays := func(opts ...flow.Option) (delays []time.Duration) {
		c := &cloud{getErr: errBoom}
		r := flow.New("Pool", c.operations(), ext{}, opts...)
		for range 4 {
			delay, _ := r.Reconcile(t.Context(), &pool{name: "p"}).Again()
			delays = append(delays, delay)
		}
		return delays
	}
	grows := []time.Duration{1e9, 2e9, 4e9, 8e9}
	for i, delay := range delays() {
		if spread := (delay - grows[i]).Abs(); spread > grows[i]/10 {
			t.Errorf("delay %d is %s: failures are not counted, or the jitter is more than a tenth", i+1, delay)
		}
	}
	mustEqual(t, "WithoutBackoff makes every delay the first", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithoutBackoff()))
	mustEqual(t, "the last option holds", grows, delays(flow.WithoutBackoff(), flow.WithBackoff(plain())))
	mustEqual(t, "the last option holds", []time.Duration{1e9, 1e9, 1e9, 1e9}, delays(flow.WithBackoff(plain()), flow.WithoutBackoff()))
	at := noon
	clock := func() time.Time { at = at.Add(3 * time.Hour); return at }
	for i, delay := range delays(flow.WithClock(clock)) {
		if delay > 1100*time.Millisecond {
			t.Errorf("delay %d is %s, although the counts of the pass before have ended by the clock of the reconciler", i+1, delay)
		}
	}
}
