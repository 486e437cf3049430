// Command component is an operator of one kind, Shop, whose objects come from Go
// templates. Without flags it tells a story on an API server that it starts.
//
// Read shops.go first and copy from it: it has the reconciler. The folder shop
// has the templates, and api/v1 the kind. operator.go makes a manager, and
// plan.go prints what the operator would do. The rest is the demonstration:
// story.go has the actions of a person, writes.go records the writes of the
// operator, and place.go starts the API server.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = `Usage: component [-v]
       component -plan FILE [-json] [-kubeconfig FILE]
       component -run [-kubeconfig FILE]

Tells the story of a shop: a ConfigMap, a Deployment, the definition of a kind and an object of it, from templates. The
program starts the API server that make envtest builds.

  -plan FILE        print what the operator would do for the shop in FILE, and write nothing
  -json             with -plan: print JSON
  -run              run the operator for all namespaces until it is interrupted; without -kubeconfig it must run in a pod
  -kubeconfig FILE  with -plan and -run: use the cluster of FILE, which has the definition of shops
  -v                log to stderr; -run always does

Exit codes: 0 the story went as expected, the plan has no problems, or the operator was interrupted; 1 otherwise; 2 the flags
are wrong.
`

func main() { os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr)) }

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	set := flag.NewFlagSet("component", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() { fmt.Fprint(stderr, usage) }
	kubeconfig, file := set.String("kubeconfig", "", ""), set.String("plan", "", "")
	asJSON, serves, verbose := set.Bool("json", false, ""), set.Bool("run", false, ""), set.Bool("v", false, "")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil: // the flag set has printed it
		return exitUsage
	case set.NArg() > 0 || *asJSON && *file == "" || *serves && *file != "" || *kubeconfig != "" && !*serves && *file == "":
		fmt.Fprintf(stderr, "component: the arguments %q do not fit together\n\n%s", args, usage)
		return exitUsage
	}
	if *verbose || *serves {
		ctrl.SetLogger(klog.Background())
	} else {
		quiet()
	}
	if err := do(ctx, *kubeconfig, *file, *serves, *asJSON, stdout); err != nil {
		fmt.Fprintf(stderr, "component: %v\n", err)
		return exitWrong
	}
	return exitOK
}

// do runs the operator, prints a plan, or tells the story.
func do(ctx context.Context, kubeconfig, file string, serves, asJSON bool, out io.Writer) (err error) {
	if kubeconfig != "" || serves {
		config, err := clientcmd.BuildConfigFromFlags("", kubeconfig) // that of the pod without a file
		if err != nil {
			return err
		}
		config.QPS = -1 // no limit, as in ctrl.GetConfig
		return there(ctx, config, file, asJSON, out)
	}
	p, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if file != "" {
		return plan(ctx, p.api, file, asJSON, out)
	}
	return NewStory(out, p).Tell(ctx)
}

// there runs the operator in a cluster, or prints a plan.
func there(ctx context.Context, config *rest.Config, file string, asJSON bool, out io.Writer) error {
	api, err := newClient(config)
	if err == nil {
		err = served(api)
	}
	switch {
	case err != nil:
		return err
	case file != "":
		return plan(ctx, api, file, asJSON, out)
	}
	return serve(ctx, config)
}

// quiet turns the logs of the process off.
var quiet = sync.OnceFunc(func() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
})
