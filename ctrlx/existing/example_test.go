package existing_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/existing"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// DatabaseReconciler is a reconciler that existed before: its Reconcile got the lines with checks.
type DatabaseReconciler struct {
	client.Client
	checks *existing.Checks[*v1.Database]
}

func newDatabaseReconciler(c client.Client) *DatabaseReconciler {
	return &DatabaseReconciler{Client: c, checks: existing.New("Database", c, chain.New(
		checks.OnOwner[*v1.Database](checks.OwnerReady()), // the owner that the controlling owner reference names
		checks.ReferenceReady("settings", settings),
		checks.Paused(func(d *v1.Database) bool { return d.Annotations["example.com/paused"] == "true" }),
	), ctrlx.WithReadiness(configMap, ctrlx.Exists))}
}

func (r *DatabaseReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	db := &v1.Database{}
	if err := r.Get(ctx, req.NamespacedName, db); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	// README:
	if ok, result, err := r.checks.Check(ctx, db); !ok {
		return result, err
	}
	return r.checks.Done(ctx, db, r.deploy(ctx, db)) // conditions, and the requeue after an error
	// :README
}

var configMap = schema.GroupKind{Kind: "ConfigMap"}

func settings(d *v1.Database) []checks.Ref {
	return []checks.Ref{{Kind: "ConfigMap", Name: d.Name + "-settings"}}
}

func (r *DatabaseReconciler) deploy(context.Context, *v1.Database) error {
	fmt.Println("  deployed")
	return nil
}

// Three checks in a Reconcile method that exists already. The conditions say what the database waits for.
func ExampleChecks() {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	if err := corev1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	cluster := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "prod", UID: "1", Generation: 1}}
	database := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "orders", Generation: 1,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1.GroupVersion.String(), Kind: "Cluster", Name: "prod", UID: "1", Controller: ptr.To(true)}}}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster, database).WithStatusSubresource(cluster, database).Build()
	r := newDatabaseReconciler(c)

	ctx, key := context.Background(), client.ObjectKeyFromObject(database)
	pass := func(title string) {
		fmt.Println(title)
		result, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		if err == nil {
			err = c.Get(ctx, key, database)
		}
		ready := meta.FindStatusCondition(database.Status.Conditions, "Ready")
		fmt.Printf("  Ready=%s %s, requeue: %t, error: %v\n", ready.Status, ready.Reason, result.RequeueAfter > 0, err)
	}

	pass("The cluster has not reported yet.")

	cluster.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Running", ObservedGeneration: 1}}
	if err := c.Status().Update(ctx, cluster); err != nil {
		panic(err)
	}
	pass("The cluster is ready.")

	if err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "orders-settings"}}); err != nil {
		panic(err)
	}
	pass("The settings exist.")
	// Output:
	// The cluster has not reported yet.
	//   Ready=False OwnerReadinessUnknown, requeue: true, error: <nil>
	// The cluster is ready.
	//   Ready=False ReferenceNotFound, requeue: true, error: <nil>
	// The settings exist.
	//   deployed
	//   Ready=True Succeeded, requeue: false, error: <nil>
}
