// Command component is an operator of one kind, Shop, whose objects come from Go
// templates. Without flags it tells a story on an API server that it starts.
//
// Read shops.go first and copy from it: it has the reconciler. The folder shop
// has the templates, and api/v1 the kind. operator.go makes a manager, and
// plan.go prints what the operator would do. The rest is the demonstration:
// story.go has the actions of a person, writes.go records the writes of the
// operator, and place.go prepares a cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = `Usage: component [-kubeconfig FILE [-install]] [-timeout D] [-v]
       component -plan FILE [-json] [-kubeconfig FILE]
       component -run [-kubeconfig FILE [-install]]

Tells the story of a shop: a ConfigMap, a Deployment, the definition of a kind and an object of it, from templates. The
program starts the API server that make envtest builds.

  -kubeconfig FILE  use the cluster of FILE; the story runs in a new namespace, which is removed at the end
  -install          install the definition of shops in that cluster; the story removes it if it installed it
  -timeout D        the limit for the story (default 2m0s)
  -plan FILE        print what the operator would do for the shop in FILE, and write nothing
  -json             with -plan: print JSON
  -run              run the operator for all namespaces until it is interrupted; without -kubeconfig it must run in a pod
  -v                log to stderr; -run always does
  -h                this text

Exit codes: 0 the story went as expected, the plan has no problems, or the operator was interrupted; 1 otherwise; 2 a flag
or a file is wrong.
`

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // a second signal ends the program at once
		interrupt(errInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

var errInterrupted = errors.New("interrupted")

// errUsage marks errors about a flag, a file, or a cluster that does not fit.
var errUsage = errors.New("usage")

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

type flags struct {
	kubeconfig, plan            string
	install, json, run, verbose bool
	timeout                     time.Duration
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f, err := parse(args)
	if err == nil {
		logs(f.verbose || f.run, stderr)
		err = f.do(ctx, stdout)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "component: %v\n", err)
		return exitUsage
	case err != nil:
		fmt.Fprintf(stderr, "component: %v\n", err)
		return exitWrong
	}
	return exitOK
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("component", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	set.BoolVar(&f.install, "install", false, "")
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "")
	set.StringVar(&f.plan, "plan", "", "")
	set.BoolVar(&f.json, "json", false, "")
	set.BoolVar(&f.run, "run", false, "")
	set.BoolVar(&f.verbose, "v", false, "")
	err = set.Parse(args)
	problem := ""
	switch {
	case errors.Is(err, flag.ErrHelp):
		return f, err
	case err != nil:
		problem = err.Error() + " (-h lists the flags)"
	case set.NArg() > 0:
		problem = fmt.Sprintf("unexpected argument %q: all arguments are flags (-h lists them)", set.Arg(0))
	case f.install && (f.kubeconfig == "" || f.plan != ""):
		problem = "-install needs -kubeconfig FILE, and no -plan"
	case f.json && f.plan == "":
		problem = "-json needs -plan FILE"
	case f.run && f.plan != "":
		problem = "-run and -plan exclude each other"
	case f.timeout <= 0:
		problem = fmt.Sprintf("-timeout: %s is too short; use more than 0s", f.timeout)
	}
	if problem != "" {
		return f, fmt.Errorf("%w: %s", errUsage, problem)
	}
	return f, nil
}

func (f flags) do(ctx context.Context, out io.Writer) error {
	config, namespace, err := f.cluster()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errUsage, err)
	case f.run:
		return f.serve(ctx, config, namespace)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("out of time after %s", f.timeout))
	defer cancel()
	if err := f.show(ctx, config, namespace, out); err != nil {
		if why := context.Cause(ctx); why != nil && !errors.Is(err, why) {
			err = fmt.Errorf("%w: %w", why, err)
		}
		return err
	}
	return nil
}

// show prints a plan, or tells the story.
func (f flags) show(ctx context.Context, config *rest.Config, namespace string, out io.Writer) (err error) {
	if f.plan != "" && config != nil {
		api, err := newClient(config)
		if err != nil {
			return err
		}
		if err := served(api); err != nil {
			return err
		}
		return plan(ctx, api, f.plan, namespace, f.json, out)
	}
	var p *place
	if config == nil {
		p, err = openHere(ctx)
	} else {
		p, err = openThere(ctx, config, f.install)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	switch {
	case err != nil:
		return err
	case f.plan != "":
		return plan(ctx, p.api, f.plan, p.namespace, f.json, out)
	}
	return NewStory(out, p).Tell(ctx)
}

// serve installs the definition if requested, and runs the operator.
func (f flags) serve(ctx context.Context, config *rest.Config, namespace string) error {
	api, err := newClient(config)
	if err == nil && f.install {
		_, err = install(ctx, api)
	}
	if err == nil {
		err = served(api)
	}
	if err != nil {
		return err
	}
	return serve(ctx, config, namespace)
}

// cluster returns the configuration of the cluster and the user's namespace in
// it. A nil config means an API server that the program starts.
func (f flags) cluster() (config *rest.Config, namespace string, err error) {
	switch {
	case f.kubeconfig != "":
		file := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
			&clientcmd.ClientConfigLoadingRules{ExplicitPath: f.kubeconfig}, &clientcmd.ConfigOverrides{})
		if config, err = file.ClientConfig(); err != nil {
			return nil, "", fmt.Errorf("-kubeconfig: %w", err)
		}
		namespace, _, err = file.Namespace()
	case f.run:
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", fmt.Errorf("-run without -kubeconfig FILE must run in a pod: %w", err)
		}
	default:
		return nil, "", nil
	}
	config.QPS = -1 // no limit, as in ctrl.GetConfig
	return config, namespace, err
}

var setUpLogs sync.Once

// logs sets the destination of the process's logs, once.
func logs(verbose bool, to io.Writer) {
	setUpLogs.Do(func() {
		logger := logr.Discard()
		if verbose {
			logger = funcr.New(func(prefix, args string) { fmt.Fprintln(to, prefix, args) }, funcr.Options{LogTimestamp: true})
		}
		klog.SetLogger(logger)
		ctrl.SetLogger(logger)
	})
}
