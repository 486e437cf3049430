// Command cmd is the operator of two kinds, Cluster and Database, as it is
// deployed. Its service is simulated in this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = `Usage: operator [-kubeconfig FILE] [-metrics ADDRESS]

Runs the operator for all namespaces, until it is interrupted. It logs to stderr. Its simulated cloud is lost at the end.

  -kubeconfig FILE  use the cluster of FILE (default: the cluster of the pod)
  -metrics ADDRESS  the address of the metrics, such as :8080 (default: none)
  -h                this text

Exit codes: 0 the operator was interrupted; 1 it failed; 2 a flag or a file is wrong.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

type flags struct{ kubeconfig, metrics string }

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "operator: %v\n", err)
		return code
	}
	f, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err != nil:
		return fail(exitUsage, err)
	}
	ctrl.SetLogger(klog.Background())
	config, namespace, err := f.cluster()
	if err != nil {
		return fail(exitUsage, err)
	}
	if err := serve(ctx, config, namespace, f.metrics); err != nil {
		return fail(exitWrong, err)
	}
	return exitOK
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	set.StringVar(&f.metrics, "metrics", "0", "") // controller-runtime's value for none
	if err := set.Parse(args); err != nil {
		return f, fmt.Errorf("%w (-h lists the flags)", err)
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q: all arguments are flags (-h lists them)", set.Arg(0))
	case given["kubeconfig"] && f.kubeconfig == "":
		return f, errors.New("-kubeconfig: the name of the file is empty")
	case f.metrics == "":
		return f, errors.New("-metrics: the address is empty")
	}
	return f, nil
}

// cluster returns the configuration of the cluster, and the namespace of the user
// or the pod in it. An empty namespace means the namespace of the pod.
func (f flags) cluster() (config *rest.Config, namespace string, err error) {
	if f.kubeconfig == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", fmt.Errorf("the operator must run in a pod, or with -kubeconfig FILE: %w", err)
		}
	} else {
		file := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
			&clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}, &clientcmd.ConfigOverrides{})
		if config, err = file.ClientConfig(); err != nil {
			return nil, "", fmt.Errorf("-kubeconfig: %w", err)
		}
		if namespace, _, err = file.Namespace(); err != nil {
			return nil, "", err
		}
	}
	config.QPS = -1 // no limit, as in ctrl.GetConfig
	return config, namespace, nil
}
