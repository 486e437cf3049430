package ctrlx_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The main function of a kubebuilder project. Database stands for a type of yours whose status has conditions.
func Example() {
	consistent := true
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme: scheme,
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &consistent}},
	})
	if err != nil {
		panic(err)
	}
	databases := ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: create, Delete: drop}, flow.Extensions[*testv1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // waits for the cluster that the controlling owner reference names
	})
	if err := databases.SetupWithManager(mgr); err != nil {
		panic(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}

func create(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
	req.Resource.Status.Size = req.Resource.Spec.Size // a PUT to the cloud; what it answers goes into the status
	return flow.Done(), nil
}

func drop(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) {
	return flow.Done(), nil // a DELETE; what is not there any more is done, too
}

// An existing reconciler gets a link that turns panics into errors.
func ExampleWrap() {
	var mgr ctrl.Manager
	var existing reconcile.Reconciler
	_ = ctrl.NewControllerManagedBy(mgr).For(&testv1.Database{}).Complete(ctrlx.Wrap(existing, chain.Recover))
}
