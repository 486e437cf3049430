// Command aks reconciles an AKS cluster and its agent pools against a simulated
// Azure. It prints the result of each check.
//
// Read pools.go first and copy from it: it sets up a reconciler. clusters.go
// does the same for the owner. setUp in telemetry.go adds spans, metrics and
// log lines to both. The rest is the simulation: simulation.go sets up a run,
// internal/cloud simulates Azure, and examples/internal/sim runs all examples.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow/why"
)

const usage = `Usage: aks [-manifests DIR] [-timeout D] [-explain NAME [-at D] [-json] | -html FILE [-at D] | -otel | -otlp ENDPOINT]

Reconciles an AKS cluster and its agent pools. The Azure SDK sends the requests to Microsoft's fake server, and a script
adds the faults of a cloud. Time is virtual: a run takes a moment, and all runs are equal.

It prints a timeline (time, resource, blocking link, cause, awaited objects, next pass), the flows, and the requests to
Azure, compared with a second run without checks.

  -manifests DIR   read the *.yaml and *.yml files of DIR, instead of examples/aks/manifests
  -timeout D       the limit for all resources to become ready, in virtual time (default 1h0m0s)
  -explain NAME    run without output, then explain the state of the resource NAME or KIND/NAME
  -at D            with -explain: explain after D of virtual time (default: at the end)
  -json            with -explain: print JSON
  -html FILE       run without output, then write a page: which resources wait, for what, and the root causes
                   (-at D: after D of virtual time; default 8m)
  -otel            run with telemetry: print only spans and metrics, as JSON, with the exporters of OpenTelemetry's SDK;
                   the log lines go to standard error in place of the timeline
  -otlp ENDPOINT   run with telemetry: send spans and metrics by OTLP over HTTP to http://HOST:PORT, https://HOST:PORT
                   or HOST:PORT (http), and print the number of spans sent; the last of them may take 5 s
  -h               this text

Kinds of resources: ManagedCluster, AgentPool (spec.owner names its cluster, spec.subnet its subnet), and Subnet
(appearsAfter is the time at which a person creates it).

Telemetry has a span for each pass, with an event for each check and other link. A span has real times, a few
milliseconds for the whole run. The virtual time is the attribute example.at of a span and "at" of a log line.

Exit codes: 0 all resources are ready, or the resource was explained; 1 not all resources are ready in time, or ENDPOINT
did not accept the telemetry; 2 a manifest or a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	var folder string
	var manifests *Manifests
	t := telemetry{flushTimeout: 5 * time.Second}
	return sim.Command{
		Name: "aks", Usage: usage, Timeout: time.Hour, PageAt: 8 * time.Minute,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&folder, "manifests", "", "")
			t.flags(flags)
		},
		Check: func(given map[string]bool) error {
			if given["manifests"] && folder == "" {
				return errors.New("-manifests: the folder's name is empty")
			}
			return t.check(given)
		},
		Load: func() (err error) {
			manifests, err = LoadManifests(folder)
			return err
		},
		Show: func(out io.Writer, timeout time.Duration) error {
			if t.on() {
				return t.show(out, stderr, timeout, manifests)
			}
			s, err := NewSimulation(manifests, true)
			if err != nil {
				return err
			}
			return show(context.Background(), out, timeout, manifests, s)
		},
		New: func() (*sim.Scenario, error) {
			s, err := NewSimulation(manifests, true)
			if err != nil {
				return nil, err
			}
			return &sim.Scenario{Engine: s.engine, Done: s.engine.AllReady, Flows: []why.Flow{why.FlowOf("ManagedCluster", s.clusters), why.FlowOf("AgentPool", s.pools)}}, nil
		},
	}.Run(args, stdout, stderr)
}

// show runs the simulation with checks, then one without, and prints both. Its
// error names the resources that are not ready in time.
func show(ctx context.Context, out io.Writer, timeout time.Duration, m *Manifests, with *Simulation) error {
	if err := with.engine.Show(ctx, out, timeout, with.engine.AllReady, with.engine.NotReady, "all is ready"); err != nil {
		return err
	}
	fmt.Fprintf(out, "The flows that ran:\n\n%s\n%s\n", with.clusters, with.pools)

	without, err := NewSimulation(m, false)
	if err != nil {
		return err
	}
	without.engine.RunUntil(ctx, timeout, without.engine.AllReady)
	compare(out, with, without)
	return nil
}
