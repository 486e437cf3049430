package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// clusterExtensions is what is special about managed clusters: Azure refuses changes while it works on one.
func clusterExtensions() flow.Extensions[*Cluster] {
	return flow.Extensions[*Cluster]{
		PreCheck: chain.New(
			checks.ProvisioningState(clusterState),
		),
	}
}

// clusterState is the selector of a cluster's state, for its own checks and for those of its pools.
func clusterState(c *Cluster) *string { return c.Status.ProvisioningState }

// clusterOperations is how a cluster is read from Azure and written to it.
func clusterOperations(api *armcontainerservice.ManagedClustersClient) flow.Operations[*Cluster] {
	return flow.Operations[*Cluster]{
		Key:        func(c *Cluster) string { return c.Meta.Name },
		Generation: func(c *Cluster) int64 { return c.Meta.Generation },

		Get: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Observation, error) {
			c := req.Resource
			found, err := api.Get(ctx, resourceGroup, c.Meta.Name, nil)
			return azure.Observe(err, func() { c.Status.ProvisioningState = nil }, func() bool {
				c.observe(found.ManagedCluster)
				return c.same(found.ManagedCluster)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Progress, error) {
			c := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armcontainerservice.ManagedClustersClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, c.Meta.Name, c.wanted(),
						&armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armcontainerservice.ManagedClustersClientCreateOrUpdateResponse) {
					c.observe(made.ManagedCluster)
				})
		},
	}
}

// wanted is the cluster as Azure wants to be told.
func (c *Cluster) wanted() armcontainerservice.ManagedCluster {
	return armcontainerservice.ManagedCluster{
		Location:   &c.Spec.Location,
		Properties: &armcontainerservice.ManagedClusterProperties{KubernetesVersion: &c.Spec.KubernetesVersion},
	}
}

// same tells whether Azure has what the spec says.
func (c *Cluster) same(found armcontainerservice.ManagedCluster) bool {
	p := found.Properties
	return p != nil && azure.Equal(found.Location, c.Spec.Location) && azure.Equal(p.KubernetesVersion, c.Spec.KubernetesVersion)
}

// observe takes over what Azure says of the cluster.
func (c *Cluster) observe(found armcontainerservice.ManagedCluster) {
	if found.Properties != nil {
		c.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
