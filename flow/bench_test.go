package flow_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/race"
)

// idle are operations that do nothing, at every point.
func idle() ops {
	return ops{
		Key:   func(*pool) string { return "pool" },
		Owner: func(context.Context, *pool) (checks.Object, error) { return checks.Object{}, nil },
		Get: func(context.Context, *request) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present}, nil
		},
		Apply:      func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Delete:     func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Deleting:   func(p *pool) bool { return p.deleting },
		Generation: func(p *pool) int64 { return p.generation },
	}
}

var (
	succeeded = "Succeeded"
	owned     = &struct{ state *string }{&succeeded}
)

// owning are operations of a resource with an owner that is ready.
func owning() ops {
	o := idle()
	owner := checks.Object{Ref: fleet, Value: owned, Readiness: checks.Readiness{State: checks.Ready}}
	o.Owner = func(context.Context, *pool) (checks.Object, error) { return owner, nil }
	return o
}

// fiveChecks are checks that proceed.
func fiveChecks() ext {
	return ext{
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(o *struct{ state *string }) *string { return o.state }),
		),
		PreCheck: chain.New(
			checks.ProvisioningState(func(*pool) *string { return &succeeded }),
			checks.ReferenceReady("image", func(*pool) []checks.Ref { return nil }),
			checks.Paused(func(*pool) bool { return false }),
		),
	}
}

// passes are passes with their largest number of allocations.
var passes = map[string]struct {
	reason string
	ops    ops
	ext    ext
	opts   []flow.Option
	p      *pool
	allocs float64
}{
	"Empty":    {"the pass allocates its request", idle(), ext{}, nil, &pool{}, 1},
	"Owner":    {"an owner and five checks allocate nothing more", owning(), fiveChecks(), nil, &pool{}, 1},
	"Disabled": {"an observer that is not enabled allocates nothing more", owning(), fiveChecks(), []flow.Option{flow.WithObserver(&recorder{off: true})}, &pool{}, 1},
	"Delete":   {"a deletion allocates nothing more", idle(), ext{}, nil, &pool{deleting: true}, 1},
	"Backoff":  {"a back-off that has nothing to count needs no key", idle(), ext{}, []flow.Option{flow.WithBackoff(flow.NewBackoff())}, &pool{name: "p"}, 1},
	"Pass":     {"links on Pass need a place for the outcome of the pass", idle(), ext{Pass: on("through", hands)}, nil, &pool{}, 3},
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, tc := range passes {
		r := flow.New("Pool", tc.ops, tc.ext, tc.opts...)
		ctx := context.Background()
		if out := r.Reconcile(ctx, tc.p); out.State() != flow.StateReady && out.State() != flow.StateGone {
			t.Fatalf("%s: %s", name, out)
		}
		if got := testing.AllocsPerRun(200, func() { r.Reconcile(ctx, tc.p) }); got > tc.allocs {
			t.Errorf("%s: %s: %v allocations a pass, want at most %v", name, tc.reason, got, tc.allocs)
		}
	}
}
