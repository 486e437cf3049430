package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"

	v1 "consumer.test/api/v1"
)

// TestSetUp sets the reconcilers up with a manager that is not started: no
// request is sent.
func TestSetUp(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := SetUp(mgr); err != nil {
		t.Fatal(err)
	}
}

func TestPut(t *testing.T) {
	d := &v1.Database{}
	progress, err := put(t.Context(), &flow.Request[*v1.Database]{Request: checks.Request[*v1.Database]{Resource: d}})
	if err != nil || !progress.IsDone() || d.Status.Size != 1 {
		t.Errorf("put(...) = %v, %v, want done, and a size in the status, not %d", progress, err, d.Status.Size)
	}
}
