package ctrlx_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The main function of a kubebuilder project. Database stands for a type of yours whose status has conditions.
func Example() {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err != nil {
		panic(err)
	}
	databases := ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // of the cluster that the controlling owner reference names
		PreCheck: chain.New(checks.ReferenceReady("network", func(d *Database) []checks.Ref {
			return []checks.Ref{{Group: "example.com", Kind: "Network", Name: d.Spec.Network}}
		})),
	})
	if err := databases.SetupWithManager(mgr); err != nil {
		panic(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		panic(err)
	}
}

// Database is a kind of the example's own.
type Database struct {
	testv1.Database
	Spec struct{ Network string }
}

func create(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
	req.Resource.Status.Size = 1 // a PUT to the cloud; what it answers goes into the status
	return flow.Done(), nil
}

func drop(context.Context, *flow.Request[*Database]) (flow.Progress, error) {
	return flow.Done(), nil // a DELETE; what is not there any more is done, too
}

// An existing reconciler gets a link that turns panics into errors.
func ExampleWrap() {
	var mgr ctrl.Manager
	var existing reconcile.Reconciler
	_ = ctrl.NewControllerManagedBy(mgr).For(&testv1.Database{}).Complete(ctrlx.Wrap(existing, chain.Recover))
}
