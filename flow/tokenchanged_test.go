package flow_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/flow"
)

// Another process has stored a token since the pass read none. The flow drops its
// own token, and polls the stored one.
func TestErrTokenChanged(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("ours", 0)}, {progress: flow.InProgress("theirs", 0)}}}
	o := c.storing()
	store := o.SetToken
	o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
		if p.token == "" {
			p.token = "theirs"
			return fmt.Errorf("a conflict: %w", flow.ErrTokenChanged)
		}
		return store(ctx, p, token, generation)
	}
	r, p := flow.New("Pool", o, ext{}), &pool{}
	out := r.Reconcile(t.Context(), p)
	mustEqual(t, "the pass fails", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))
	mustBe(t, "the error of SetToken", flow.ErrTokenChanged, out.Err())
	c.take()
	r.Reconcile(t.Context(), p)
	mustEqual(t, "the stored token is polled", []string{"owner", "apply theirs"}, c.take())
}
