package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/race"
)

// One Reconciler serves many goroutines, each with its own resource.
func TestConcurrency(t *testing.T) {
	const polls = 5
	left := func(p *pool) *int64 { return &p.tokenOf } // the number of calls of Apply that are left
	o := ops{
		Key: func(p *pool) string { return p.name },
		Apply: func(_ context.Context, req *request) (flow.Progress, error) {
			p := req.Resource
			if want := "token of " + p.name; req.Token != want && (req.Token != "" || *left(p) != polls) {
				return flow.Progress{}, fmt.Errorf("%s is polled with %q", p.name, req.Token)
			}
			if *left(p)--; *left(p) > 0 {
				return flow.InProgress("token of "+p.name, 0), nil
			}
			return flow.Done(), nil
		},
	}
	r := flow.New("Pool", o, ext{
		Pass:     on("through", hands),
		PreCheck: chain.New(returns[*checks.Request[*pool]]("fine", checks.Proceed(), nil)),
	}, flow.WithExplanations(4), flow.WithBackoff(flow.NewBackoff()), flow.WithObserver(&recorder{off: true}))

	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			p := &pool{name: fmt.Sprint("p", i), tokenOf: polls}
			for pass := 1; pass <= polls; pass++ {
				out := r.Reconcile(t.Context(), p)
				_, _ = r.Explain(p.name)
				if want := map[bool]flow.State{true: flow.StateReady, false: flow.StateInProgress}[pass == polls]; out.State() != want {
					t.Errorf("%s: after %d passes: %s", p.name, pass, out)
				}
			}
		})
	}
	wg.Wait()
}

// An empty key fails the pass, because operations of several resources would
// share one token.
func TestEmptyKey(t *testing.T) {
	for name, deleting := range map[string]bool{flow.PointApply: false, flow.PointDelete: true} {
		called := false
		op := func(context.Context, *request) (flow.Progress, error) {
			called = true
			return flow.Done(), nil
		}
		o := ops{Key: func(*pool) string { return "" }, Apply: op, Delete: op, Deleting: func(p *pool) bool { return p.deleting }}
		out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{deleting: deleting})
		mustEqual(t, "the pass fails", place{State: flow.StateFailed, Point: name}, placeOf(out))
		if called || !errors.Is(out.Err(), flow.ErrNoKey) {
			t.Errorf("%s: called: %t, error: %v", name, called, out.Err())
		}
	}
}

// Forget drops the counts of a resource. Other resources keep theirs, and an operation under way keeps its token.
func TestForget(t *testing.T) {
	clk, c := &clock{noon}, &cloud{}
	c.answers = append([]answer{{progress: flow.InProgress("token", 0)}}, slices.Repeat([]answer{{err: errBoom}}, 7)...)
	r := flow.New("Pool", c.operations(), ext{}, flow.WithClock(clk.now), flow.WithBackoff(plain(flow.WithBackoffClock(clk.now))))
	one, other := &pool{name: "one"}, &pool{name: "other"}
	passes := func(p *pool) (delay time.Duration, reason string) {
		r.Reconcile(t.Context(), p)
		out := r.Reconcile(t.Context(), p)
		delay, _ = out.Again()
		return delay, out.Reason()
	}
	passes(one)
	passes(other)
	clk.advance(time.Minute)
	r.Forget(one)
	c.calls.take()
	clk.advance(time.Minute)
	delay, reason := passes(one)
	mustEqual(t, "the resource starts again", []any{2 * time.Second, "Unknown"}, []any{delay, reason})
	mustEqual(t, "the operation is polled", "apply token", c.calls.take()[1])
	delay, _ = passes(other)
	mustEqual(t, "the other resource keeps its counts", 8*time.Second, delay)

	broken := c.operations()
	broken.Key = func(*pool) string { panic("no key") }
	flow.New("Pool", broken, ext{}).Forget(one)
}

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

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	ctx := context.Background()
	of := func(o ops, e ext, p *pool, opts ...flow.Option) func() flow.Outcome {
		r := flow.New("Pool", o, e, opts...)
		return func() flow.Outcome { return r.Reconcile(ctx, p) }
	}
	var registry flow.Registry[Resource]
	flow.Register(&registry, "Pool", fiveChecks())
	runner, p := must(registry.For("Pool", owningThings())), &pool{name: "p"}
	cases := map[string]struct {
		reason string
		pass   func() flow.Outcome
		allocs float64
	}{
		"Empty":    {"the pass allocates its request", of(idle(), ext{}, p), 1},
		"Owner":    {"an owner and five checks allocate nothing more", of(owning(), fiveChecks(), p), 1},
		"Disabled": {"an observer that is not enabled allocates nothing more", of(owning(), fiveChecks(), p, flow.WithObserver(&recorder{off: true})), 1},
		"Delete":   {"a deletion allocates nothing more", of(idle(), ext{}, &pool{deleting: true}), 1},
		"Backoff":  {"a back-off that has nothing to count needs no key", of(idle(), ext{}, p, flow.WithBackoff(flow.NewBackoff())), 1},
		"Pass":     {"links on Pass need a place for the outcome of the pass", of(idle(), ext{Pass: on("through", hands)}, p), 2},
		"Runner":   {"a runner allocates only the request of the operations more", func() flow.Outcome { return runner.Reconcile(ctx, p) }, 2},
	}
	for name, tc := range cases {
		if out := tc.pass(); out.State() != flow.StateReady && out.State() != flow.StateGone {
			t.Fatalf("%s: %s", name, out)
		}
		if got := testing.AllocsPerRun(200, func() { tc.pass() }); got != tc.allocs {
			t.Errorf("%s: %s: %v allocations a pass, want %v", name, tc.reason, got, tc.allocs)
		}
	}
}
