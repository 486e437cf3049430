package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// KustoCluster is a cluster of Azure Data Explorer. ProvisioningState names the operation under way, and State says whether
// the cluster runs. A stopped cluster has the states Succeeded and Stopped.
type KustoCluster struct {
	Name   string
	Status struct{ ProvisioningState, State *string }
}

// KustoDatabase belongs to a cluster.
type KustoDatabase struct{ Name string }

func kustoProvisioningState(c *KustoCluster) *string { return c.Status.ProvisioningState }

func kustoState(c *KustoCluster) *string { return c.Status.State }

// KustoClusterExtensions block a PUT while Azure works on the cluster: Azure would refuse it, and count it against the quota
// of writes. They do not ask whether the cluster runs, because Azure accepts a PUT of a stopped cluster.
func KustoClusterExtensions() flow.Extensions[*KustoCluster] {
	return flow.Extensions[*KustoCluster]{
		PreCheck: chain.New(checks.ProvisioningState(kustoProvisioningState)),
	}
}

// KustoDatabaseExtensions block every request to Azure until the cluster runs: the service of a stopped cluster does not even
// answer a GET of a database. ASO checks only the provisioning state, and so proceeds when the cluster is stopped.
//
// The same checks guard DELETE, which Azure refuses in the same states. ASO runs no checks before a DELETE, and sends it again
// and again until the cluster runs. A cluster that is gone, or is being deleted, does not block: the database goes with it.
func KustoDatabaseExtensions() flow.Extensions[*KustoDatabase] {
	clusterRuns := []checks.OwnerMiddleware{
		checks.OwnerProvisioningState(kustoProvisioningState),
		chain.Named("OwnerRuns", checks.OwnerProvisioningState(kustoState, checks.WithAllowed("Running"), checks.WithReason("ClusterNotRunning"))),
	}
	return flow.Extensions[*KustoDatabase]{
		OwnerCheck:  chain.New(clusterRuns...),
		DeleteCheck: chain.New(checks.OnOwner[*KustoDatabase](clusterRuns...)), // the same links, as a check of the database
	}
}
