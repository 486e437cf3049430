package main

import (
	"context"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/examples/operator/internal/controller"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=kusto-operator
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=kusto-operator

// serve runs the operator as it is deployed: for all namespaces, one replica at
// a time, until the context ends. namespace has the lease of the leader.
func serve(ctx context.Context, config *rest.Config, namespace, metrics string) error {
	operator, err := controller.NewOperator(config, kusto.New(time.Now), ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "operator.kusto.example.com",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true, // the program ends after the manager
		Metrics:                       metricsserver.Options{BindAddress: metrics},
	})
	if err != nil {
		return err
	}
	mgr := operator.Manager
	// why:
	err = mgr.AddMetricsServerExtraHandler(ctrlx.WhyPath, ctrlx.Why(mgr))
	// :why
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
