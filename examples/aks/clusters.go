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

// clusterExtensions returns the checks of managed clusters: Azure refuses
// changes while an operation is under way.
func clusterExtensions() flow.Extensions[*Cluster] {
	return flow.Extensions[*Cluster]{
		PreCheck: chain.New(checks.ProvisioningState(clusterState)),
	}
}

// clusterState selects a cluster's state, for its own checks and for those of
// its pools.
func clusterState(c *Cluster) *string { return c.Status.ProvisioningState }

// clusterOperations returns the functions that read a cluster from Azure and
// write it.
func clusterOperations(api *armcontainerservice.ManagedClustersClient) flow.Operations[*Cluster] {
	return flow.Operations[*Cluster]{
		Key: func(c *Cluster) string { return c.Name },

		Get: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Observation, error) {
			c := req.Resource
			found, err := api.Get(ctx, resourceGroup, c.Name, nil)
			return azure.Observe(err, func() { c.Status.ProvisioningState = nil }, func() bool {
				c.observe(found.ManagedCluster)
				return c.matches(found.ManagedCluster)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Progress, error) {
			c := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armcontainerservice.ManagedClustersClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, c.Name, c.desired(),
						&armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armcontainerservice.ManagedClustersClientCreateOrUpdateResponse) {
					c.observe(made.ManagedCluster)
				})
		},
	}
}

// desired returns the cluster in the form of the SDK.
func (c *Cluster) desired() armcontainerservice.ManagedCluster {
	return armcontainerservice.ManagedCluster{
		Location:   &c.Location,
		Properties: &armcontainerservice.ManagedClusterProperties{KubernetesVersion: &c.KubernetesVersion},
	}
}

// matches reports whether the cluster in Azure has the spec.
func (c *Cluster) matches(found armcontainerservice.ManagedCluster) bool {
	p := found.Properties
	return p != nil && same(found.Location, c.Location) && azure.Equal(p.KubernetesVersion, c.KubernetesVersion)
}

// observe stores the state that Azure reports.
func (c *Cluster) observe(found armcontainerservice.ManagedCluster) {
	if found.Properties != nil {
		c.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
