package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// KustoCluster has two states: its operation, and whether it runs. A stopped
// cluster is Succeeded and Stopped.
type KustoCluster struct {
	Name                     string
	ProvisioningState, State *string
}

// KustoDatabase belongs to a cluster. While the cluster does not run, Azure
// refuses even a GET of the database.
type KustoDatabase struct {
	Name    string
	Deleted bool
}

// clusterRuns are owner checks. They see the cluster and not the database.
var clusterRuns = []checks.OwnerMiddleware{
	// Succeeded, Failed and Canceled proceed: no operation is under way then,
	// and a PUT repairs a failed cluster.
	checks.OwnerProvisioningState(func(c *KustoCluster) *string { return c.ProvisioningState }),
	chain.Named("OwnerRuns", checks.OwnerProvisioningState(func(c *KustoCluster) *string { return c.State },
		checks.WithAllowed("Running"), checks.WithReason("ClusterNotRunning"))),
}

// kustoExtensions use the same checks for every request about a database:
// OwnerCheck for GET and PUT, DeleteCheck for DELETE.
var kustoExtensions = flow.Extensions[*KustoDatabase]{
	OwnerCheck:  chain.New(clusterRuns...),
	DeleteCheck: chain.New(checks.OnOwner[*KustoDatabase](clusterRuns...)),
}

// Example_kusto: a database sends no request until its cluster runs. A cluster
// sends no PUT during an operation.
func Example_kusto() {
	cluster := &KustoCluster{Name: "logs"}
	gets := 0
	databases := flow.New("Database", flow.Operations[*KustoDatabase]{
		Key:      func(d *KustoDatabase) string { return d.Name },
		Deleting: func(d *KustoDatabase) bool { return d.Deleted },
		Owner: func(context.Context, *KustoDatabase) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: cluster.Name}, Value: cluster}, nil
		},
		Get: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Observation, error) {
			gets++
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Progress, error) { return flow.Done(), nil },
		Delete: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Progress, error) {
			fmt.Println("DELETE")
			return flow.Done(), nil
		},
	}, kustoExtensions)
	clusters := flow.New("Cluster", flow.Operations[*KustoCluster]{
		Key: func(c *KustoCluster) string { return c.Name },
		Get: func(context.Context, *flow.Request[*KustoCluster]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Present}, nil // this GET returns the state
		},
		Apply: func(context.Context, *flow.Request[*KustoCluster]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*KustoCluster]{
		PreCheck: chain.New(checks.ProvisioningState(func(c *KustoCluster) *string { return c.ProvisioningState })),
	})

	for _, s := range [][2]string{
		{"Creating", "Creating"}, {"Updating", "Running"}, {"Succeeded", "Stopped"}, {"Failed", "Running"}, {"Succeeded", "Running"},
	} {
		cluster.ProvisioningState, cluster.State = &s[0], &s[1]
		fmt.Println(s[0], "and", s[1])
		fmt.Println("  cluster: ", clusters.Reconcile(context.Background(), cluster))
		out := databases.Reconcile(context.Background(), &KustoDatabase{Name: "audit"})
		fmt.Println("  database:", out)
		fmt.Println("            GETs so far:", gets, "- waits for", out.WaitingFor())
	}

	for _, state := range []string{"Stopped", "Running"} {
		cluster.State = &state
		fmt.Println(databases.Reconcile(context.Background(), &KustoDatabase{Name: "audit", Deleted: true}))
	}
	// Output:
	// Creating and Creating
	//   cluster:  blocked at PreCheck by ProvisioningState: ResourceState: the resource is in state "Creating": it must be Succeeded, Failed or Canceled
	//   database: blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner Cluster logs is in state "Creating": it must be Succeeded, Failed or Canceled
	//             GETs so far: 0 - waits for [Cluster logs]
	// Updating and Running
	//   cluster:  blocked at PreCheck by ProvisioningState: ResourceState: the resource is in state "Updating": it must be Succeeded, Failed or Canceled
	//   database: blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner Cluster logs is in state "Updating": it must be Succeeded, Failed or Canceled
	//             GETs so far: 0 - waits for [Cluster logs]
	// Succeeded and Stopped
	//   cluster:  ready
	//   database: blocked at OwnerCheck by OwnerRuns: ClusterNotRunning: owner Cluster logs is in state "Stopped": it must be Running
	//             GETs so far: 0 - waits for [Cluster logs]
	// Failed and Running
	//   cluster:  ready
	//   database: ready
	//             GETs so far: 1 - waits for []
	// Succeeded and Running
	//   cluster:  ready
	//   database: ready
	//             GETs so far: 2 - waits for []
	// blocked at DeleteCheck by OwnerRuns: ClusterNotRunning: owner Cluster logs is in state "Stopped": it must be Running
	// DELETE
	// gone
}
