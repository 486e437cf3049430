package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/howto/api/v1" // your types
	"github.com/windlass-go/windlass/flow"
)

// base has the checks of every kind: on PreCheck, a paused object that is deleted still goes. operations has what every kind does.
func base[T client.Object]() flow.Extensions[T] {
	return flow.Extensions[T]{PreCheck: chain.New(checks.Paused(func(obj T) bool {
		return obj.GetAnnotations()["example.com/paused"] == "true"
	}))}
}

func operations[T client.Object](put func(context.Context, T) error) flow.Operations[T] {
	return flow.Operations[T]{Apply: func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		if err := put(ctx, req.Resource); err != nil {
			return flow.Progress{}, err
		}
		return flow.Done(), nil
	}}
}

// +kubebuilder:rbac:groups=example.com,resources=clusters;databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=clusters/status;databases/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetUp has two lines for each kind: its extensions and its operations.
func SetUp(mgr ctrl.Manager) error {
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", base[*v1.Cluster]())
	flow.Register(&registry, "Database", base[*v1.Database]().Extend(flow.Extensions[*v1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()),
	}))
	return ctrlx.SetupAll(mgr, &registry,
		ctrlx.NewKind("Cluster", operations(putCluster)),
		ctrlx.NewKind("Database", operations(putDatabase), ctrlx.WithOwner(clusterOf)),
	)
}

func putCluster(context.Context, *v1.Cluster) error   { return nil } // call your service here
func putDatabase(context.Context, *v1.Database) error { return nil }

func clusterOf(d *v1.Database) checks.Ref {
	return checks.Ref{Group: "example.com", Kind: "Cluster", Name: d.Spec.Cluster}
}
