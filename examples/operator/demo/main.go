// Command demo is a demonstration of the operator with a small API server: the
// story of one cluster and its databases. Copy nothing from here.
//
// story.go, chapters.go and restart.go have the actions of a person, why.go runs
// kubectl windlass, timeline.go and summary.go print the effects.
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
  -h                this text

Exit codes: 0 the story went as expected; 1 it did not; 2 a flag is wrong.
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
	verbose bool
	timeout time.Duration
}

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fail := func(code int, err error) int {
		fmt.Fprintf(stderr, "demo: %v\n", err)
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
	logs(f.verbose, stderr)
	if err := f.runStory(ctx, stdout); err != nil {
		return fail(exitWrong, err)
	}
	return exitOK
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("demo", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.DurationVar(&f.timeout, "timeout", 2*time.Minute, "")
	set.BoolVar(&f.verbose, "v", false, "")
	if err := set.Parse(args); err != nil {
		return f, fmt.Errorf("%w (-h lists the flags)", err)
	}
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q: all arguments are flags (-h lists them)", set.Arg(0))
	case f.timeout <= 0:
		return f, fmt.Errorf("-timeout: %s is too short; use more than 0s", f.timeout)
	}
	return f, nil
}

// runStory starts a small API server and runs the story there.
func (f flags) runStory(ctx context.Context, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("out of time after %s", f.timeout))
	defer cancel()
	defer func() { // add the cause of the end to the error
		if why := context.Cause(ctx); err != nil && why != nil && !errors.Is(err, why) {
			err = fmt.Errorf("%w: %w", why, err)
		}
	}()
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
	api, err := apiserver.NewClient(config)
	if err != nil {
		return err
	}
	if err := apiserver.Install(ctx, api); err != nil {
		return err
	}
	s := NewStory(out, api, file, config, "default")
	if err := s.Tell(ctx); err != nil {
		return err
	}
	return s.Summary(out)
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
