package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// KustoCluster is a cluster of Azure Data Explorer. ProvisioningState is the
// operation under way, State whether the cluster runs. A stopped cluster is
// Succeeded and Stopped.
type KustoCluster struct {
	Status struct{ ProvisioningState, State *string }
}

// KustoDatabase belongs to a cluster.
type KustoDatabase struct{}

func kustoProvisioningState(c *KustoCluster) *string { return c.Status.ProvisioningState }

func kustoState(c *KustoCluster) *string { return c.Status.State }

// KustoClusterExtensions block a PUT while Azure works on the cluster. Azure
// would refuse it and count it against the quota of writes. A stopped cluster
// proceeds, because Azure accepts its PUT.
func KustoClusterExtensions() flow.Extensions[*KustoCluster] {
	return flow.Extensions[*KustoCluster]{
		PreCheck: chain.New(checks.ProvisioningState(kustoProvisioningState)),
	}
}

// KustoDatabaseExtensions block every request until the cluster runs. Azure
// refuses even a GET of a stopped cluster's database. ASO checks only the
// provisioning state, so it proceeds for a stopped cluster.
//
// The same checks decide about the DELETE. ASO runs no checks before a DELETE and
// sends it until the cluster runs. A cluster that is gone or being deleted does
// not block: the database is deleted with it.
func KustoDatabaseExtensions() flow.Extensions[*KustoDatabase] {
	clusterRuns := []checks.OwnerMiddleware{
		checks.OwnerProvisioningState(kustoProvisioningState),
		chain.Named("OwnerRuns", checks.OwnerProvisioningState(kustoState, checks.WithAllowed("Running"), checks.WithReason("ClusterNotRunning"))),
	}
	return flow.Extensions[*KustoDatabase]{
		OwnerCheck:  chain.New(clusterRuns...),
		DeleteCheck: chain.New(checks.OnOwner[*KustoDatabase](clusterRuns...)), // the owner checks as checks of the database
	}
}
