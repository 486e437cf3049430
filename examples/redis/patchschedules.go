package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// patchScheduleOperations returns the functions that read a patch schedule from
// Azure, write it, and find its cache.
func patchScheduleOperations(api *armredis.PatchSchedulesClient, objects checks.Resolver) flow.Operations[*PatchSchedule] {
	return flow.Operations[*PatchSchedule]{
		Key: func(s *PatchSchedule) string { return s.Name },

		Owner: func(ctx context.Context, s *PatchSchedule) (checks.Object, error) {
			return objects(ctx, cacheRef(s.Cache))
		},

		Get: func(ctx context.Context, req *flow.Request[*PatchSchedule]) (flow.Observation, error) {
			s := req.Resource
			found, err := api.Get(ctx, resourceGroup, s.Cache, armredis.DefaultNameDefault, nil)
			return azure.Observe(err, nil, func() bool {
				p := found.Properties
				return p != nil && len(p.ScheduleEntries) == 1 &&
					azure.Equal(p.ScheduleEntries[0].DayOfWeek, s.Day) && azure.Equal(p.ScheduleEntries[0].StartHourUTC, s.FromHour)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*PatchSchedule]) (flow.Progress, error) {
			s := req.Resource
			desired := armredis.PatchSchedule{Properties: &armredis.ScheduleEntries{
				ScheduleEntries: []*armredis.ScheduleEntry{{DayOfWeek: &s.Day, StartHourUTC: &s.FromHour}},
			}}
			_, err := api.CreateOrUpdate(ctx, resourceGroup, s.Cache, armredis.DefaultNameDefault, desired, nil)
			return done(err)
		},
	}
}
