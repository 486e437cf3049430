package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
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
	if diff := cmp.Diff(map[string]int{"PATCH databases/status": n - 1, "POST events": n - 1}, got, writes); diff != "" {
		t.Errorf("what is asked of the API server to block: -want, +got:\n%s", diff)
	}
	if got["WATCH databases"] > 2 || got["WATCH clusters"] > 2 || got["GET clusters"] > 2*workers {
		t.Errorf("each kind is watched once: %v", got)
	}
	if diff := cmp.Diff(map[string]int(nil), o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what is asked while they wait: -want, +got:\n%s", diff)
	}
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, "db-7")})
	if err != nil || result.RequeueAfter < 45*time.Minute {
		t.Errorf("a waiter of a watched object is requeued at the resync: %+v, %v", result, err)
	}
	// Another writer becomes the owner of a field without changing its value. That wakes no waiter.
	before := c.ResourceVersion
	claim := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Cluster","metadata":{"name":"prod"},"status":{"state":"Creating"}}`, testv1.GroupVersion)
	if err := api.Status().Patch(t.Context(), c, client.RawPatch(types.ApplyPatchType, claim), client.FieldOwner("somebody-else"), client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	if c.ResourceVersion == before {
		t.Error("nothing was written, so the test shows nothing")
	}
	if diff := cmp.Diff(map[string]int(nil), o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what is asked after a write that changes nothing: -want, +got:\n%s", diff)
	}
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud: %q", got)
	}
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	if diff := cmp.Diff(map[string]int{"PATCH databases": n, "PATCH databases/status": n, "POST events": n}, o.traffic.take(t), writes, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("requests to the API server to proceed: -want, +got:\n%s", diff)
	}
	calledOnce(t, "the owner is ready", n, o.asked())
}

// A check may read the awaited object by means of its own. The object wakes the
// waiter all the same, although its kind was not watched before.
func TestWaitsForWhatItHasNotRead(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	c := o.cluster("prod", "Stopped")
	ref := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "prod"}
	looks := checks.Check("looks", func(ctx ctxt, _ *checks.Request[*testv1.Database]) (checks.Result, error) {
		now := &testv1.Cluster{}
		if err := api.Get(ctx, keyOf(o.namespace, "prod"), now); err != nil {
			return checks.Result{}, err
		}
		if now.Status.State != "Running" {
			return checks.Block("NotRunning", "", checks.WithWaitingFor(ref), checks.WithRetry(classify.OnChange)), nil
		}
		return checks.Proceed(), nil
	})
	r := ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{PreCheck: chain.New(looks)})
	o.start(r)
	o.database("db", "")
	o.until("db", "False NotRunning")
	o.traffic.take(t)
	if diff := cmp.Diff(map[string]int(nil), o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what is asked while it waits: -want, +got:\n%s", diff)
	}
	o.report(c, "Running")
	o.until("db", "True Succeeded")
}
