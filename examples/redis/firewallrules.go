package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// firewallRuleOperations returns the functions that read a firewall rule from
// Azure, write it, and find its cache.
func firewallRuleOperations(api *armredis.FirewallRulesClient, objects checks.Resolver) flow.Operations[*FirewallRule] {
	return flow.Operations[*FirewallRule]{
		Key: func(r *FirewallRule) string { return r.Name },

		Owner: func(ctx context.Context, r *FirewallRule) (checks.Object, error) {
			return objects(ctx, cacheRef(r.Cache))
		},

		Get: func(ctx context.Context, req *flow.Request[*FirewallRule]) (flow.Observation, error) {
			r := req.Resource
			found, err := api.Get(ctx, resourceGroup, r.Cache, r.Name, nil)
			return azure.Observe(err, nil, func() bool {
				p := found.Properties
				return p != nil && azure.Equal(p.StartIP, r.From) && azure.Equal(p.EndIP, r.To)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*FirewallRule]) (flow.Progress, error) {
			r := req.Resource
			desired := armredis.FirewallRule{Properties: &armredis.FirewallRuleProperties{StartIP: &r.From, EndIP: &r.To}}
			_, err := api.CreateOrUpdate(ctx, resourceGroup, r.Cache, r.Name, desired, nil)
			return done(err)
		},
	}
}
