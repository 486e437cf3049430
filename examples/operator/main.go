// Command operator is an operator of two kinds, Cluster and Database, similar
// to Azure Data Explorer. Without flags it runs a demonstration with a small API
// server: the story of one cluster and its databases.
//
// Read database.go and cluster.go first and copy from them: they have the
// reconcilers. operator.go makes a manager, serve.go is the deployed operator,
// and api/v1 has the kinds. operation.go runs the long-running operations of
// the simulated cloud in cloud.go. The rest is the demonstration: story.go,
// chapters.go and restart.go have the actions of a person, why.go runs kubectl
// windlass, timeline.go and summary.go print the effects, and place.go starts the
// API server and prepares the namespace.
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

const usage = `Usage: operator [-timeout D] [-v]
       operator -run [-kubeconfig FILE] [-metrics ADDRESS]

Reconciles a cluster of a database service and its databases: databases wait for a missing cluster, the operator is
restarted during an operation, a Secret is rotated, a person stops the cluster and starts it again, and everything is
deleted. The cloud is simulated in this process. The API server is the part of kube-apiserver that serves custom resources,
with its etcd: tools/testserver, which the story builds the first time.

It prints a timeline in milliseconds: the actions of the person, and each change of an object's conditions. Then it
prints the requests to the cloud and the API server. It checks that the story went as expected.

  -timeout D        the limit for the story (default 2m0s)
  -run              run the operator without a story, for all namespaces, until it is interrupted; its simulated cloud is
                    lost at the end
  -kubeconfig FILE  with -run: use the cluster of FILE (default: the cluster of the pod)
  -metrics ADDRESS  with -run: the address of the metrics, such as :8080 (default: none)
  -v                log to stderr: the operator and controller-runtime; -run always does
  -h                this text

Exit codes: 0 the story went as expected, or the operator was interrupted; 1 it did not; 2 a flag or a file is wrong.
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

// Exit codes.
const (
	exitOK    = 0
	exitWrong = 1
	exitUsage = 2
)

type flags struct {
	kubeconfig, metrics string
	run, verbose        bool
	timeout             time.Duration
}

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
	logs(f.verbose || f.run, stderr)
	if !f.run {
		if err := f.runStory(ctx, stdout); err != nil {
			return fail(exitWrong, err)
		}
		return exitOK
	}
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
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "")
	set.BoolVar(&f.run, "run", false, "")
	set.StringVar(&f.metrics, "metrics", "", "")
	set.BoolVar(&f.verbose, "v", false, "")
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
	case (given["metrics"] || given["kubeconfig"]) && !f.run:
		return f, errors.New("-kubeconfig and -metrics need -run")
	case given["timeout"] && f.run:
		return f, errors.New("-timeout cannot be used with -run, which runs until it is interrupted")
	case f.timeout <= 0:
		return f, fmt.Errorf("-timeout: %s is too short; use more than 0s", f.timeout)
	}
	if f.metrics == "" {
		f.metrics = "0" // controller-runtime's value for none
	}
	return f, nil
}

// cluster returns the configuration of the cluster for -run, and the namespace of
// the user or the pod in it. An empty namespace means that of the pod.
func (f flags) cluster() (config *rest.Config, namespace string, err error) {
	if f.kubeconfig == "" {
		if config, err = rest.InClusterConfig(); err != nil {
			return nil, "", fmt.Errorf("-run without -kubeconfig FILE must run in a pod: %w", err)
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

var setUpLogs sync.Once

// logs sets the destination of the process's logs, once.
func logs(verbose bool, to io.Writer) { setUpLogs.Do(func() { setLogs(verbose, to) }) }

func setLogs(verbose bool, to io.Writer) {
	logger := logr.Discard()
	if verbose {
		logger = funcr.New(func(prefix, args string) { fmt.Fprintln(to, prefix, args) }, funcr.Options{LogTimestamp: true})
	}
	klog.SetLogger(logger)
	ctrl.SetLogger(logger)
}
