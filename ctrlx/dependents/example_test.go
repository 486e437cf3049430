package dependents_test

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// A Cluster stands for a type of yours. It needs a ConfigMap.
func Example() {
	var mgr ctrl.Manager
	setUp := func() *ctrlx.Reconciler[*testv1.Cluster] {
		web := dependents.New("web.example.com", mgr)
		return ctrlx.New("Cluster", flow.Operations[*testv1.Cluster]{
			Apply: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
				return web.Apply(ctx, req.Resource, settings(req.Resource))
			},
			Delete: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
				return web.Delete(ctx, req.Resource, settings(req.Resource))
			},
		}, flow.Extensions[*testv1.Cluster]{})
	}
	_ = setUp
}

// A reconciler of your own, without ctrlx, is requeued until all objects are ready.
// The watch wakes it when a ConfigMap changes.
type plain struct {
	client.Client
	web *dependents.Dependents
}

func (p *plain) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	c := &testv1.Cluster{}
	if err := p.Get(ctx, req.NamespacedName, c); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	const finalizer = "web.example.com/finalizer"
	if c.GetDeletionTimestamp() != nil {
		progress, err := p.web.Delete(ctx, c, settings(c))
		if err == nil && progress.IsDone() && controllerutil.RemoveFinalizer(c, finalizer) {
			err = p.Update(ctx, c)
		}
		return dependents.Requeue(progress, err)
	}
	if controllerutil.AddFinalizer(c, finalizer) {
		if err := p.Update(ctx, c); err != nil {
			return ctrl.Result{}, err
		}
	}
	progress, err := p.web.Apply(ctx, c, settings(c))
	if err != nil {
		log.FromContext(ctx).Error(err, "applying the objects") // for users, write it into a condition
	}
	return dependents.Requeue(progress, err) // progress.Message says why it waits
}

func ExampleDependents_OwnerKey() {
	setUp := func(mgr ctrl.Manager) error {
		p := &plain{mgr.GetClient(), dependents.New("web.example.com", mgr)}
		owner := func(_ context.Context, obj client.Object) (all []ctrl.Request) {
			if key, ok := p.web.OwnerKey(obj); ok {
				all = []ctrl.Request{{NamespacedName: key}}
			}
			return all
		}
		return ctrl.NewControllerManagedBy(mgr).For(&testv1.Cluster{}).
			Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(owner)).Complete(p)
	}
	_ = setUp
}

func settings(c *testv1.Cluster) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: c.Name + "-settings"}, // in the namespace of the owner
		Data:       map[string]string{"size": fmt.Sprint(c.Spec.Size)},
	}
}

// A link of yours limits writes and dry-runs. It runs only if a write is needed.
func ExampleWithApplyChain() {
	limit := chain.Named("limit", chain.Before[*dependents.Request, dependents.Result](func(context.Context, *dependents.Request) error {
		return nil // wait for a token of your rate limiter
	}))
	web := dependents.New("web.example.com", cluster{}, dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
		return c.InsertAfter("DryRun", limit)
	}))
	fmt.Println(web)
	// Output:
	// apply: Recover -> Read -> Ready -> Terminating -> Adopt -> InSync -> DryRun -> limit -> Create -> Recreate -> Replace -> SsaOverride -> SsaMerge
	// delete: Recover -> ReadLive -> Owned -> Orphan -> Terminating -> DryRun
}

// A Shop stands for a kind of yours.
type Shop = testv1.Cluster

// apply:

func newShops(mgr ctrl.Manager) *ctrlx.Reconciler[*Shop] {
	web := dependents.New("web.example.com", mgr)
	return ctrlx.New("Shop", flow.Operations[*Shop]{
		Apply: func(ctx context.Context, req *flow.Request[*Shop]) (flow.Progress, error) {
			return web.Apply(ctx, req.Resource, settingsOf(req.Resource), serverOf(req.Resource))
		},
	}, flow.Extensions[*Shop]{})
}

// :apply

var _ = newShops // the page shows it

// policies:

func settingsOf(s *Shop) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: s.Name, Annotations: map[string]string{ // in the namespace of the shop
			"web.example.com/update-policy": "SsaMerge", // keep the fields of kubectl
			"web.example.com/delete-policy": "OrphanOnDelete",
		}},
		Data: map[string]string{"size": fmt.Sprint(s.Spec.Size)},
	}
}

// :policies

var errFrozen = errors.New("the shop is frozen until Monday")

// link:

var frozen = dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) {
	return c.InsertAfter("InSync", chain.Named("Frozen", chain.Before[*dependents.Request, dependents.Result](
		func(_ context.Context, r *dependents.Request) error {
			if r.Live != nil && r.Live.GetLabels()["frozen"] == "true" {
				return errFrozen
			}
			return nil
		})))
})

// :link

func serverOf(s *Shop) *appsv1.Deployment {
	d := deployment("nginx", new(int32(1)))
	d.Name = s.Name
	return d
}

func Example_howto() {
	ctx, shop := context.Background(), &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "books", UID: "1"}}
	c := identified{fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).
		WithReturnManagedFields().WithStatusSubresource(&appsv1.Deployment{}).Build()}
	web := dependents.New("web.example.com", cluster{c, c}, frozen)
	edit := func(update func(context.Context, client.Object) error, change func(*appsv1.Deployment)) {
		live := &appsv1.Deployment{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "team", Name: "books"}, live); err != nil {
			fmt.Println(err)
		}
		change(live)
		if err := update(ctx, live); err != nil {
			fmt.Println(err)
		}
	}
	update := func(ctx context.Context, obj client.Object) error { return c.Update(ctx, obj) }
	status := func(ctx context.Context, obj client.Object) error { return c.Status().Update(ctx, obj) }
	server := serverOf(shop)
	server.Spec.Template.Spec.Containers[0].Ports = nil
	apply := func() {
		progress, err := web.Apply(ctx, shop, settingsOf(shop), server)
		if fmt.Print(progress.Message()); err != nil {
			fmt.Print(err)
		}
		fmt.Println()
	}

	apply()
	edit(status, func(d *appsv1.Deployment) {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "ReplicaFailure", Status: "True", Message: "exceeded quota"}}
	})
	apply()
	edit(update, func(d *appsv1.Deployment) { d.Labels["frozen"], d.Spec.Replicas = "true", new(int32(5)) })
	apply()
	edit(update, func(d *appsv1.Deployment) { d.Labels["web.example.com/owner-id"] = "another" })
	apply()
	// Output:
	// waiting for 1 of 2 objects: Deployment.apps team/books: it is not ready: LessReplicas: Replicas: 0/1
	// waiting for 1 of 2 objects: Deployment.apps team/books: it is not ready: LessReplicas: Replicas: 0/1; ReplicaFailure: exceeded quota
	// Deployment.apps team/books: the shop is frozen until Monday
	// Deployment.apps team/books: it belongs to the owner with web.example.com/owner-id=another: remove it from one of the two owners, or remove its label web.example.com/owner-id if that owner does not have it any more
}

// identified is a fake client that sets UIDs, as an API server does.
type identified struct{ client.Client }

func (c identified) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return applied(ctx, c.Client, config, opts)
}

// applied applies an object, and once more with a UID if it did not exist.
func applied(ctx context.Context, c client.Client, config runtime.ApplyConfiguration, opts []client.ApplyOption) error {
	obj := config.(client.Object)
	again := obj.DeepCopyObject().(*unstructured.Unstructured)
	if err := c.Apply(ctx, config, opts...); err != nil || obj.GetUID() != "" {
		return err
	}
	again.SetUID(types.UID(obj.GetName()))
	again.SetResourceVersion("")
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(again), opts...)
	obj.SetUID(again.GetUID())
	obj.SetResourceVersion(again.GetResourceVersion())
	return err
}
