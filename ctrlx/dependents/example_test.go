package dependents_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
