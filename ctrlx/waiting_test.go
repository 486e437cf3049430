package ctrlx_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
)

// A hundred databases that wait cost two writes and an event each, once. When what they wait for comes, all are woken.
func TestWaitingCostsNothing(t *testing.T) {
	const n, workers = 100, 8
	o := newOperator(t)
	c := o.cluster("prod", "Creating")
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	r := ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.OwnedBy(clusterOf),
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: workers}))
	o.start(r)
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return what == "GET discovery" || what[:5] == "WATCH" || what == "GET clusters" || what == "GET databases"
	})
	got := o.traffic.take(t)
	if diff := cmp.Diff(map[string]int{"PATCH databases": n, "PATCH databases/status": n, "POST events": n}, got, writes); diff != "" {
		t.Errorf("what is asked of the API server to block: -want, +got:\n%s", diff)
	}
	if got["WATCH databases"] > 2 || got["WATCH clusters"] > 2 || got["GET clusters"] > 2*workers {
		t.Errorf("each kind is watched once: %v", got)
	}
	if diff := cmp.Diff(map[string]int(nil), o.traffic.take(t)); diff != "" {
		t.Errorf("what is asked while they wait: -want, +got:\n%s", diff)
	}
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, "db-7")})
	if err != nil || result.RequeueAfter < 45*time.Minute {
		t.Errorf("who waits for what is watched comes back at the resync: %+v, %v", result, err)
	}
	// What says nothing new of the cluster wakes nobody.
	c.ManagedFields = nil
	if err := api.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int(nil), o.traffic.take(t)); diff != "" {
		t.Errorf("what is asked after a write that changes nothing: -want, +got:\n%s", diff)
	}
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud: %q", got)
	}
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	if diff := cmp.Diff(map[string]int{"PATCH databases/status": n, "POST events": n}, o.traffic.take(t)); diff != "" {
		t.Errorf("what is asked of the API server to go on: -want, +got:\n%s", diff)
	}
	if got := o.asked(); len(got) != n {
		t.Errorf("the cloud is asked once for each: %d", len(got))
	}
}
