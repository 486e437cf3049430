package ctrlx_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/flow"
)

// The condition has the words of the API server about a refusal, and the retry has its
// delay.
func TestAPIServerErrors(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	slow := time.Second
	cases := map[string]struct {
		reason string
		err    error
		says   string
		after  time.Duration
		events int
	}{
		"Conflict":    {"the copy that was read was stale; no event reports it", apierrors.NewConflict(maps, "a", errBroken), "False Conflict Reconciling", time.Second, 0},
		"Wrapped":     {"however deep", fmt.Errorf("a: %w", apierrors.NewConflict(maps, "a", errBroken)), "False Conflict Reconciling", time.Second, 0},
		"TooMany":     {"it says when", apierrors.NewTooManyRequests("busy", 17), "False TooManyRequests Reconciling", 17 * time.Second, 1},
		"Timeout":     {"it says when", apierrors.NewServerTimeout(maps, "get", 23), "False ServerTimeout Reconciling", 23 * time.Second, 1},
		"TimeoutNow":  {"never at once", apierrors.NewServerTimeout(maps, "get", 0), "False ServerTimeout Reconciling", slow, 1},
		"TimeoutLess": {"the requeue is not lost", apierrors.NewServerTimeout(maps, "get", -5), "False ServerTimeout Reconciling", slow, 1},
		"Forbidden":   {"the right may come", apierrors.NewForbidden(maps, "a", errBroken), "False Forbidden Reconciling", slow, 1},
		"NotFound":    {"it may come", apierrors.NewNotFound(maps, "a"), "False NotFound Reconciling", slow, 1},
		"Invalid":     {"what made the object has to change, which is not the spec only", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), "False Invalid Reconciling", time.Hour, 1},
		"BadRequest":  {"the request is wrong", apierrors.NewBadRequest("no"), "False BadRequest Reconciling", time.Hour, 1},
		"Internal":    {"it may be over soon", apierrors.NewInternalError(errBroken), "False InternalError Reconciling", slow, 1},
		"NoReason":    {"it says nothing", &apierrors.StatusError{ErrStatus: metav1.Status{Message: "no"}}, "False Unknown Reconciling", slow, 1},
		"Joined":      {"the one that waits longest", errors.Join(apierrors.NewConflict(maps, "a", errBroken), apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Reconciling", slow, 1},
		"Terminal":    {"a terminal error keeps the word", reconcile.TerminalError(apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Stalled", time.Hour, 1},
		"Cloud":       {"what the cloud says is its own", fmt.Errorf("%w", &cloudError{"Conflict", 409}), "False Conflict Reconciling", slow, 1},
		"Unknown":     {"what is none of the API server's is as before", errBroken, "False Unknown Reconciling", slow, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.reconciler(flow.Extensions[*App]{}))
			fails(tc.err)(d)
			if after := d.pass(); after != tc.after || d.says() != tc.says {
				t.Errorf("%s: it says %q and is requeued after %s, not %q after %s", tc.reason, d.says(), after, tc.says, tc.after)
			}
			if got := d.reported(); len(got) != tc.events {
				t.Errorf("%s: events: %q", tc.reason, got)
			}
		})
	}
}
