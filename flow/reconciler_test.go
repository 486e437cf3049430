package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// One Reconciler serves many goroutines, each with its own resource.
func TestConcurrency(t *testing.T) {
	const resources, polls = 16, 5
	var started [resources]atomic.Int32
	left := func(p *pool) *int64 { return &p.tokenOf } // the number of calls of Apply that are left
	o := ops{
		Key: func(p *pool) string { return p.name },
		Apply: func(_ context.Context, req *request) (flow.Progress, error) {
			p := req.Resource
			if req.Token == "" {
				started[p.generation].Add(1)
			} else if req.Token != "token of "+p.name {
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
	for i := range resources {
		wg.Go(func() {
			p := &pool{name: fmt.Sprint("p", i), generation: int64(i), tokenOf: polls}
			for pass := 1; ; pass++ {
				out := r.Reconcile(t.Context(), p)
				_, _ = r.Explain(p.name)
				if out.State() == flow.StateInProgress && pass < polls {
					continue
				}
				if out.State() != flow.StateReady || pass != polls || started[i].Load() != 1 {
					t.Errorf("%s: after %d passes and %d starts: %s", p.name, pass, started[i].Load(), out)
				}
				return
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
