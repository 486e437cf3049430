// Command redis reconciles two caches and their children. Azure refuses many
// requests with 409 Conflict. Some of these conflicts end in a moment, others
// last.
//
// Read conflicts.go first and copy its two tables of one row each. caches.go,
// firewallrules.go, patchschedules.go and linkedservers.go read and write each
// kind. The rest is the simulation: script.go has the refusals and the actions
// of people, simulation.go sets up a run, and report.go compares two runs.
package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

const usage = `Usage: redis [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles the caches east and west, and the firewall rule, patch schedule and linked server of east. The Azure SDK
sends the requests to a small simulated Azure. At times a cache is busy although its state is Succeeded: Azure then
refuses with Conflict and "try again later". A name that is taken is a Conflict, too. Time is virtual: a run takes a
moment, and all runs are equal.

It prints a timeline (time, resource, blocking link, cause, rule, next pass). Then it compares a run without the two
rows of classification: the classification of each refusal, the requests to Azure, and the time until each resource is
ready.

  -timeout D       the limit for all resources to become ready, in virtual time (default 1h0m0s)
  -explain NAME    run without output, then explain the state of the resource NAME or KIND/NAME
  -at D            with -explain: explain after D of virtual time (default: at the end)
  -json            with -explain: print JSON
  -h               this text

Resources: Cache east and west, FirewallRule office, PatchSchedule sunday, LinkedServer pair.

Exit codes: 0 all resources are ready, or the resource was explained; 1 not all resources are ready in time; 2 a flag is
wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return sim.Command{
		Name: "redis", Usage: usage, Timeout: time.Hour,
		Show: show,
		New: func() (*sim.Scenario, error) {
			s, err := NewSimulation(true)
			if err != nil {
				return nil, err
			}
			return &sim.Scenario{Engine: s.engine, Done: s.engine.AllReady}, nil
		},
	}.Run(args, stdout, stderr)
}

// show prints a run with the rows and a comparison with a run without. Its
// error names the resources that are not ready in time.
func show(out io.Writer, timeout time.Duration) error {
	with, err := NewSimulation(true)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := with.engine.Show(ctx, out, timeout, with.engine.AllReady, with.engine.NotReady, "all is ready"); err != nil {
		return err
	}
	without, err := NewSimulation(false)
	if err != nil {
		return err
	}
	without.engine.RunUntil(ctx, timeout, without.engine.AllReady)
	printRefusals(out, with, without)
	printVersions(out, with)
	compare(out, with, without)
	return nil
}
