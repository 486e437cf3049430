// Command redis reconciles two caches and what is in them against an Azure that refuses much with 409 Conflict, some of
// which is over in a moment and some of which is not.
//
// Read conflicts.go first: its two tables of one row each are what to copy. caches.go, firewallrules.go,
// patchschedules.go and linkedservers.go are how each kind is read from Azure and written to it. All else is around that:
// script.go holds Azure's refusals and the actions of people, simulation.go sets up a run, and report.go compares two.
package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

const usage = `Usage: redis [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles the caches east and west, and the firewall rule, patch schedule and linked server of east. The requests go
through the real Azure SDK to a small simulated Azure, which is busy at times with what nobody can see from outside: it
then refuses with Conflict and "try again later". A name that is taken is a Conflict, too. Time is virtual, so a run takes
a moment and is always the same.

It prints a timeline (when, which resource, where it stopped, why, by which rule it is tried again when), and compares
with a second run that leaves out the two rows of classification: what each refusal was taken for, what was sent to
Azure, and when all was ready.

  -timeout D       how long, in virtual time, everything has to get ready (default 1h0m0s)
  -explain NAME    run quietly, then say why the resource NAME, or KIND/NAME, is where it is
  -at D            with -explain: ask after D of virtual time (default: in the end)
  -json            with -explain: answer in JSON
  -h               this text

Resources: Cache east and west, FirewallRule office, PatchSchedule sunday, LinkedServer pair.

Exit codes: 0 all is ready, or was explained; 1 not all is ready in time; 2 a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
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

// show runs it with the rows and without, and prints all there is to see. Its error names the resources that are not
// ready in time.
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
