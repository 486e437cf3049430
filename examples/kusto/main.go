// Command kusto reconciles a cluster of Azure Data Explorer and its hundred databases against a simulated Azure, while a
// person stops the cluster and starts it again.
//
// Read databases.go first: it is what the setup of a reconciler looks like, and what to copy. clusters.go is the same for
// the owner. All else is around that: kusto.go is what is special about the service, script.go what happens to the
// cluster, simulation.go puts a run together, and groups.go prints it. In examples/internal, which all examples share,
// azure/operation.go is how a long-running operation is followed without waiting for it, azure/server.go is the Azure,
// and sim/engine.go says when each resource is reconciled.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
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
	failed := func(code int, err error) int {
		fmt.Fprintln(stderr, "kusto:", err)
		return code
	}
	f, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
	case err != nil:
		return failed(sim.ExitInput, err)
	case f.explain != "":
		if err := explain(stdout, f); err != nil {
			return failed(sim.ExitInput, err)
		}
	default:
		if err := show(stdout, f); err != nil {
			return failed(sim.ExitLate, err)
		}
	}
	return sim.ExitOK
}

// flags is what the flags say.
type flags struct {
	Options
	timeout time.Duration
	explain string
	at      time.Duration // negative: in the end
	json    bool
}

func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("kusto", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.IntVar(&f.Databases, "databases", 100, "")
	set.BoolVar(&f.Untold, "untold", false, "")
	set.DurationVar(&f.timeout, "timeout", time.Hour, "")
	set.StringVar(&f.explain, "explain", "", "")
	set.DurationVar(&f.at, "at", -1, "")
	set.BoolVar(&f.json, "json", false, "")
	if err := set.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return f, err
		}
		return f, fmt.Errorf("%w (-h shows what there is)", err)
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case set.NArg() > 0:
		return f, fmt.Errorf("what is %q? All arguments are flags (-h shows them)", set.Arg(0))
	case f.Databases < 1 || f.Databases > maxDatabases:
		return f, fmt.Errorf("-databases: %d is out of range: give 1 to %d", f.Databases, maxDatabases)
	case f.timeout <= 0:
		return f, fmt.Errorf("-timeout: %s is no time to get ready: give more than 0s", f.timeout)
	case given["explain"] && f.explain == "":
		return f, errors.New("-explain: the name is empty")
	case (given["at"] || given["json"]) && !given["explain"]:
		return f, errors.New("-at and -json go with -explain NAME")
	case given["at"] && f.at < 0:
		return f, fmt.Errorf("-at: %s is before the start: give 0s or more", f.at)
	}
	return f, nil
}

// show runs the script with the checks and prints all there is to see. Its error says who is not ready in time.
func show(out io.Writer, f flags) error {
	lines := NewGroups(out)
	with, err := NewSimulation(f.Options, true, lines)
	if err != nil {
		return err
	}
	with.Run(f.timeout, with.Done)
	lines.Flush()
	if !with.Done() {
		return with.late(f.timeout)
	}
	fmt.Fprintf(out, "%8s  all is ready\n\n", sim.Stamp(with.engine.Clock.Elapsed()))

	fmt.Fprintf(out, "The flows that ran:\n\n%s\n%s\n", with.clusters, with.databases)

	without, err := NewSimulation(f.Options, false, sim.Silent{})
	if err != nil {
		return err
	}
	without.Run(f.timeout, without.Done)
	compare(out, with, without)
	return nil
}

// explain runs the script up to a time and prints why a resource is where it is.
func explain(out io.Writer, f flags) error {
	s, err := NewSimulation(f.Options, true, sim.Silent{})
	if err != nil {
		return err
	}
	ref, err := s.find(f.explain)
	if err != nil {
		return err
	}
	if f.at < 0 {
		s.Run(f.timeout, s.Done)
	} else {
		s.Run(f.at, func() bool { return false })
	}
	explanation, found := s.explain(ref)
	if !found {
		return fmt.Errorf("-explain: %s was not reconciled yet", ref)
	}
	if f.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(explanation)
	}
	fmt.Fprintf(out, "%s\n", strings.TrimRight(explanation.String(), "\n"))
	return nil
}
