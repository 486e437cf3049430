package aso_test

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// NodePool is an agent pool. Azure refuses changes while its cluster is
// upgraded, updated or stopped.
type NodePool struct{ Name string }

// nodePoolExtensions check the cluster in the form of the Azure SDK. A nil
// pointer means that Azure has not reported the field.
var nodePoolExtensions = flow.Extensions[*NodePool]{
	OwnerCheck: chain.New(
		// During an operation the state is none of Succeeded, Failed and
		// Canceled.
		checks.OwnerProvisioningState(func(c *armcontainerservice.ManagedCluster) *string { return c.Properties.ProvisioningState }),
		// A stopped cluster has the provisioning state Succeeded and the power
		// state Stopped.
		chain.Named("OwnerRuns", checks.OwnerProvisioningState(
			func(c *armcontainerservice.ManagedCluster) *armcontainerservice.Code {
				return c.Properties.PowerState.Code
			},
			checks.WithAllowed(armcontainerservice.CodeRunning), checks.WithReason("ClusterNotRunning"))),
	),
}

// Example_agentPools: pools wait for their cluster.
func Example_agentPools() {
	cluster := &armcontainerservice.ManagedCluster{}
	puts := 0
	pools := flow.New("AgentPool", flow.Operations[*NodePool]{
		Key: func(p *NodePool) string { return p.Name },
		Owner: func(context.Context, *NodePool) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "ManagedCluster", Name: "prod"}, Value: cluster}, nil
		},
		Apply: func(context.Context, *flow.Request[*NodePool]) (flow.Progress, error) {
			puts++
			return flow.Done(), nil
		},
	}, nodePoolExtensions)

	reconcile := func() {
		out := pools.Reconcile(context.Background(), &NodePool{Name: "system"})
		fmt.Println(out)
		if out.State() == flow.StateBlocked {
			fmt.Println("  waits for", out.WaitingFor(), "and is retried", out.Retry())
		}
	}
	reconcile()

	running := &armcontainerservice.PowerState{Code: new(armcontainerservice.CodeRunning)}
	stopped := &armcontainerservice.PowerState{Code: new(armcontainerservice.CodeStopped)}
	for _, p := range []armcontainerservice.ManagedClusterProperties{
		{ProvisioningState: new("Upgrading"), PowerState: running},
		{ProvisioningState: new("Updating"), PowerState: running},
		{ProvisioningState: new("Succeeded"), PowerState: stopped},
	} {
		cluster.Properties = &p
		reconcile()
	}
	cluster.Properties = &armcontainerservice.ManagedClusterProperties{ProvisioningState: new("Succeeded"), PowerState: running}
	fmt.Println(puts, "PUTs so far")
	reconcile()
	// Output:
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerStateUnknown: owner ManagedCluster prod has not reported a state yet: it must be Succeeded, Failed or Canceled
	//   waits for [ManagedCluster prod] and is retried slow
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner ManagedCluster prod is in state "Upgrading": it must be Succeeded, Failed or Canceled
	//   waits for [ManagedCluster prod] and is retried slow
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner ManagedCluster prod is in state "Updating": it must be Succeeded, Failed or Canceled
	//   waits for [ManagedCluster prod] and is retried slow
	// blocked at OwnerCheck by OwnerRuns: ClusterNotRunning: owner ManagedCluster prod is in state "Stopped": it must be Running
	//   waits for [ManagedCluster prod] and is retried slow
	// 0 PUTs so far
	// ready
}
