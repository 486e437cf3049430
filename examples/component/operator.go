package main

import (
	"context"
	"errors"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/component/api/v1"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;create
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=shop-operator
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=shop-operator

// NewOperator returns a manager with the reconciler of shops. Start it once.
func NewOperator(config *rest.Config, opts ctrl.Options) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	opts.Scheme = scheme
	mgr, err := ctrl.NewManager(config, opts)
	if err != nil {
		return nil, err
	}
	return mgr, NewShops().SetupWithManager(mgr)
}

// newScheme returns the kinds of the operator and of the person in the story.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), apiextensions.AddToScheme(scheme), v1.AddToScheme(scheme))
}

// serve runs the operator as it is deployed: for all namespaces, one replica at
// a time, until the context ends. The namespace shop-operator has the lease of
// the leader.
func serve(ctx context.Context, config *rest.Config) error {
	mgr, err := NewOperator(config, ctrl.Options{
		LeaderElection:                true,
		LeaderElectionID:              "operator.shop.example.com",
		LeaderElectionNamespace:       "shop-operator",
		LeaderElectionReleaseOnCancel: true, // the program ends after the manager
		Metrics:                       metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
