package controller

import (
	"context"

	v1 "consumer.test/api/v1" // your types; the status has conditions
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
	ctrl "sigs.k8s.io/controller-runtime"
)

// +kubebuilder:rbac:groups=example.com,resources=databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=databases/status,verbs=patch
// +kubebuilder:rbac:groups=example.com,resources=networks,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetUp replaces the scaffolded reconciler. Call it in main.go.
func SetUp(mgr ctrl.Manager) error {
	return ctrlx.New("Database", flow.Operations[*v1.Database]{Apply: put, Delete: remove}, flow.Extensions[*v1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // the object of the controlling owner reference
		PreCheck:   chain.New(checks.ReferenceReady("network", network), checks.Paused(paused)),
	}).SetupWithManager(mgr)
}

func network(d *v1.Database) []checks.Ref {
	return []checks.Ref{{Group: "example.com", Kind: "Network", Name: d.Spec.Network}}
}
func paused(d *v1.Database) bool { return d.Annotations["example.com/paused"] == "true" }
func put(_ context.Context, req *flow.Request[*v1.Database]) (flow.Progress, error) {
	req.Resource.Status.Size = 1 // call your service here; store its answer
	return flow.Done(), nil
}

func remove(context.Context, *flow.Request[*v1.Database]) (flow.Progress, error) {
	return flow.Done(), nil // call your service here; a missing resource is no error
}
