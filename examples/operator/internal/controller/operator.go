// Package controller has the reconcilers of both kinds. Copy from here: each
// kind has a file, and operation.go runs the long-running operations of a service.
package controller

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=list;watch

// Operator is a manager with the reconcilers of both kinds. Start it once.
type Operator struct {
	ctrl.Manager
	Databases *ctrlx.Reconciler[*v1.Database]
}

// NewOperator returns an operator of the things in a cloud.
func NewOperator(config *rest.Config, cloud *kusto.Cloud, opts ctrl.Options) (*Operator, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	opts.Scheme = scheme
	mgr, err := ctrl.NewManager(config, opts)
	if err != nil {
		return nil, err
	}
	o := &Operator{mgr, NewDatabases(mgr, cloud)}
	return o, errors.Join(NewClusters(cloud).SetupWithManager(mgr), o.Databases.SetupWithManager(mgr))
}
