package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// cacheOperations returns the functions that read a cache from Azure and write
// it. It has no owner.
func cacheOperations(api *armredis.Client) flow.Operations[*Cache] {
	return flow.Operations[*Cache]{
		Key: func(c *Cache) string { return c.Name },

		Get: func(ctx context.Context, req *flow.Request[*Cache]) (flow.Observation, error) {
			c := req.Resource
			found, err := api.Get(ctx, resourceGroup, c.Name, nil)
			return azure.Observe(err, nil, func() bool {
				c.observe(found.ResourceInfo)
				p := found.Properties
				return p != nil && p.SKU != nil && azure.Equal(p.SKU.Capacity, c.Size)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Cache]) (flow.Progress, error) {
			c := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armredis.ClientCreateResponse], error) {
					return api.BeginCreate(ctx, resourceGroup, c.Name, c.desired(), &armredis.ClientBeginCreateOptions{ResumeToken: req.Token})
				},
				func(made armredis.ClientCreateResponse) { c.observe(made.ResourceInfo) })
		},
	}
}

// desired returns the cache in the form of the SDK. Only the tier Premium has
// linked servers.
func (c *Cache) desired() armredis.CreateParameters {
	return armredis.CreateParameters{Location: &c.Location, Properties: &armredis.CreateProperties{
		SKU: &armredis.SKU{Name: new(armredis.SKUNamePremium), Family: new(armredis.SKUFamilyP), Capacity: &c.Size},
	}}
}

// observe stores the state that Azure reports.
func (c *Cache) observe(found armredis.ResourceInfo) {
	c.State = ""
	if p := found.Properties; p != nil && p.ProvisioningState != nil {
		c.State = *p.ProvisioningState
	}
}
