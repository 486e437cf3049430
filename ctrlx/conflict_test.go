package ctrlx_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/flow"
)

// While every write is refused, since what the cache has stays old, the cloud is asked less and less often.
func TestConflictsBackOff(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.refuse = apierrors.NewConflict(schema.GroupResource{Resource: "apps"}, "a", errBroken)
	d.use(d.reconciler(flow.Extensions[*App]{}))
	var delays []time.Duration
	for range 4 {
		res, err := d.app.Reconcile(t.Context(), reconcile.Request{NamespacedName: named("a")})
		must(t, err)
		delays = append(delays, res.RequeueAfter)
	}
	const first = 50 * time.Millisecond
	same(t, "the delays", []time.Duration{first, 2 * first, 4 * first, 8 * first}, delays)
}
