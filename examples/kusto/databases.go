package main

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// databaseExtensions returns the checks of databases. Azure refuses even a GET
// of a database while its cluster does not run. Owner checks run before the
// GET, so they prevent it.
func databaseExtensions() flow.Extensions[*Database] {
	return flow.Extensions[*Database]{
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(clusterProvisioningState),
			chain.Named("OwnerRunning",
				checks.OwnerProvisioningState(clusterState, checks.WithAllowed(armkusto.StateRunning), checks.WithReason("OwnerNotRunning"))),
		),
		PreCheck: chain.New(
			checks.ProvisioningState(databaseProvisioningState),
		),
	}
}

// databaseProvisioningState selects a database's state.
func databaseProvisioningState(d *Database) *armkusto.ProvisioningState {
	return d.Status.ProvisioningState
}

// databaseOperations returns the functions that read a database from Azure,
// write it, and find its owner.
func databaseOperations(api *armkusto.DatabasesClient, objects checks.Resolver) flow.Operations[*Database] {
	return flow.Operations[*Database]{
		Key:        func(d *Database) string { return d.Meta.Name },
		Generation: func(d *Database) int64 { return d.Meta.Generation },

		// The owner has the states of its last pass. A hundred databases send
		// no GET for it. A later change is known after an event or the owner's
		// next pass: see -no-events.
		Owner: func(ctx context.Context, d *Database) (checks.Object, error) {
			return objects(ctx, d.OwnerRef())
		},

		Get: func(ctx context.Context, req *flow.Request[*Database]) (flow.Observation, error) {
			d := req.Resource
			found, err := api.Get(ctx, resourceGroup, d.Spec.Owner, d.Meta.Name, nil)
			database, ok := found.DatabaseClassification.(*armkusto.ReadWriteDatabase)
			if err == nil && !ok {
				return flow.Observation{}, fmt.Errorf("%s is a %T in Azure; delete it there or use another name",
					d.Meta.Name, found.DatabaseClassification)
			}
			return azure.Observe(err, func() { d.Status.ProvisioningState = nil }, func() bool {
				d.observe(database)
				return d.matches(database)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			d := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armkusto.DatabasesClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, d.Spec.Owner, d.Meta.Name, d.desired(),
						&armkusto.DatabasesClientBeginCreateOrUpdateOptions{ResumeToken: req.Token})
				},
				func(made armkusto.DatabasesClientCreateOrUpdateResponse) {
					if database, ok := made.DatabaseClassification.(*armkusto.ReadWriteDatabase); ok {
						d.observe(database)
					}
				})
		},
	}
}

// desired returns the database in the form of the SDK.
func (d *Database) desired() *armkusto.ReadWriteDatabase {
	return &armkusto.ReadWriteDatabase{
		Kind:     new(armkusto.KindReadWrite),
		Location: &d.Spec.Location,
		Properties: &armkusto.ReadWriteDatabaseProperties{
			HotCachePeriod:   &d.Spec.HotCachePeriod,
			SoftDeletePeriod: &d.Spec.SoftDeletePeriod,
		},
	}
}

// matches reports whether the database in Azure has the spec.
func (d *Database) matches(found *armkusto.ReadWriteDatabase) bool {
	p := found.Properties
	return p != nil && azure.Equal(p.HotCachePeriod, d.Spec.HotCachePeriod) && azure.Equal(p.SoftDeletePeriod, d.Spec.SoftDeletePeriod)
}

// observe stores the state that Azure reports.
func (d *Database) observe(found *armkusto.ReadWriteDatabase) {
	if found.Properties != nil {
		d.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
