package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// renewedWatches ignores watches, which client-go renews at any time.
var renewedWatches = cmpopts.IgnoreMapEntries(func(what string, _ int) bool { return strings.HasPrefix(what, "WATCH ") })

// A hundred databases that wait cost a write and an event each, once. Apply adds the finalizer. When what they wait for comes, all are woken.
func TestWaitingCostsNothing(t *testing.T) {
	t.Parallel()
	const n, workers = 100, 8
	o := newOperator(t)
	c := o.cluster("prod", "Creating")
	o.database("db-0", "prod") // the first waiter also waits for the first list of the clusters
	r := ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf),
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: workers}))
	o.start(r)
	o.until("db-0", "False OwnerNotReady")
	o.traffic.take(t)
	for i := 1; i < n; i++ {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	for i := 1; i < n; i++ {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return what == "GET discovery" || what[:5] == "WATCH" || what == "GET clusters" || what == "GET databases"
	})
	got := o.traffic.take(t)
	same(t, "what is asked of the API server to block",
		map[string]int{"PATCH databases/status": n - 1, "POST events": n - 1}, got, writes)
	if got["WATCH databases"] > 2 || got["WATCH clusters"] > 2 || got["GET clusters"] > 2*workers {
		t.Errorf("each kind is watched once: %v", got)
	}
	same(t, "what is asked while they wait",
		map[string]int(nil), o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty())
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, "db-7")})
	if err != nil || result.RequeueAfter < 45*time.Minute {
		t.Errorf("a waiter of a watched object is requeued at the resync: %+v, %v", result, err)
	}
	// Another writer becomes the owner of a field without changing its value. That wakes no waiter.
	before := c.ResourceVersion
	claim := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Cluster","metadata":{"name":"prod"},"status":{"state":"Creating"}}`, testv1.GroupVersion)
	must(t, api.Status().Patch(t.Context(), c, client.RawPatch(types.ApplyPatchType, claim), client.FieldOwner("somebody-else"), client.ForceOwnership))
	if c.ResourceVersion == before {
		t.Error("nothing was written, so the test shows nothing")
	}
	same(t, "what is asked after a write that changes nothing",
		map[string]int(nil), o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty())
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud: %q", got)
	}
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	same(t, "requests to the API server to proceed",
		map[string]int{"PATCH databases": n, "PATCH databases/status": n, "POST events": n}, o.traffic.take(t), writes, cmpopts.EquateEmpty())
	calledOnce(t, "the owner is ready", n, o.asked())
}
