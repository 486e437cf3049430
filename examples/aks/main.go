// Command aks reconciles an AKS cluster and its agent pools against a simulated Azure, and shows what each check did.
//
// Read pools.go first: it is what the setup of a reconciler looks like, and what to copy. clusters.go is the same for
// the owner. All else is around that: simulation.go puts a run together, internal/cloud is the Azure, and in
// examples/internal, which all examples share, azure/operation.go is how a long-running operation is followed without
// waiting for it, and sim/engine.go says when each resource is reconciled.
package main

import (
	"context"
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

const usage = `Usage: aks [-manifests DIR] [-timeout D] [-explain NAME [-at D] [-json]]

Reconciles an AKS cluster and its agent pools. The requests go through the real Azure SDK to Microsoft's own fake
server, with the faults of a cloud added by a script. Time is virtual, so a run takes a moment and is always the same.

It prints a timeline (when, which resource, where it stopped, why, what it waits for, when it tries again), the flow
that ran, and what was sent to Azure, compared with a second run that leaves out the checks.

  -manifests DIR   read the *.yaml and *.yml files of DIR, not the ones shipped in examples/aks/manifests
  -timeout D       how long, in virtual time, everything has to get ready (default 1h0m0s)
  -explain NAME    run quietly, then say why the resource NAME, or KIND/NAME, is where it is
  -at D            with -explain: ask after D of virtual time (default: in the end)
  -json            with -explain: answer in JSON
  -h               this text

Kinds of resources: ManagedCluster, AgentPool (spec.owner names its cluster, spec.subnet its subnet), and
Subnet (appearsAfter says when a person makes it).

Exit codes: 0 all is ready, or was explained; 1 not all is ready in time; 2 a manifest or a flag is wrong.
`

const (
	exitOK       = 0
	exitNotReady = 1
	exitInput    = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	wrong := func(err error) int {
		fmt.Fprintln(stderr, "aks:", err)
		return exitInput
	}
	opts, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return exitOK
	}
	if err != nil {
		return wrong(err)
	}
	manifests, err := LoadManifests(opts.manifests)
	if err != nil {
		return wrong(err)
	}
	if opts.explain != "" {
		if err := explain(stdout, manifests, opts); err != nil {
			return wrong(err)
		}
		return exitOK
	}
	if err := show(stdout, manifests, opts); err != nil {
		fmt.Fprintln(stderr, "aks:", err)
		return exitNotReady
	}
	return exitOK
}

// options is what the flags say.
type options struct {
	manifests string
	timeout   time.Duration
	explain   string
	at        time.Duration
	json      bool
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("aks", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.manifests, "manifests", "", "")
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "")
	flags.StringVar(&o.explain, "explain", "", "")
	flags.DurationVar(&o.at, "at", -1, "")
	flags.BoolVar(&o.json, "json", false, "")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, fmt.Errorf("%w (-h shows what there is)", err)
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("what is %q? All arguments are flags (-h shows them)", flags.Arg(0))
	case given["manifests"] && o.manifests == "":
		return o, errors.New("-manifests: the folder's name is empty")
	case o.timeout <= 0:
		return o, fmt.Errorf("-timeout: %s is no time to get ready: give more than 0s", o.timeout)
	case given["explain"] && o.explain == "":
		return o, errors.New("-explain: the name is empty")
	case (given["at"] || given["json"]) && !given["explain"]:
		return o, errors.New("-at and -json go with -explain NAME")
	case given["at"] && o.at < 0:
		return o, fmt.Errorf("-at: %s is before the start: give 0s or more", o.at)
	}
	return o, nil
}

// show runs the manifests with the checks and prints all there is to see. Its error says who is not ready in time.
func show(out io.Writer, m *Manifests, opts options) error {
	with, err := NewSimulation(m, true, sim.NewTimeline(out))
	if err != nil {
		return err
	}
	with.engine.Run(context.Background(), opts.timeout, with.engine.AllReady)
	if !with.engine.AllReady() {
		return with.engine.NotReady(opts.timeout)
	}
	fmt.Fprintf(out, "%8s  all is ready\n\n", sim.Stamp(with.engine.Clock.Elapsed()))

	fmt.Fprintf(out, "The flows that ran:\n\n%s\n%s\n", with.clusters, with.pools)

	without, err := NewSimulation(m, false, sim.Silent{})
	if err != nil {
		return err
	}
	without.engine.Run(context.Background(), opts.timeout, without.engine.AllReady)
	compare(out, with, without)
	return nil
}

// explain runs the manifests up to a time and prints why a resource is where it is.
func explain(out io.Writer, m *Manifests, opts options) error {
	ref, err := m.find(opts.explain)
	if err != nil {
		return err
	}
	s, err := NewSimulation(m, true, sim.Silent{})
	if err != nil {
		return err
	}
	end, enough := opts.timeout, s.engine.AllReady
	if opts.at >= 0 {
		end, enough = opts.at, func() bool { return false }
	}
	s.engine.Run(context.Background(), end, enough)
	explanation, found := s.explain(ref)
	if !found {
		return fmt.Errorf("-explain: %s was not reconciled yet", ref)
	}
	if opts.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(explanation)
	}
	fmt.Fprintf(out, "%s\n", strings.TrimRight(explanation.String(), "\n"))
	return nil
}
