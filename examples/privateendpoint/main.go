// Command privateendpoint reconciles private endpoints that wait for people to approve their connections.
//
// Read endpoints.go first: it is short, it is all that is special about private endpoints, and it is what to copy.
// operations.go is how an endpoint is read from Azure and written to it. All else is around that: script.go says what
// people do, simulation.go sets up a run, and report.go prints what an operator saw.
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

Reconciles private endpoints, each with a story of its own: the connection is approved by a rule, or by a person after a
while, or rejected, or disconnected after it was in use, or nothing is said of it at first. The requests go through the
real Azure SDK to a small simulated Azure. Time is virtual, so a run takes a moment and is always the same.

It prints a timeline (what people do; when each endpoint is looked at, where it stopped and why, when it is looked at
again), what stood in the status of each endpoint since when, and what was sent to Azure. What only a person can mend is
looked at at the resync, which is every 5 minutes here and about every hour by default.

  -timeout D       how long, in virtual time, each endpoint has to reach the end of its story (default 30m0s)
  -explain NAME    run quietly, then say why the endpoint NAME is where it is
  -at D            with -explain: ask after D of virtual time (default: in the end)
  -json            with -explain: answer in JSON
  -h               this text

Endpoints: web, billing, audit, partner, legacy, reports, gateway.

Exit codes: 0 each story came to its end, or was explained; 1 not each in time; 2 a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
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

// show runs the stories and prints all there is to see. Its error says which endpoints are not at their end in time.
func show(out io.Writer, timeout time.Duration) error {
	with, err := NewSimulation(stories, true)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := with.engine.Show(ctx, out, timeout, with.done, with.late, "each story has come to its end"); err != nil {
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
