package aso

import (
	"context"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// CassandraCluster is a managed Cassandra cluster, the owner of data centers.
type CassandraCluster struct {
	Name   string
	Status struct {
		Properties *struct{ ProvisioningState *string }
	}
}

// CassandraDataCenter belongs to a cluster.
type CassandraDataCenter struct{ Name string }

// CassandraDataCenterExtensions wait until the cluster was made: a data center cannot join one that failed, so Succeeded is
// the only state that will do.
//
// ASO compares the case of letters, too. Here "succeeded" is the same state, as everywhere else: Azure owes nobody a
// spelling, and with another one a data center would wait for ever. [checks.WithExactStates] would be the option.
func CassandraDataCenterExtensions() flow.Extensions[*CassandraDataCenter] {
	return flow.Extensions[*CassandraDataCenter]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(cassandraClusterState, checks.WithAllowed("Succeeded"))),
	}
}

func cassandraClusterState(c *CassandraCluster) *string { return c.Status.Properties.ProvisioningState }

// DatabaseAccount is an account of Cosmos DB.
type DatabaseAccount struct {
	Name   string
	Status struct{ ProvisioningState *string }
}

// DatabaseAccountExtensions keep a PUT back while an account of that name is being deleted. That is the one state that goes on
// long and in which no PUT is of use; in any other the answer of Azure says more.
func DatabaseAccountExtensions() flow.Extensions[*DatabaseAccount] {
	return flow.Extensions[*DatabaseAccount]{
		PreCheck: chain.New(checks.ProvisioningState(
			func(a *DatabaseAccount) *string { return a.Status.ProvisioningState }, checks.WithDenied("Deleting"))),
	}
}

// SQLDatabase is an SQL database in an account of Cosmos DB. ASO calls it SqlDatabase.
type SQLDatabase struct {
	Name string
	Spec struct {
		Options *struct {
			Throughput        *int // fixed, set by hand
			AutoscaleSettings *struct{ MaxThroughput *int }
		}
	}
}

// Throughput is how a database has its throughput in Azure.
type Throughput struct {
	Autoscale           bool
	OfferReplacePending *string // "true" while it is being changed
}

// ThroughputAPI asks Azure for the throughput of a database. An error of status 404 means that it has none of its own, or
// that there is no database yet.
type ThroughputAPI interface {
	Throughput(ctx context.Context, db *SQLDatabase) (Throughput, error)
	// Migrate begins to change from a fixed throughput to autoscale, or back. It does not wait for the end.
	Migrate(ctx context.Context, db *SQLDatabase, autoscale bool) error
}

// SQLDatabaseExtensions change between fixed throughput and autoscale before the PUT, which can change the amount but not
// the way: Azure has an action of its own for that, and refuses everything else until it is over.
//
// A spec that says nothing of throughput, or both, and a database that is not there go on without being asked for. A pending
// replacement that is anything but false counts as pending.
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
				return checks.Block("ThroughputPending", "Azure is changing the throughput: waiting until it is done"), nil
			case now.Autoscale == autoscale:
				return checks.Proceed(), nil
			}
			if err := api.Migrate(ctx, db, autoscale); err != nil {
				return checks.Result{}, err
			}
			return checks.Block("ThroughputMigrating", "changing between fixed throughput and autoscale: waiting until it is done"), nil
		})),
	}
}

func pending(replace *string) bool {
	return replace != nil && *replace != "" && !strings.EqualFold(strings.TrimSpace(*replace), "false")
}
