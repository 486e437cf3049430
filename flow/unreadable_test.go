package flow_test

import (
	"context"
	"errors"
	"testing"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/errtree"
)

// endless unwraps to itself, more often than any reader of errors needs.
type endless struct{ left *int }

func (endless) Error() string { return "endless" }
func (e endless) Unwrap() error {
	if *e.left--; *e.left < 0 {
		panic("a search of the error does not end")
	}
	return e
}

// errors.Is and errors.As of an error that unwraps to itself never end, and
// those of one whose Unwrap panics panic. Observers and engines call them with
// the error of a pass.
func TestUnreadableErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		err    func() error
	}{
		"Endless": {"it unwraps to itself", func() error { return endless{new(20 * errtree.Max)} }},
		"Panics":  {"its Unwrap panics", func() error { return hostile{} }},
	} {
		t.Run(name, func(t *testing.T) {
			o := (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.Progress{}, tc.err() }
			out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, flow.StateFailed, out.State())
			if found := (*flow.FailedError)(nil); errors.Is(out.Err(), errBoom) || errors.As(out.Err(), &found) {
				t.Errorf("%s: the error of the pass is %v", tc.reason, out.Err())
			}

			o = (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.InProgress("a", 0), nil }
			o.Token = func(*pool) (string, int64) { return "", 0 }
			o.SetToken = func(context.Context, *pool, string, int64) error { return tc.err() }
			out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason+", of SetToken", flow.StateFailed, out.State())
			if out.Point() != flow.PointApply {
				t.Errorf("%s: the pass failed at %s: %v", tc.reason, out.Point(), out.Err())
			}
		})
	}
}
