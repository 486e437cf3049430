// Command aks reconciles an AKS cluster and its agent pools against a simulated
// Azure. It prints the result of each check.
//
// Read pools.go first and copy from it: it sets up a reconciler. clusters.go does
// the same for the owner. The rest is the simulation: simulation.go sets up a run, internal/cloud
// simulates Azure, and examples/internal/sim runs all examples.
package main

import "github.com/windlass-go/windlass/examples/internal/sim"

var program = sim.Program{
	Name: "aks", Runs: [2]string{"with checks", "without checks"},
	New: simulate,
	About: `Reconciles the ManagedCluster demo and its pools, AgentPool system and batch. The Azure SDK sends the requests to
Microsoft's fake server, and a script adds the faults of a cloud. A person makes the subnet of batch later.
`,
}

func main() { program.Main() }
