// Package manager makes managers for the tests of the how-to pages.
package manager

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"
)

// New returns a manager that is not started, so no request is sent. It finds
// mistakes of the set-up.
func New(t *testing.T) ctrl.Manager {
	t.Helper()
	return For(t, &rest.Config{Host: "http://127.0.0.1:1"})
}

// For returns a manager of a cluster. The caller starts it.
func For(t *testing.T, cluster *rest.Config) ctrl.Manager {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	names := true // several tests of a process set a kind up
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &names},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}
