// Command buckets reconciles an account and its buckets against a service
// outside Azure: a small object store with a gRPC API, whose creates are
// long-running operations. Copy this example for any other cloud.
//
// Read buckets.go first: the operations and the checks of one kind.
// operation.go starts and polls an operation. accounts.go has the owner.
// simulation.go has the line that reads the errors of gRPC. script.go has the
// faults, report.go the comparison, and internal/storage the service.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow/flowtest"
)

const usage = `Usage: buckets [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles the account acme and its buckets logs, media and backup. The requests
go by gRPC over loopback to a small object store, whose creates are long-running
operations. The store refuses some polls, because it is unavailable or throttles,
and one create because of a quota. Time is virtual: a run takes a moment, and all
runs are equal.

It prints the timeline of a run that reads the errors of gRPC with one line:
flow.WithErrors(...). Then it compares a run without that line: the conditions,
the requests, the operations, and the time until all resources are ready. Neither
run starts a second operation for a bucket: a failed poll does not mean that the
operation has failed.

The operation of the last bucket, archive, does fail. One run reports that with
flow.Failed, the other one as any other error.

  -timeout D       the limit for all resources to become ready, in virtual time (default 30m0s)
  -explain NAME    run without output, then explain the state of the resource NAME or KIND/NAME
  -at D            with -explain: explain after D of virtual time (default: at the end)
  -json            with -explain: print JSON
  -h               this text

Resources: Account acme, Bucket logs, media and backup.

Exit codes: 0 all resources are ready, or the resource was explained; 1 not all
resources are ready in time; 2 a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return sim.Command{
		Name: "buckets", Usage: usage, Timeout: 30 * time.Minute,
		Show: show,
		New: func() (*sim.Scenario, error) {
			s, err := NewSimulation(Options{Story: refused, Reader: true})
			if err != nil {
				return nil, err
			}
			return &sim.Scenario{Engine: s.engine, Done: s.engine.AllReady, Close: s.Close}, nil
		},
	}.Run(args, stdout, stderr)
}

// show prints four runs. Its error names the resources that are not ready in
// time.
func show(out io.Writer, timeout time.Duration) error {
	reader, err := NewSimulation(Options{Story: refused, Reader: true})
	if err != nil {
		return err
	}
	defer reader.Close()
	ready := reader.engine.AllReady
	if err := reader.engine.Show(context.Background(), out, timeout, ready, reader.engine.NotReady, "all is ready"); err != nil {
		return err
	}

	none, err := simulate(Options{Story: refused}, timeout)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The first error of each bucket in its condition Ready:\n\n")
	compare(out, refused, reader, none, "with reader", "without reader")

	marked, err := simulate(Options{Story: failed, Reader: true}, timeout)
	if err != nil {
		return err
	}
	plain, err := simulate(Options{Story: failed, Reader: true, Plain: true}, timeout)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAnother bucket, whose operation fails at %s, reported with flow.Failed and as any other error:\n\n",
		flowtest.Stamp(failsAt))
	compare(out, failed, marked, plain, "flow.Failed", "plain error")
	return nil
}

// simulate runs until all resources are ready or until timeout.
func simulate(o Options, timeout time.Duration) (*Simulation, error) {
	s, err := NewSimulation(o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	s.engine.RunUntil(context.Background(), timeout, s.engine.AllReady)
	return s, nil
}
