// Command kusto reconciles a cluster of Azure Data Explorer and its hundred databases against a simulated Azure, while a
// person stops the cluster and starts it again.
//
// Read databases.go first: it is what the setup of a reconciler looks like, and what to copy. clusters.go is the same for
// the owner. All else is around that: kusto.go is what is special about the service, script.go what happens to the
// cluster, and simulation.go sets up a run. In examples/internal, which all examples share, armsim is the Azure, and sim the
// engine.
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

const usage = `Usage: kusto [-databases N] [-untold] [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles a cluster of Azure Data Explorer and its databases. The requests go through the real Azure SDK to a small
server that speaks Azure's wire format. Time is virtual, so a run takes a moment and is always the same.

While the cluster does not run, Azure refuses every request about its databases. A person stops it, changes all
databases meanwhile, and starts it again. An owner check stands before the first request about a database.

It prints a timeline (when, which resources, where they stopped, why, what they wait for, when they try again), the
flows that ran, and what was sent to Azure, compared with a second run that leaves out the checks.

  -databases N     how many databases the cluster has, 1 to 1000 (default 100)
  -untold          nobody tells the engine when a person stops or starts the cluster: it is seen at the next look at it
  -timeout D       how long, in virtual time, all of it may take (default 1h0m0s)
  -explain NAME    run quietly, then say why the resource NAME, or KIND/NAME, is where it is
  -at D            with -explain: ask after D of virtual time (default: in the end)
  -json            with -explain: answer in JSON
  -h               this text

Resources: Cluster demo and Database db-001, db-002 and so on.

Exit codes: 0 all is ready, or was explained; 1 not all is ready in time; 2 a flag is wrong.
`

// maxDatabases keeps a run short.
const maxDatabases = 1000

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	var o Options
	return sim.Command{
		Name: "kusto", Usage: usage, Timeout: time.Hour,
		Flags: func(flags *flag.FlagSet) {
			flags.IntVar(&o.Databases, "databases", 100, "")
			flags.BoolVar(&o.Untold, "untold", false, "")
		},
		Check: func(map[string]bool) error {
			if o.Databases < 1 || o.Databases > maxDatabases {
				return fmt.Errorf("-databases: %d is out of range: give 1 to %d", o.Databases, maxDatabases)
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

// show runs the script with the checks and prints all there is to see. Its error names the resources that are not ready
// in time.
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
