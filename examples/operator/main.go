// Command operator is an operator of two kinds, Cluster and Database, in the manner of Azure Data Explorer, and the story of
// one cluster and its databases, told on an API server in this process.
//
// Read database.go first, then cluster.go: they are what a reconciler looks like, and what to copy. operator.go makes a
// manager of them, serve.go is the operator as it is deployed, and api/v1 has the kinds. All else is around that: cloud.go
// is a simulated cloud, operation.go how its long-running operations are followed without waiting for them, story.go what
// a person does, timeline.go and summary.go what is seen of it, controlplane.go the API server, place.go where the story is
// told.
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

const usage = `Usage: operator [-kubeconfig FILE [-install]] [-timeout D] [-v]
       operator -run [-kubeconfig FILE] [-install] [-metrics ADDRESS]

Tells the story of a cluster of a database service and of its databases, as an operator reconciles them: databases wait for
a cluster that is not there, the operator is restarted in the middle of an operation, a person stops the cluster and starts
it again, and all is deleted at once. The cloud is a simulated one, in this process. So is the API server, and its etcd: the
part of a real one that serves custom resources.

It prints a timeline, in milliseconds: what a person does, and each verdict on an object as its conditions say it. Then what
was asked of the cloud and of the API server. The story checks itself.

  -kubeconfig FILE  use the cluster that FILE names. The story is told in a namespace of its own, which is removed.
  -install          install the definitions of the kinds there; the story removes those that it has installed
  -timeout D        how long the story may take (default 2m0s)
  -run              no story: run the operator, for all namespaces, until it is interrupted. Without -kubeconfig it is in a
                    pod. What it makes in the simulated cloud is gone when it ends.
  -metrics ADDRESS  with -run: where metrics are served, as in :8080 (default: nowhere)
  -v                log to stderr what the operator, controller-runtime and the API server log; -run always does
  -h                this text

Exit codes: 0 all went as told, or the operator was interrupted; 1 it did not; 2 a flag is wrong, or what it names.
`

func main() {
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // the second one ends the program at once
		interrupt(errInterrupted)
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

var errInterrupted = errors.New("interrupted")

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

type flags struct {
	kubeconfig, metrics   string
	install, run, verbose bool
	timeout               time.Duration
}

// run is the whole program.
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
	logs(f.verbose || f.run, stderr)
	config, namespace, err := f.cluster()
	if err != nil {
		return fail(exitUsage, err)
	}
	if f.run {
		err = f.serve(ctx, config, namespace)
	} else {
		err = f.tell(ctx, config, stdout)
	}
	switch {
	case errors.Is(err, errUsage):
		return fail(exitUsage, err)
	case err != nil:
		return fail(exitWrong, err)
	}
	return exitOK
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("operator", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	set.BoolVar(&f.install, "install", false, "")
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "")
	set.BoolVar(&f.run, "run", false, "")
	set.StringVar(&f.metrics, "metrics", "", "")
	set.BoolVar(&f.verbose, "v", false, "")
	if err := set.Parse(args); err != nil {
		return f, fmt.Errorf("%w (-h shows what there is)", err)
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("what is %q? All arguments are flags (-h shows them)", set.Arg(0))
	case given["kubeconfig"] && f.kubeconfig == "":
		return f, errors.New("-kubeconfig: the name of the file is empty")
	case f.install && f.kubeconfig == "":
		return f, errors.New("-install goes with -kubeconfig FILE: the API server in this process has the definitions")
	case given["metrics"] && !f.run:
		return f, errors.New("-metrics goes with -run")
	case given["timeout"] && f.run:
		return f, errors.New("-timeout is for the story, and -run runs until it is interrupted")
	case f.timeout <= 0:
		return f, fmt.Errorf("-timeout: %s is no time for a story: give more than 0s", f.timeout)
	}
	if f.metrics == "" {
		f.metrics = "0" // nowhere, for controller-runtime
	}
	return f, nil
}

// errUsage is what a flag names and is not there.
var errUsage = errors.New("")

// cluster is how to get to the cluster, and in which namespace there its user is; nil: the API server in this process.
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
			return nil, "", fmt.Errorf("-run without -kubeconfig FILE is for a pod: %w", err)
		}
	default:
		return nil, "", nil
	}
	config.QPS = -1 // no limit, as ctrl.GetConfig has it
	return config, namespace, err
}

var setUpLogs sync.Once

// logs says where the logs of this process go.
func logs(verbose bool, to io.Writer) { setUpLogs.Do(func() { setLogs(verbose, to) }) }

func setLogs(verbose bool, to io.Writer) {
	logger := logr.Discard()
	if verbose {
		logger = funcr.New(func(prefix, args string) { fmt.Fprintln(to, prefix, args) }, funcr.Options{LogTimestamp: true})
	}
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
}
