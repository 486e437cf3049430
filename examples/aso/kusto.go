package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// KustoCluster is a cluster of Azure Data Explorer. It has two states: what is being done to it, and whether it runs. One
// that was stopped is Stopped and Succeeded.
type KustoCluster struct {
	Name   string
	Status struct{ ProvisioningState, State *string }
}

// KustoDatabase belongs to a cluster.
type KustoDatabase struct{ Name string }

func kustoProvisioningState(c *KustoCluster) *string { return c.Status.ProvisioningState }

func kustoState(c *KustoCluster) *string { return c.Status.State }

// KustoClusterExtensions keep a PUT back while Azure works on the cluster, when it would be refused and only use up the quota
// of writes. Whether the cluster runs makes no difference to that.
func KustoClusterExtensions() flow.Extensions[*KustoCluster] {
	return flow.Extensions[*KustoCluster]{
		PreCheck: chain.New(checks.ProvisioningState(kustoProvisioningState)),
	}
}

// KustoDatabaseExtensions wait for the cluster before anything is asked of Azure, since of a cluster that does not run not
// even a GET of a database is answered. ASO looks at the first of the two states only, and so goes on when the cluster is
// stopped.
func KustoDatabaseExtensions() flow.Extensions[*KustoDatabase] {
	return flow.Extensions[*KustoDatabase]{
		OwnerCheck: chain.New(
			checks.OwnerProvisioningState(kustoProvisioningState),
			chain.Named("OwnerRuns", checks.OwnerProvisioningState(kustoState, checks.Allow("Running"), checks.Reason("ClusterNotRunning"))),
		),
	}
}
