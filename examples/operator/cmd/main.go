// Command cmd is the operator of two kinds, Cluster and Database, as it is
// deployed: for all namespaces, until it is interrupted. It logs to stderr. Its
// service is simulated in this process, and lost at the end.
package main

import (
	"context"
	"flag"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/examples/operator/internal/controller"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update,namespace=kusto-operator
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=kusto-operator

func main() {
	opts := ctrl.Options{LeaderElectionID: "operator.kusto.example.com", LeaderElectionReleaseOnCancel: true} // the program ends after the manager
	flag.StringVar(&opts.Metrics.BindAddress, "metrics-bind-address", "0", "The address of the metrics, such as :8080. 0 serves none.")
	flag.BoolVar(&opts.LeaderElection, "leader-elect", false, "Run one replica at a time. The lease is in the namespace of the pod.")
	flag.Parse() // -kubeconfig is a flag of controller-runtime
	log := klog.Background()
	ctrl.SetLogger(log)
	if err := serve(ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie(), opts); err != nil {
		log.Error(err, "the operator has stopped")
		os.Exit(1)
	}
}

// serve runs the operator until the context ends.
func serve(ctx context.Context, config *rest.Config, opts ctrl.Options) error {
	operator, err := controller.NewOperator(config, kusto.New(time.Now), opts)
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
