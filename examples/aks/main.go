// Command aks reconciles an AKS cluster and its agent pools against a simulated Azure, and shows what each check did.
//
// Read pools.go first: it is what the setup of a reconciler looks like, and what to copy. clusters.go is the same for
// the owner. The function setUp in telemetry.go is what it takes to have spans, metrics and log lines of both. All else is
// around that: simulation.go sets up a run, internal/cloud is the Azure, and
// examples/internal/sim, which all examples share, is the engine.
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
)

const usage = `Usage: aks [-manifests DIR] [-timeout D] [-explain NAME [-at D] [-json] | -otel | -otlp ENDPOINT]

Reconciles an AKS cluster and its agent pools. The requests go through the real Azure SDK to Microsoft's own fake
server, with the faults of a cloud added by a script. Time is virtual, so a run takes a moment and is always the same.

It prints a timeline (when, which resource, where it stopped, why, what it waits for, when it tries again), the flow
that ran, and what was sent to Azure, compared with a second run that leaves out the checks.

  -manifests DIR   read the *.yaml and *.yml files of DIR, not the ones shipped in examples/aks/manifests
  -timeout D       how long, in virtual time, everything has to get ready (default 1h0m0s)
  -explain NAME    run quietly, then say why the resource NAME, or KIND/NAME, is where it is
  -at D            with -explain: ask after D of virtual time (default: in the end)
  -json            with -explain: answer in JSON
  -otel            run with telemetry: print spans and metrics as JSON, with the exporters of OpenTelemetry's SDK, and
                   nothing else; log lines, which tell the story in place of the timeline, go to standard error
  -otlp ENDPOINT   run with telemetry: send spans and metrics by OTLP over HTTP to http://HOST:PORT, https://HOST:PORT
                   or HOST:PORT (http), and say how many spans were sent; the end waits 5 s for that at most
  -h               this text

Kinds of resources: ManagedCluster, AgentPool (spec.owner names its cluster, spec.subnet its subnet), and
Subnet (appearsAfter says when a person makes it).

Telemetry has a span for each pass, with an event for each check and other link. The passes run in virtual time, and spans
have the times of the clock on the wall, a few milliseconds for all of them: the attribute example.at of a span, and "at"
of a log line, is the virtual time.

Exit codes: 0 all is ready, or was explained; 1 not all is ready in time, or ENDPOINT did not take the telemetry; 2 a
manifest or a flag is wrong.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program.
func run(args []string, stdout, stderr io.Writer) int {
	var folder string
	var manifests *Manifests
	t := telemetry{within: 5 * time.Second}
	return sim.Command{
		Name: "aks", Usage: usage, Timeout: time.Hour,
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
			return &sim.Scenario{Engine: s.engine, Done: s.engine.AllReady}, nil
		},
	}.Run(args, stdout, stderr)
}

// show runs with, which has the checks, and prints all there is to see. Its error names the resources that are not ready
// in time.
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
