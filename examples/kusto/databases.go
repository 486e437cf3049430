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

// databaseExtensions is what is special about databases: of those of a cluster that does not run Azure tells nothing, so
// that a check behind the GET would come too late. Owner checks stand before it, and cannot reach the database at all.
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

// databaseProvisioningState is the selector of a database's state.
func databaseProvisioningState(d *Database) *armkusto.ProvisioningState {
	return d.Status.ProvisioningState
}

// databaseOperations is how a database is read from Azure and written to it, and how its owner is found.
func databaseOperations(api *armkusto.DatabasesClient, objects checks.Resolver) flow.Operations[*Database] {
	return flow.Operations[*Database]{
		Key:        func(d *Database) string { return d.Meta.Name },
		Generation: func(d *Database) int64 { return d.Meta.Generation },

		// The owner is as its last pass saw it. Nobody asks Azure for it a hundred times here, and what happens to it is
		// only known if somebody tells, or at its next pass: see -untold.
		Owner: func(ctx context.Context, d *Database) (checks.Object, error) {
			return objects(ctx, d.OwnerRef())
		},

		Get: func(ctx context.Context, req *flow.Request[*Database]) (flow.Observation, error) {
			d := req.Resource
			found, err := api.Get(ctx, resourceGroup, d.Spec.Owner, d.Meta.Name, nil)
			database, ok := found.DatabaseClassification.(*armkusto.ReadWriteDatabase)
			if err == nil && !ok {
				return flow.Observation{}, fmt.Errorf("in Azure %s is a %T: delete it there, or choose another name",
					d.Meta.Name, found.DatabaseClassification)
			}
			return azure.Observe(err, func() { d.Status.ProvisioningState = nil }, func() bool {
				d.observe(database)
				return d.same(database)
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			d := req.Resource
			return azure.Advance(ctx, req.Token,
				func(ctx context.Context) (*runtime.Poller[armkusto.DatabasesClientCreateOrUpdateResponse], error) {
					return api.BeginCreateOrUpdate(ctx, resourceGroup, d.Spec.Owner, d.Meta.Name, d.wanted(),
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

// wanted is the database as Azure wants to be told.
func (d *Database) wanted() *armkusto.ReadWriteDatabase {
	return &armkusto.ReadWriteDatabase{
		Kind:     new(armkusto.KindReadWrite),
		Location: &d.Spec.Location,
		Properties: &armkusto.ReadWriteDatabaseProperties{
			HotCachePeriod:   &d.Spec.HotCachePeriod,
			SoftDeletePeriod: &d.Spec.SoftDeletePeriod,
		},
	}
}

// same tells whether Azure has what the spec says.
func (d *Database) same(found *armkusto.ReadWriteDatabase) bool {
	p := found.Properties
	return p != nil && azure.Equal(p.HotCachePeriod, d.Spec.HotCachePeriod) && azure.Equal(p.SoftDeletePeriod, d.Spec.SoftDeletePeriod)
}

// observe takes over what Azure says of the database.
func (d *Database) observe(found *armkusto.ReadWriteDatabase) {
	if found.Properties != nil {
		d.Status.ProvisioningState = found.Properties.ProvisioningState
	}
}
