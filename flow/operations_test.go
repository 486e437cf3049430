package flow_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func TestSetUp(t *testing.T) {
	with := func(change func(*ops)) func() {
		return func() {
			o := (&cloud{}).keeping()
			change(&o)
			flow.New("Pool", o, ext{})
		}
	}
	mustPanic(t, map[string]setUp{
		"Name":     {"who has no name cannot be told from others", func() { flow.New(" ", (&cloud{}).operations(), ext{}) }, "flow: New: the name is empty: give the kind of resource"},
		"Key":      {"traces, back-off and tokens go by it", with(func(o *ops) { o.Key = nil }), "flow: New: Pool: Operations.Key is nil: give a function that identifies the resource"},
		"Apply":    {"there is nothing to do", with(func(o *ops) { o.Apply = nil }), "flow: New: Pool: Operations.Apply is nil: give the function that creates and updates the resource"},
		"Token":    {"what is kept could not be read", with(func(o *ops) { o.Token = nil }), "flow: New: Pool: of Operations.Token and Operations.SetToken one is nil: give both, or none to keep tokens in memory"},
		"SetToken": {"nothing is kept that could be read", with(func(o *ops) { o.SetToken = nil }), "flow: New: Pool: of Operations.Token and Operations.SetToken one is nil: give both, or none to keep tokens in memory"},
		"Delete":   {"it would never be called", with(func(o *ops) { o.Deleting = nil }), "flow: New: Pool: Operations.Delete is given and Operations.Deleting is nil, so that it would never be called"},
		"Owner": {"an owner check without an owner would always pass", func() {
			o := (&cloud{}).operations()
			o.Owner = nil
			flow.New("Pool", o, ext{OwnerCheck: chain.New(checks.OwnerReady())})
		}, "flow: New: Pool: there are owner checks (OwnerReady) and Operations.Owner is nil: give the function that finds the owner"},
		"OnOwner":     ownerless("at PreCheck, too", "OnOwner(OwnerReady) at PreCheck", ext{PreCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))}),
		"OwnerFits":   ownerless("and at PostCheck", "fits at PostCheck", ext{PostCheck: chain.New(checks.OwnerFits("fits", func(*pool, *pool) string { return "" }))}),
		"DeleteCheck": ownerless("and at DeleteCheck", "OnOwner(OwnerReady) at DeleteCheck", ext{DeleteCheck: chain.New(checks.OnOwner[*pool](checks.OwnerReady()))}),
		"OwnerInAll":  ownerless("in a group of checks", "All(OnOwner(OwnerReady)) at PreCheck", ext{PreCheck: chain.New(checks.All(checks.OnOwner[*pool](checks.OwnerReady())))}),
		"OwnerInCached": ownerless("in a check that is remembered", "Cached(OnOwner(OwnerReady)) at PreCheck", ext{
			PreCheck: chain.New(checks.Cached(time.Hour, func(*checks.Request[*pool]) int { return 0 }, checks.OnOwner[*pool](checks.OwnerReady()))),
		}),
		"OwnerInWhen": ownerless("in a check for some requests", "When(OnOwner(OwnerReady)) at PreCheck", ext{
			PreCheck: chain.New(chain.When(func(context.Context, *checks.Request[*pool]) bool { return true }, checks.OnOwner[*pool](checks.OwnerReady()))),
		}),
		"OwnerConverted": ownerless("in a converted chain", "OnOwner(OwnerReady) at PreCheck", ext{
			PreCheck: checks.Convert(chain.New(checks.OnOwner[*int](checks.OwnerReady())), func(*pool) (*int, error) { return new(int), nil }),
		}),
		"Option": {"it was left out by mistake", func() { flow.New("Pool", (&cloud{}).operations(), ext{}, flow.WithExplanations(1), nil) }, "flow: New: Pool: option 2 is nil"},
	})
}

// ownerless is a check of the owner in extensions of resources without an owner.
func ownerless(reason, link string, e ext) setUp {
	return setUp{reason, func() {
		o := (&cloud{}).operations()
		o.Owner = nil
		flow.New("Pool", o, e)
	}, "flow: New: Pool: " + link + " is about the owner, and Operations.Owner is nil: give the function that finds the owner"}
}

// Key and Apply are all that is needed.
func TestLeastOperations(t *testing.T) {
	c := &cloud{}
	o := ops{Key: c.operations().Key, Apply: c.operations().Apply}
	r := flow.New("Pool", o, ext{})
	for range 2 {
		mustEqual(t, "a resource of which nothing is known is applied each time", ready, cameTo(r.Reconcile(t.Context(), &pool{deleting: true})))
	}
	mustEqual(t, "and Apply is all that is called", []string{"apply", "apply"}, c.take())
}

// Without Generation all tokens are for the present spec.
func TestNoGeneration(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
	o := c.operations()
	o.Generation, o.Owner, o.Get = nil, nil, nil
	r := flow.New("Pool", o, ext{})
	r.Reconcile(t.Context(), &pool{generation: 1})
	out := r.Reconcile(t.Context(), &pool{generation: 2})
	mustEqual(t, "so nothing is applied behind it", []string{"apply", "apply a"}, c.take())
	mustEqual(t, "and it is ready", ready, cameTo(out))
}

func TestNilContext(t *testing.T) {
	c := &cloud{}
	o := c.operations()
	o.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) { return flow.Done(), ctx.Err() }
	var none context.Context
	mustEqual(t, "no context is the background", ready, cameTo(flow.New("Pool", o, c.extensions()).Reconcile(none, &pool{})))
}
