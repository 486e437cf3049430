package main

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch

// NewOperator returns a manager with the reconcilers of both kinds. Start it
// once.
func NewOperator(config *rest.Config, cloud *Cloud, opts ctrl.Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	opts.Scheme = scheme
	mgr, err := ctrl.NewManager(config, opts)
	if err != nil {
		return nil, err
	}
	return mgr, errors.Join(
		NewClusters(cloud, mgr.GetClient()).SetupWithManager(mgr),
		NewDatabases(cloud).SetupWithManager(mgr),
	)
}
