package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"         // your types
	controller "github.com/windlass-go/windlass/examples/howto/secret" // your reconcilers
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=databases
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=databases

func main() {
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	must(v1.AddToScheme(scheme))
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        scheme,
		LeaderElection:                true,
		LeaderElectionID:              "operator.example.com",
		LeaderElectionReleaseOnCancel: true, // the program ends after the manager
	})
	must(err)
	must(controller.SetUp(mgr))
	must(mgr.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
