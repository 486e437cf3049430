// Command kusto reconciles a cluster of Azure Data Explorer and its hundred
// databases against a simulated Azure. Meanwhile a person stops the cluster and
// starts it again.
//
// Read databases.go first and copy from it: it sets up a reconciler.
// clusters.go does the same for the owner. The rest is the simulation: kusto.go
// has the rules of the service, script.go the events, and simulation.go sets up
// a run. The packages armsim and sim in examples/internal are shared by all
// examples.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

const usage = `Usage: kusto [-databases N] [-no-events] [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles a cluster of Azure Data Explorer and its databases. The Azure SDK sends the requests to a small server that
speaks Azure's wire format. Time is virtual: a run takes a moment, and all runs are equal.

While the cluster does not run, Azure refuses every request about its databases. A person stops the cluster, changes all
databases, and starts the cluster again. An owner check runs before the first request about a database.

It prints a timeline (time, resources, blocking link, cause, awaited objects, next pass), the flows, and the requests to
Azure, compared with a second run without checks.

  -databases N     the number of databases, 1 to 1000 (default 100)
  -no-events       the engine receives no event when a person stops or starts the cluster; the next pass reads the state
  -timeout D       the limit for the whole script, in virtual time (default 1h0m0s)
  -explain NAME    run without output, then explain the state of the resource NAME or KIND/NAME
  -at D            with -explain: explain after D of virtual time (default: at the end)
  -json            with -explain: print JSON
  -h               this text

Resources: Cluster demo and Database db-001, db-002 and so on.

Exit codes: 0 all resources are ready, or the resource was explained; 1 not all resources are ready in time; 2 a flag is
wrong.
`

// maxDatabases limits the duration of a run.
const maxDatabases = 1000

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	var o Options
	return sim.Command{
		Name: "kusto", Usage: usage, Timeout: time.Hour,
		Flags: func(flags *flag.FlagSet) {
			flags.IntVar(&o.Databases, "databases", 100, "")
			flags.BoolVar(&o.NoEvents, "no-events", false, "")
		},
		Check: func(map[string]bool) error {
			if o.Databases < 1 || o.Databases > maxDatabases {
				return fmt.Errorf("-databases: %d is out of range; use 1 to %d", o.Databases, maxDatabases)
			}
			return nil
		},
		Show: func(out io.Writer, timeout time.Duration) error { return show(out, timeout, o) },
		New: func() (*sim.Scenario, error) {
			s, err := NewSimulation(o, true)
			if err != nil {
				return nil, err
			}
			return &sim.Scenario{Engine: s.engine, All: s.all(), Done: s.Done}, nil
		},
	}.Run(args, stdout, stderr)
}

// show prints a run with checks and a comparison with a run without. Its error
// names the resources that are not ready in time.
func show(out io.Writer, timeout time.Duration, o Options) error {
	with, err := NewSimulation(o, true)
	if err != nil {
		return err
	}
	if err := with.engine.Show(context.Background(), out, timeout, with.Done, with.late, "all is ready"); err != nil {
		return err
	}
	fmt.Fprintf(out, "The flows that ran:\n\n%s\n%s\n", with.clusters, with.databases)

	without, err := NewSimulation(o, false)
	if err != nil {
		return err
	}
	without.engine.RunUntil(context.Background(), timeout, without.Done)
	compare(out, with, without)
	return nil
}
