// Command aks reconciles an AKS cluster and its agent pools against a simulated
// Azure. It prints the result of each check.
//
// Read pools.go first and copy from it: it sets up a reconciler. clusters.go does
// the same for the owner. The rest is the simulation: simulate sets up a run,
// internal/cloud simulates Azure, and examples/internal/sim runs all examples.
package main

import (
	"time"

	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aks/internal/cloud"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// simulate sets up a run: a cluster, two pools and a subnet.
func simulate(withChecks bool) *sim.Engine {
	e := sim.NewEngine()
	azureCloud := cloud.New(e.Now, &e.Tally)
	clients, err := connect(azureCloud)
	if err != nil {
		panic(err) // the options are constant
	}
	clusters, pools := clusterExtensions(), poolExtensions()
	if !withChecks {
		clusters, pools = sim.WithoutChecks(clusters), sim.WithoutChecks(pools)
	}
	options := append(e.Options(3), flow.WithErrors(azure.Errors()))

	cluster := &Cluster{Name: "demo", Location: "westeurope", KubernetesVersion: "1.34"}
	sim.Add(e, flow.New(clusterKind, clusterOperations(clients.NewManagedClustersClient()), clusters, options...), cluster)
	reconciler := flow.New(poolKind, poolOperations(clients.NewAgentPoolsClient(), e.Resolve), pools, options...)
	system := &AgentPool{Name: "system", Owner: cluster.Name, VMSize: "Standard_D4s_v5", Count: 3}
	batch := &AgentPool{Name: "batch", Owner: cluster.Name, VMSize: "Standard_D16s_v5", Count: 2, Subnet: "apps/batch"}
	for _, p := range []*AgentPool{system, batch} {
		sim.Add(e, reconciler, p)
	}
	e.At(9*time.Minute+30*time.Second, batch.SubnetRef().String(), "made by a person", func() {
		azureCloud.AddSubnet(subnetID(batch.Subnet))
		e.AddReady(batch.SubnetRef(), batch.Subnet)
	})
	return e
}

var program = sim.Program{
	Name: "aks", Runs: [2]string{"with checks", "without checks"}, New: simulate,
	About: `Reconciles the ManagedCluster demo and its pools, AgentPool system and batch. The Azure SDK sends the requests to
Microsoft's fake server, and a script adds the faults of a cloud. A person makes the subnet of batch later.
`,
}

func main() { program.Main() }
