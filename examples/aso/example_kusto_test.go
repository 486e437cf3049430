package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// KustoCluster has two states: what is being done to it, and whether it runs. A stopped cluster is Stopped and Succeeded.
type KustoCluster struct {
	Name                     string
	ProvisioningState, State *string
}

// KustoDatabase belongs to a cluster. While that does not run, not even a GET of the database is answered.
type KustoDatabase struct{ Name string }

// kustoExtensions are those of a database, before any request: the owner is all that they see.
var kustoExtensions = flow.Extensions[*KustoDatabase]{
	OwnerCheck: chain.New(
		// Succeeded, Failed and Canceled pass, for nothing goes on then; a failed cluster is mended by a PUT.
		checks.OwnerProvisioningState(func(c *KustoCluster) *string { return c.ProvisioningState }),
		chain.Named("OwnerRuns", checks.OwnerProvisioningState(func(c *KustoCluster) *string { return c.State },
			checks.Allow("Running"), checks.Reason("ClusterNotRunning"))),
	),
}

// A database leaves Azure alone until its cluster can answer, and a cluster until nothing else is being done to it.
func Example_kusto() {
	cluster := &KustoCluster{Name: "logs"}
	gets := 0
	databases := flow.New("Database", flow.Operations[*KustoDatabase]{
		Key: func(d *KustoDatabase) string { return d.Name },
		Owner: func(context.Context, *KustoDatabase) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: cluster.Name}, Value: cluster}, nil
		},
		Get: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Observation, error) {
			gets++
			return flow.Observation{}, nil
		},
		Apply: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Progress, error) { return flow.Done(), nil },
	}, kustoExtensions)
	clusters := flow.New("Cluster", flow.Operations[*KustoCluster]{
		Key: func(c *KustoCluster) string { return c.Name },
		Get: func(context.Context, *flow.Request[*KustoCluster]) (flow.Observation, error) {
			return flow.Observation{Exists: true}, nil // this GET is what sees the state
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
}
