package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// poolExtensions is what is special about agent pools. Each line spares Azure the requests that it would refuse, and
// tells a person why the pool is not there yet.
func poolExtensions() flow.Extensions[*AgentPool] {
	return flow.Extensions[*AgentPool]{
		// Before anything is asked or sent: is the cluster there, is it ready, and does nothing go on in it?
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(clusterState),
		),
		// After the GET and before the PUT: is the subnet there, and does Azure work on this pool already?
		PreCheck: chain.New(
			checks.ReferenceReady("network", func(p *AgentPool) []checks.Ref { return []checks.Ref{p.SubnetRef()} }),
			checks.ProvisioningState(poolState),
		),
		// What the default table would not look at again for an hour is over in minutes here.
		Classify: chain.New(
			classify.Table{{
				Name:    "ControlPlaneLagsBehind",
				Code:    "NodePoolMcVersionIncompatible",
				Message: classify.Contains("control plane version"),
				Retry:   classify.Slow,
			}}.Link(),
		),
	}
}

// poolState is the selector of a pool's state.
func poolState(p *AgentPool) *string { return p.Status.ProvisioningState }

// poolOperations is how an agent pool is read from Azure and written to it, and how its owner is found.
func poolOperations(api *armcontainerservice.AgentPoolsClient, objects checks.Resolver) flow.Operations[*AgentPool] {
	return flow.Operations[*AgentPool]{
		Key:        func(p *AgentPool) string { return p.Meta.Name },
		Generation: func(p *AgentPool) int64 { return p.Meta.Generation },

		Owner: func(ctx context.Context, p *AgentPool) (checks.Object, error) {
			return objects(ctx, p.OwnerRef())
		},

		Get: func(ctx context.Context, req *flow.Request[*AgentPool]) (flow.Observation, error) {
			p := req.Resource
			found, err := api.Get(ctx, resourceGroup, p.Spec.Owner, p.Meta.Name, nil)
			return azure.Observe(err, func() { p.Status.ProvisioningState = nil }, func() bool {
				p.observe(found.AgentPool)
				return p.same(found.AgentPool)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*AgentPool]) (flow.Progress, error) {
			p := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, p.Spec.Owner, p.Meta.Name, p.wanted(),
						&armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armcontainerservice.AgentPoolsClientCreateOrUpdateResponse) { p.observe(made.AgentPool) })
		},
	}
}

// wanted is the pool as Azure wants to be told.
func (p *AgentPool) wanted() armcontainerservice.AgentPool {
	properties := &armcontainerservice.ManagedClusterAgentPoolProfileProperties{VMSize: &p.Spec.VMSize, Count: &p.Spec.Count}
	if p.Spec.Subnet != "" {
		properties.VnetSubnetID = new(subnetID(p.Spec.Subnet))
	}
	return armcontainerservice.AgentPool{Properties: properties}
}

// same tells whether Azure has what the spec says.
func (p *AgentPool) same(found armcontainerservice.AgentPool) bool {
	f := found.Properties
	return f != nil && azure.Equal(f.VMSize, p.Spec.VMSize) && azure.Equal(f.Count, p.Spec.Count)
}

// observe takes over what Azure says of the pool.
func (p *AgentPool) observe(found armcontainerservice.AgentPool) {
	if found.Properties != nil {
		p.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
