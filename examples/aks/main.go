// Command aks reconciles an AKS cluster and its agent pools against a simulated
// Azure. It prints the result of each check.
//
// Read pools.go first and copy from it: it sets up a reconciler. clusters.go does
// the same for the owner. setUp in telemetry.go adds spans, metrics and log lines
// to both. The rest is the simulation: simulation.go sets up a run, internal/cloud
// simulates Azure, and examples/internal/sim runs all examples.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

var program = sim.Program{
	Name: "aks", Runs: [2]string{"with checks", "without checks"}, PageAt: 8 * time.Minute,
	New: func(withChecks bool) *sim.Engine { return simulate(withChecks) },
	About: `Reconciles the ManagedCluster demo and its pools, AgentPool system and batch. The Azure SDK sends the requests to
Microsoft's fake server, and a script adds the faults of a cloud. A person makes the subnet of batch later.
`,
	More: `  -otel            alone: print only spans and metrics, as JSON, with the exporters of OpenTelemetry's SDK; the log lines
                   go to standard error

Telemetry has a span for each pass, with an event for each check and other link. A span has real times, a few
milliseconds for the whole run. The virtual time is the attribute example.at of a span and "at" of a log line.
`,
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if !slices.Equal(args, []string{"-otel"}) {
		return program.Run(args, stdout, stderr)
	}
	if err := printTelemetry(stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "aks: -otel:", err)
		return sim.ExitLate
	}
	return sim.ExitOK
}
