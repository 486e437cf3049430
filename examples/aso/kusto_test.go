package aso

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		reason: "no operation is under way, even if the cluster does not run",
		in:     subject[*KustoCluster]{resource: kustoCluster(new("Succeeded"), new("Stopped"))},
		want:   proceeds, aso: proceeds,
	}
	cases["running and updated"] = row[*KustoCluster]{
		reason: "an operation is under way, even if the cluster runs", in: subject[*KustoCluster]{resource: kustoCluster(new("Updating"), new("Running"))},
		want: blocks, with: checks.ReasonState, aso: blocks,
	}
	runCases(t, flow.PointPreCheck, KustoClusterExtensions(), cases)
}

func TestKustoDatabase(t *testing.T) {
	database := &KustoDatabase{Name: "audit"}
	cases := ownerState("Succeeded Failed Canceled", set3, database, func(state *string) *KustoCluster { return kustoCluster(state, new("Running")) })

	const refuses = "Azure refuses a GET of a stopped cluster's database; ASO checks only the provisioning state"
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
	runCases(t, flow.PointOwnerCheck, KustoDatabaseExtensions(), cases)
}

// TestKustoDatabaseDelete: a DELETE is sent if the cluster runs, is gone or is
// being deleted. ASO always sends it.
func TestKustoDatabaseDelete(t *testing.T) {
	cluster := func(provisioning, state string) checks.Object {
		return checks.Object{Ref: ownerRef, Value: kustoCluster(&provisioning, &state)}
	}
	going := cluster("Succeeded", "Stopped")
	going.Deleting = true
	cases := map[string]struct {
		reason string
		owner  checks.Object
		want   string // the reason of the block; empty: the DELETE is sent
	}{
		"Running":     {"Azure can delete it", cluster("Succeeded", "Running"), ""},
		"Stopped":     {"Azure refuses the DELETE", cluster("Succeeded", "Stopped"), "ClusterNotRunning"},
		"Updating":    {"Azure refuses the DELETE", cluster("Updating", "Running"), checks.ReasonOwnerState},
		"NotReported": {"unknown is not ready", checks.Object{Ref: ownerRef, Value: kustoCluster(nil, nil)}, checks.ReasonOwnerStateUnknown},
		"Deleting":    {"the database is deleted with its cluster", going, ""},
		"Gone":        {"the database was deleted with its cluster", checks.Object{Ref: ownerRef}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			deletes := 0
			r := flow.New("Database", flow.Operations[*KustoDatabase]{
				Key:      func(d *KustoDatabase) string { return d.Name },
				Deleting: func(*KustoDatabase) bool { return true },
				Owner:    func(context.Context, *KustoDatabase) (checks.Object, error) { return tc.owner, nil },
				Apply:    func(context.Context, *flow.Request[*KustoDatabase]) (flow.Progress, error) { return flow.Done(), nil },
				Delete: func(context.Context, *flow.Request[*KustoDatabase]) (flow.Progress, error) {
					deletes++
					return flow.Done(), nil
				},
			}, KustoDatabaseExtensions())
			want := []any{flow.StateGone, "", "", 1}
			if tc.want != "" {
				want = []any{flow.StateBlocked, flow.PointDeleteCheck, tc.want, 0}
			}
			out := r.Reconcile(t.Context(), &KustoDatabase{Name: "audit"})
			if diff := cmp.Diff(want, []any{out.State(), out.Point(), out.Reason(), deletes}); diff != "" {
				t.Errorf("%s: %v, -want, +got:\n%s", tc.reason, out, diff)
			}
		})
	}
}
