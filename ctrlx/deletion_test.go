package ctrlx_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

func (o *operator) remove(d client.Object) {
	o.t.Helper()
	if err := api.Delete(o.t.Context(), d); err != nil {
		o.t.Fatal(err)
	}
}

// Finalizers of others stay, and ours goes while theirs are there.
func TestFinalizersOfOthers(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "db", Finalizers: []string{"example.com/theirs"}}}
	if err := api.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	o.start(ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{}, ctrlx.WithFinalizer("example.com/ours")))
	got := o.until("db", "True Succeeded")
	if diff := cmp.Diff([]string{"example.com/theirs", "example.com/ours"}, got.Finalizers); diff != "" {
		t.Errorf("the finalizers: -want, +got:\n%s", diff)
	}
	o.remove(d)
	got = o.when("db", func(d *testv1.Database) bool { return len(d.Finalizers) == 1 })
	if diff := cmp.Diff([]string{"example.com/theirs"}, got.Finalizers); diff != "" {
		t.Errorf("the finalizers: -want, +got:\n%s", diff)
	}
	o.traffic.take(t)
	patch := client.MergeFrom(got.DeepCopyObject().(client.Object))
	got.Finalizers = nil
	if err := api.Patch(t.Context(), got, patch); err != nil {
		t.Fatal(err)
	}
	o.until("db", "gone")
	if diff := cmp.Diff([]string{"put db 0", "delete db"}, o.asked()); diff != "" {
		t.Errorf("what was asked of the cloud, each once: -want, +got:\n%s", diff)
	}
}

// A blocked object can be deleted: neither a missing owner nor a deleted owner delays
// that.
func TestDeletedWhileBlocked(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	ext := waitsForCluster
	ext.DeleteCheck = chain.New(checks.OnOwner[*testv1.Database](checks.OwnerReady()))
	o.start(ctrlx.New("Database", o.operations(), ext, ctrlx.WithOwner(clusterOf)))
	never, orphan, held := o.database("never", "nowhere"), o.database("orphan", "prod"), o.database("held", "busy")
	prod := o.cluster("prod", "Running")
	busy := o.cluster("busy", "Running")
	o.until("never", "False OwnerNotFound")
	for _, d := range []*testv1.Database{orphan, held} { // which have finalizers, unlike never, because they were applied
		o.until(d.Name, "True Succeeded")
	}
	for _, c := range []*testv1.Cluster{prod, busy} {
		o.report(c, "Stopped")
	}
	o.remove(never)
	o.until("never", "gone")
	o.remove(prod)
	o.remove(orphan)
	o.until("orphan", "gone")
	// The check blocks the deletion while the owner is not ready, and the owner wakes the deleted object, too.
	o.remove(held)
	o.when("held", func(d *testv1.Database) bool { return d.DeletionTimestamp != nil })
	o.report(busy, "Running")
	o.until("held", "gone")
}

// Whatever the API server says to a finalizer, nothing is made without one, and none goes before the cloud is asked.
func TestFinalizerRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		code   int
		status metav1.StatusReason
		asked  int // of the cloud
	}{
		"Conflict": {"the write is repeated, because no other writer changes that the deletion has ended", 409, metav1.StatusReasonConflict, 2},
		"Broken":   {"the server has a fault, so the deletion is asked for in each pass until the finalizer goes", 500, metav1.StatusReasonInternalError, 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			o.traffic.answers(refusing("PATCH databases", tc.code, tc.status, 3))
			operations := o.operations()
			put := operations.Apply
			operations.Apply = func(ctx ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				if len(req.Resource.Finalizers) == 0 {
					t.Error("it is made without a finalizer")
				}
				return put(ctx, req)
			}
			o.start(ctrlx.New("Database", operations, flow.Extensions[*testv1.Database]{}))
			d := o.database("db", "")
			o.until("db", "True Succeeded")
			o.traffic.answers(refusing("PATCH databases", tc.code, tc.status, 3))
			o.remove(d)
			o.until("db", "gone")
			got := o.asked()
			if len(got) != tc.asked || got[0] != "put db 1" || got[1] != "delete db" {
				t.Errorf("%s: %q", tc.reason, got)
			}
		})
	}
}
