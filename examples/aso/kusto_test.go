package aso

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func kustoCluster(provisioning, state *string) *KustoCluster {
	c := &KustoCluster{Name: "logs"}
	c.Status.ProvisioningState, c.Status.State = provisioning, state
	return c
}

func TestKustoCluster(t *testing.T) {
	cases := ownState("Succeeded Failed Canceled", set3, func(state *string) *KustoCluster { return kustoCluster(state, nil) })
	cases["stopped"] = row[*KustoCluster]{
		reason: "it is at rest, though it does not run",
		in:     subject[*KustoCluster]{resource: kustoCluster(new("Succeeded"), new("Stopped"))},
		want:   proceeds, aso: proceeds,
	}
	cases["running and updated"] = row[*KustoCluster]{
		reason: "it runs, though it is not at rest", in: subject[*KustoCluster]{resource: kustoCluster(new("Updating"), new("Running"))},
		want: blocks, with: checks.ReasonState, aso: blocks,
	}
	decide(t, flow.PointPreCheck, KustoClusterExtensions(), cases)
}

func TestKustoDatabase(t *testing.T) {
	database := &KustoDatabase{Name: "audit"}
	cases := ownerState("Succeeded Failed Canceled", set3, database, func(state *string) *KustoCluster { return kustoCluster(state, new("Running")) })

	// What the cluster is doing besides.
	const refuses = "a cluster that does not run answers no GET of a database; ASO looks at the provisioning state only"
	runs := map[string]row[*KustoDatabase]{}
	atRest := func(state *string) subject[*KustoDatabase] {
		return ownedBy(database, kustoCluster(new("Succeeded"), state))
	}
	ignores := func(string) decision { return proceeds }
	cross(runs, "Running", ignores, "ClusterNotRunning", atRest)
	nothing(runs, "ClusterNotRunning", ignores, atRest)
	for name, tc := range runs {
		if tc.want == blocks {
			tc.because = refuses
		}
		cases["cluster "+name] = tc
	}
	decide(t, flow.PointOwnerCheck, KustoDatabaseExtensions(), cases)
}
