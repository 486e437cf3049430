package main

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// clusterExtensions returns the checks of clusters. During an operation Azure
// refuses changes and the cluster is not Ready. Azure sends no event at the end
// of the operation, so the check requeues the cluster every minute. A stopped
// cluster is Ready, because its spec does not ask it to run. The databases
// check that it runs.
func clusterExtensions() flow.Extensions[*Cluster] {
	settled := chain.New(
		chain.Named("Settled", checks.ProvisioningState(clusterState, checks.WithAfter(time.Minute), checks.WithDenied(
			armkusto.StateCreating, armkusto.StateUpdating, armkusto.StateStarting, armkusto.StateStopping, armkusto.StateDeleting))),
		checks.ProvisioningState(clusterProvisioningState, checks.WithAfter(time.Minute)),
	)
	return flow.Extensions[*Cluster]{PreCheck: settled, PostCheck: settled}
}

// clusterState and clusterProvisioningState select a cluster's states, for its
// own checks and for those of its databases.
func clusterState(c *Cluster) *armkusto.State { return c.Status.State }

func clusterProvisioningState(c *Cluster) *armkusto.ProvisioningState {
	return c.Status.ProvisioningState
}

// clusterOperations returns the functions that read a cluster from Azure and
// write it.
func clusterOperations(api *armkusto.ClustersClient) flow.Operations[*Cluster] {
	return flow.Operations[*Cluster]{
		Key:        func(c *Cluster) string { return c.Meta.Name },
		Generation: func(c *Cluster) int64 { return c.Meta.Generation },

		Get: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Observation, error) {
			c := req.Resource
			found, err := api.Get(ctx, resourceGroup, c.Meta.Name, nil)
			return azure.Observe(err, func() { c.Status.ProvisioningState, c.Status.State = nil, nil }, func() bool {
				c.observe(found.Cluster)
				return c.matches(found.Cluster)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Cluster]) (flow.Progress, error) {
			c := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armkusto.ClustersClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, c.Meta.Name, c.desired(),
						&armkusto.ClustersClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armkusto.ClustersClientCreateOrUpdateResponse) { c.observe(made.Cluster) })
		},
	}
}

// desired returns the cluster in the form of the SDK.
func (c *Cluster) desired() armkusto.Cluster {
	return armkusto.Cluster{
		Location: &c.Spec.Location,
		SKU:      &armkusto.AzureSKU{Name: &c.Spec.SKU, Tier: new(armkusto.AzureSKUTierStandard), Capacity: &c.Spec.Capacity},
	}
}

// matches reports whether the cluster in Azure has the spec.
func (c *Cluster) matches(found armkusto.Cluster) bool {
	return azure.Equal(found.Location, c.Spec.Location) && found.SKU != nil &&
		azure.Equal(found.SKU.Name, c.Spec.SKU) && azure.Equal(found.SKU.Capacity, c.Spec.Capacity)
}

// observe stores the states that Azure reports.
func (c *Cluster) observe(found armkusto.Cluster) {
	if found.Properties != nil {
		c.Status = ClusterStatus{State: found.Properties.State, ProvisioningState: found.Properties.ProvisioningState}
	}
}
