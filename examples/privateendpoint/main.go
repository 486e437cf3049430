// Command privateendpoint reconciles private endpoints that wait for people to
// approve their connections.
//
// Read endpoints.go first and copy from it: it has the check of private
// endpoints. operations.go reads an endpoint from Azure and writes it. The rest
// is the simulation: script.go has the actions of people, simulation.go sets up
// a run, and report.go prints the conditions.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

const usage = `Usage: privateendpoint [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles private endpoints, each with its own story: the connection is approved by a rule, approved by a person after
a while, rejected, disconnected while in use, or has no status at first. The Azure SDK sends the requests to a small
simulated Azure. Time is virtual: a run takes a moment, and all runs are equal.

It prints a timeline (actions of people; passes with blocking link, cause and next pass), the conditions of each
endpoint over time, and the requests to Azure. A rejected connection is read again at the resync, every 5 minutes here
and about every hour by default.

  -timeout D       the limit for all stories to end, in virtual time (default 30m0s)
  -explain NAME    run without output, then explain the state of the endpoint NAME
  -at D            with -explain: explain after D of virtual time (default: at the end)
  -json            with -explain: print JSON
  -h               this text

Endpoints: web, billing, audit, partner, legacy, reports, gateway.

Exit codes: 0 all stories have ended, or the endpoint was explained; 1 not all ended in time; 2 a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return sim.Command{
		Name: "privateendpoint", Usage: usage, Timeout: 30 * time.Minute,
		Show: show,
		New: func() (*sim.Scenario, error) {
			s, err := NewSimulation(stories, true)
			if err != nil {
				return nil, err
			}
			return &sim.Scenario{Engine: s.engine, Done: s.done}, nil
		},
	}.Run(args, stdout, stderr)
}

// show prints a run of the stories. Its error names the endpoints whose story
// has not ended in time.
func show(out io.Writer, timeout time.Duration) error {
	with, err := NewSimulation(stories, true)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := with.engine.Show(ctx, out, timeout, with.done, with.late, "all stories have ended"); err != nil {
		return err
	}
	fmt.Fprintf(out, "The flow that ran:\n\n%s\n", with.endpoints)
	printHistory(out, with)

	without, err := NewSimulation(stories, false)
	if err != nil {
		return err
	}
	without.engine.RunUntil(ctx, timeout, without.done)
	printRequests(out, with, without)
	return nil
}
