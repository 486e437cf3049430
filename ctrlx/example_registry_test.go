package ctrlx_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// base returns the extensions that all kinds share.
func base[T client.Object]() flow.Extensions[T] {
	return flow.Extensions[T]{PreCheck: chain.New(checks.Paused(func(obj T) bool {
		return obj.GetAnnotations()["example.com/paused"] == "true"
	}))}
}

// operations are written once, for all kinds.
func operations[T client.Object](put func(context.Context, client.Object) error) flow.Operations[T] {
	return flow.Operations[T]{Apply: func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		return flow.Done(), put(ctx, req.Resource)
	}}
}

// An operator for many kinds. The authors of a kind register its typed extensions. The operator has a line for
// each kind.
func ExampleSetupAll() {
	var registry flow.Registry[client.Object]
	flow.Register(&registry, "Cluster", base[*testv1.Cluster]())
	flow.Register(&registry, "Database", base[*testv1.Database]().Extend(flow.Extensions[*testv1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()),
	}))

	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	if err != nil {
		panic(err)
	}
	put := func(context.Context, client.Object) error { return nil } // a request to the cloud
	err = ctrlx.SetupAll(mgr, &registry,
		ctrlx.NewKind("Cluster", operations[*testv1.Cluster](put)),
		ctrlx.NewKind("Database", operations[*testv1.Database](put), flow.WithExplanations(100)),
	)
	if err != nil {
		panic(err)
	}
}
