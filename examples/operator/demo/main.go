// Command demo is a demonstration of the operator with a small API server: the
// story of one cluster and its databases. Copy nothing from here.
//
// story.go and chapters.go have the actions of a person, why.go runs
// kubectl windlass, timeline.go and summary.go print the effects.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/examples/operator/internal/apiserver"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

const usage = `Usage: demo [-timeout D] [-v]

Tells the story of a database service and its databases: databases wait for a missing cluster, the operator is
restarted during an operation, a Secret is rotated, a person stops the cluster and starts it again, and everything is
deleted. The cloud is simulated in this process. The API server is the part of kube-apiserver that serves custom resources,
with its etcd: tools/testserver, which the story builds the first time.

It prints a timeline in milliseconds: the actions of the person, and each change of an object's conditions. Then it
prints the requests to the cloud and the API server. It checks that the story went as expected.

  -timeout D        the limit for the story (default 2m0s)
  -v                log to stderr: the operator and controller-runtime

Exit codes: 0 the story went as expected; 1 it did not; 2 a flag is wrong.
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
	set := flag.NewFlagSet("demo", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() { fmt.Fprint(stderr, usage) }
	timeout, verbose := set.Duration("timeout", 2*time.Minute, ""), set.Bool("v", false, "")
	switch err := set.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil: // the flag set has printed it
		return exitUsage
	case set.NArg() > 0:
		fmt.Fprintf(stderr, "demo: unexpected argument %q: all arguments are flags\n\n%s", set.Arg(0), usage)
		return exitUsage
	}
	if *verbose {
		ctrl.SetLogger(klog.Background())
	} else {
		quiet()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("out of time after %s", *timeout))
	defer cancel()
	if err := runStory(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "demo: %v\n", errors.Join(err, context.Cause(ctx)))
		return exitWrong
	}
	return exitOK
}

// runStory starts a small API server and runs the story there.
func runStory(ctx context.Context, out io.Writer) error {
	started := time.Now()
	file, stop, err := smallserver.Start()
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintf(out, "A small API server runs; it started in %d ms. The first object of each kind takes two seconds.\n\n",
		time.Since(started).Milliseconds())
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return err
	}
	config.QPS = -1 // no limit, as in ctrl.GetConfig
	api, err := apiserver.Connect(config)
	if err != nil {
		return err
	}
	s := NewStory(out, api, file, config, "default")
	if err := s.Tell(ctx); err != nil {
		return err
	}
	return s.Summary(out)
}

// quiet turns the logs of the process off.
var quiet = sync.OnceFunc(func() {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
})
