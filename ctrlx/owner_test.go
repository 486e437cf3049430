package ctrlx_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

func keyOf(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func controlledBy(c *testv1.Cluster, uid types.UID) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "another"},
		{APIVersion: testv1.GroupVersion.String(), Kind: "Cluster", Name: c.Name, UID: uid, Controller: &yes},
	}
}

// The owner is the object of that UID: not another one of its name, before or after.
func TestControllingOwner(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster))
	own := func(name string, c *testv1.Cluster, uid types.UID) *testv1.Database {
		d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name, OwnerReferences: controlledBy(c, uid)}}
		must(t, api.Create(t.Context(), d))
		return d
	}
	first := o.cluster("prod", "Creating")
	waits := own("waits", first, first.UID)
	own("mistaken", first, "3f8e7c1a-0000-0000-0000-000000000000")
	o.until("waits", "False OwnerNotReady")
	o.until("mistaken", "False OwnerNotFound")

	// A cluster of the same name comes and is ready: it is another one.
	must(t, api.Delete(t.Context(), first))
	o.until("waits", "False OwnerNotFound")
	second := o.cluster("prod", "Running")
	o.database("marker", "") // uses the same queue, after the waiters of the cluster
	o.until("marker", "True Succeeded")
	o.until("waits", "False OwnerNotFound")
	o.until("mistaken", "False OwnerNotFound")

	// Now it belongs to that one.
	patch := client.MergeFrom(waits.DeepCopyObject().(client.Object))
	waits.OwnerReferences = controlledBy(second, second.UID)
	must(t, api.Patch(t.Context(), waits, patch))
	o.until("waits", "True Succeeded")
}

// Another controller sets the owner reference some time after the object was created. That change requeues the object.
func TestOwnerReferenceSetLater(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{
		OwnerCheck: chain.New(checks.OwnerFound(checks.WithRequiredOwner())),
	}))
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "late"}}
	must(t, api.Create(t.Context(), d))
	o.until("late", "False OwnerNotSet")

	busy := o.cluster("prod", "Creating")
	patch := client.MergeFrom(d.DeepCopyObject().(client.Object))
	d.OwnerReferences = controlledBy(busy, busy.UID)
	must(t, api.Patch(t.Context(), d, patch))
	o.until("late", "True Succeeded")
}
