package flow_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

// hanging is a user's function that hangs in one of its calls.
type hanging struct {
	left             atomic.Int64 // the calls until the one that hangs
	entered, release chan struct{}
}

func (h *hanging) call() {
	if h.left.Add(-1) == 0 {
		close(h.entered)
		<-h.release
	}
}

// A user's function that hangs stops only its own pass, because the flow holds
// no lock while it calls one. If it held one, this test would not end.
func TestHangingFunctionStopsOneResource(t *testing.T) {
	cases := map[string]struct {
		reason string
		hang   func(h *hanging, o *ops)
	}{
		"Key": {"the key of the tokens in memory, the counts, the time-outs and the explanations", func(h *hanging, o *ops) {
			key := o.Key
			o.Key = func(p *pool) string { only(h, p); return key(p) }
		}},
		"Apply": {"the operation of the resource", func(h *hanging, o *ops) {
			o.Apply = func(_ context.Context, req *request) (flow.Progress, error) {
				only(h, req.Resource)
				return flow.InProgress("a", 0), nil
			}
		}},
		"Clock": {"the clock of all resources", func(*hanging, *ops) {}},
	}
	for name, tc := range cases {
		for n := int64(1); n <= 8; n++ {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				h := &hanging{entered: make(chan struct{}), release: make(chan struct{})}
				o := ops{
					Key: func(p *pool) string { return p.name },
					Apply: func(context.Context, *request) (flow.Progress, error) {
						return flow.InProgress("a", 0), nil
					},
				}
				now := func() time.Time { return time.Time{} }
				if name == "Clock" {
					now = func() time.Time { h.call(); return time.Time{} }
				}
				tc.hang(h, &o)
				r := flow.New("Pool", o, ext{}, flow.WithClock(now), flow.WithBackoff(flow.NewBackoff(flow.WithBackoffClock(now))),
					flow.WithExplanations(5))
				stuck, other := &pool{name: "stuck"}, &pool{name: "other"}
				r.Reconcile(t.Context(), stuck) // its token is in memory now

				h.left.Store(n)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					r.Reconcile(context.Background(), stuck)
				}()
				select {
				case <-h.entered:
				case <-ended: // a pass makes fewer calls
				}
				for range 2 {
					mustEqual(t, tc.reason, flow.StateInProgress, r.Reconcile(t.Context(), other).State())
				}
				if _, ok := r.Explain("other"); !ok {
					t.Error("there is no explanation of the other resource")
				}
				close(h.release)
				<-ended
			})
		}
	}
}

// only hangs for the resource named stuck.
func only(h *hanging, p *pool) {
	if p.name == "stuck" {
		h.call()
	}
}

// notingError is an error whose text makes a note.
type notingError struct{ ctx context.Context }

func (e notingError) Error() string {
	chain.Note(e.ctx, "read")
	return "boom"
}

// The trace holds no lock while it reads the text of an error. If it held one,
// this test would not end.
func TestTraceReadsErrorsWithoutLock(t *testing.T) {
	c := &cloud{}
	o := c.operations()
	o.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) { return flow.Progress{}, notingError{ctx} }
	if e := explain(t, o, ext{}, &pool{name: "p"}); e.Error != "boom" {
		t.Errorf("the trace has the error %q", e.Error)
	}
}
