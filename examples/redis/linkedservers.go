package main

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// linkedServerOperations returns the functions that read a linked server from
// Azure, write it, and find its cache. location is the location of the other
// cache.
func linkedServerOperations(api *armredis.LinkedServerClient, objects checks.Resolver, location string) flow.Operations[*LinkedServer] {
	return flow.Operations[*LinkedServer]{
		Key: func(l *LinkedServer) string { return l.Name },

		Owner: func(ctx context.Context, l *LinkedServer) (checks.Object, error) {
			return objects(ctx, cacheRef(l.Cache))
		},

		Get: func(ctx context.Context, req *flow.Request[*LinkedServer]) (flow.Observation, error) {
			l := req.Resource
			found, err := api.Get(ctx, resourceGroup, l.Cache, l.Linked, nil)
			return azure.Observe(err, nil, func() bool {
				p := found.Properties
				return p != nil && p.LinkedRedisCacheID != nil && strings.EqualFold(*p.LinkedRedisCacheID, cacheID(l.Linked))
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*LinkedServer]) (flow.Progress, error) {
			l := req.Resource
			desired := armredis.LinkedServerCreateParameters{Properties: &armredis.LinkedServerCreateProperties{
				LinkedRedisCacheID: new(cacheID(l.Linked)), LinkedRedisCacheLocation: &location, ServerRole: new(armredis.ReplicationRoleSecondary),
			}}
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armredis.LinkedServerClientCreateResponse], error) {
					return api.BeginCreate(ctx, resourceGroup, l.Cache, l.Linked, desired,
						&armredis.LinkedServerClientBeginCreateOptions{ResumeToken: req.Token})
				},
				func(armredis.LinkedServerClientCreateResponse) {})
		},
	}
}
