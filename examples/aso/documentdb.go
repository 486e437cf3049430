package aso

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// CassandraCluster is a managed Cassandra cluster. It owns data centers.
type CassandraCluster struct {
	Status struct {
		Properties *struct{ ProvisioningState *string }
	}
}

// CassandraDataCenter belongs to a cluster.
type CassandraDataCenter struct{}

// CassandraDataCenterExtensions wait until the cluster is Succeeded. A data
// center cannot join a failed cluster.
//
// ASO compares the case of the state, too. Here "succeeded" is the same state,
// because Azure may change the case.
func CassandraDataCenterExtensions() flow.Extensions[*CassandraDataCenter] {
	return flow.Extensions[*CassandraDataCenter]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(cassandraClusterState, checks.WithAllowed("Succeeded"))),
	}
}

func cassandraClusterState(c *CassandraCluster) *string { return c.Status.Properties.ProvisioningState }

// DatabaseAccount is an account of Cosmos DB.
type DatabaseAccount struct {
	Status struct{ ProvisioningState *string }
}

// DatabaseAccountExtensions block a PUT while an account with the same name is
// being deleted. Only this state lasts long and refuses a PUT. In other states
// the error of Azure explains more.
func DatabaseAccountExtensions() flow.Extensions[*DatabaseAccount] {
	return flow.Extensions[*DatabaseAccount]{
		PreCheck: chain.New(checks.ProvisioningState(
			func(a *DatabaseAccount) *string { return a.Status.ProvisioningState }, checks.WithDenied("Deleting"))),
	}
}

// SQLDatabase is an SQL database in an account of Cosmos DB. ASO calls it
// SqlDatabase.
type SQLDatabase struct {
	Spec struct {
		Options *struct {
			Throughput        *int // fixed
			AutoscaleSettings *struct{ MaxThroughput *int }
		}
	}
}

// Throughput is the throughput of a database in Azure.
type Throughput struct {
	Autoscale           bool
	OfferReplacePending *string // "true" during a change
}

// ThroughputAPI reads and migrates the throughput of a database. An error with
// status 404 means that the database has no throughput of its own or does not
// exist.
type ThroughputAPI interface {
	Throughput(ctx context.Context, db *SQLDatabase) (Throughput, error)
	// Migrate begins to change between fixed throughput and autoscale. It does
	// not wait for the end.
	Migrate(ctx context.Context, db *SQLDatabase, autoscale bool) error
}

// SQLDatabaseExtensions change between fixed throughput and autoscale before
// the PUT. A PUT can change only the amount. For the mode Azure has a separate
// action, and refuses other requests until its end.
//
// A spec with neither mode or both proceeds, and so does a database that does
// not exist. A pending replacement other than false counts as pending.
func SQLDatabaseExtensions(api ThroughputAPI) flow.Extensions[*SQLDatabase] {
	return flow.Extensions[*SQLDatabase]{
		PreCheck: chain.New(checks.Gate("Throughput", func(ctx context.Context, req *checks.Request[*SQLDatabase]) (checks.Result, error) {
			db := req.Resource
			wanted := db.Spec.Options
			if req.Presence == checks.Absent || wanted == nil || (wanted.Throughput == nil) == (wanted.AutoscaleSettings == nil) {
				return checks.Proceed(), nil
			}
			autoscale := wanted.AutoscaleSettings != nil
			switch now, err := api.Throughput(ctx, db); {
			case azure.Errors().NotFound(err):
				return checks.Proceed(), nil
			case err != nil:
				return checks.Result{}, err
			case pending(now.OfferReplacePending):
				return checks.Block("ThroughputPending", "Azure changes the throughput: waiting for the end"), nil
			case now.Autoscale == autoscale:
				return checks.Proceed(), nil
			}
			if err := api.Migrate(ctx, db, autoscale); err != nil {
				return checks.Result{}, err
			}
			return checks.Block("ThroughputMigrating", "Azure migrates between fixed throughput and autoscale: waiting for the end"), nil
		})),
	}
}

func pending(replace *string) bool {
	return replace != nil && *replace != "" && !strings.EqualFold(strings.TrimSpace(*replace), "false")
}
