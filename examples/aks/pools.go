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

// poolExtensions returns the checks and rules of agent pools. Each prevents
// requests that Azure would refuse, and explains why the pool is not ready.
func poolExtensions() flow.Extensions[*AgentPool] {
	return flow.Extensions[*AgentPool]{
		// Before all requests: the cluster must exist, be ready and have no
		// operation under way.
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(clusterState),
		),
		// After the GET, before the PUT: the subnet must exist, and the pool
		// must have no operation under way.
		PreCheck: chain.New(
			checks.ReferenceReady("network", func(p *AgentPool) []checks.Ref { return []checks.Ref{p.SubnetRef()} }),
			checks.ProvisioningState(poolState),
		),
		// The default table would retry this error after an hour. Here it ends
		// in minutes.
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

// poolState selects a pool's state.
func poolState(p *AgentPool) *string { return p.Status.ProvisioningState }

// poolOperations returns the functions that read a pool from Azure, write it,
// and find its owner.
func poolOperations(api *armcontainerservice.AgentPoolsClient, objects checks.Resolver) flow.Operations[*AgentPool] {
	return flow.Operations[*AgentPool]{
		Key: func(p *AgentPool) string { return p.Name },

		Owner: func(ctx context.Context, p *AgentPool) (checks.Object, error) {
			return objects(ctx, p.OwnerRef())
		},

		Get: func(ctx context.Context, req *flow.Request[*AgentPool]) (flow.Observation, error) {
			p := req.Resource
			found, err := api.Get(ctx, resourceGroup, p.Owner, p.Name, nil)
			return azure.Observe(err, func() { p.Status.ProvisioningState = nil }, func() bool {
				p.observe(found.AgentPool)
				return p.matches(found.AgentPool)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*AgentPool]) (flow.Progress, error) {
			p := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, p.Owner, p.Name, p.desired(),
						&armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armcontainerservice.AgentPoolsClientCreateOrUpdateResponse) { p.observe(made.AgentPool) })
		},
	}
}

// desired returns the pool in the form of the SDK.
func (p *AgentPool) desired() armcontainerservice.AgentPool {
	properties := &armcontainerservice.ManagedClusterAgentPoolProfileProperties{VMSize: &p.VMSize, Count: &p.Count}
	if p.Subnet != "" {
		properties.VnetSubnetID = new(subnetID(p.Subnet))
	}
	return armcontainerservice.AgentPool{Properties: properties}
}

// matches reports whether the pool in Azure has the spec.
func (p *AgentPool) matches(found armcontainerservice.AgentPool) bool {
	f := found.Properties
	return f != nil && same(f.VMSize, p.VMSize) && azure.Equal(f.Count, p.Count) &&
		(p.Subnet == "" || same(f.VnetSubnetID, subnetID(p.Subnet)))
}

// observe stores the state that Azure reports.
func (p *AgentPool) observe(found armcontainerservice.AgentPool) {
	if found.Properties != nil {
		p.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
