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

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

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
	// Deployment.apps team/books: it belongs to the owner with web.example.com/owner-id=another: remove it from one of the two owners
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
