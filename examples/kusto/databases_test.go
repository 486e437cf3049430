package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

func inStates(state armkusto.State, provisioned armkusto.ProvisioningState) *Cluster {
	return &Cluster{Status: ClusterStatus{State: &state, ProvisioningState: &provisioned}}
}

var demo = checks.Ref{Kind: clusterKind, Name: "demo"}

// TestDatabaseOwnerCheck runs the owner checks of a database on its cluster.
func TestDatabaseOwnerCheck(t *testing.T) {
	cases := checkstest.OwnerCases{}
	for name, tc := range map[string]struct {
		reason string
		owner  checks.Object
		want   string // the reason of the block; empty: proceeds
	}{
		"Running":      {"the cluster runs", checkstest.Ready(demo, inStates("Running", "Succeeded")), ""},
		"Folded":       {"Azure reports states in several cases", checkstest.Ready(demo, inStates("running", "SUCCEEDED")), ""},
		"FailedUpdate": {"the last update failed, but the cluster runs", checkstest.Ready(demo, inStates("Running", "Failed")), ""},
		"Stopped":      {"the cluster is provisioned but does not run", checkstest.Ready(demo, inStates("Stopped", "Succeeded")), "OwnerNotRunning"},
		"Unavailable":  {"the cluster does not run", checkstest.Ready(demo, inStates("Unavailable", "Succeeded")), "OwnerNotRunning"},
		"Changing":     {"the cluster runs during an operation", checkstest.Ready(demo, inStates("Running", "Running")), checks.ReasonOwnerState},
		"Moving":       {"the cluster runs while it is moved", checkstest.Ready(demo, inStates("Running", "Moving")), checks.ReasonOwnerState},
		"NoState": {"both states are required", checkstest.Ready(demo,
			&Cluster{Status: ClusterStatus{ProvisioningState: new(armkusto.ProvisioningStateSucceeded)}}), "OwnerNotRunning"},
		"NoStates": {"no state is reported", checkstest.Ready(demo, &Cluster{}), checks.ReasonOwnerStateUnknown},
		"NotReady": {"the reported states may be stale", checkstest.NotReady(demo, inStates("Running", "Succeeded"), ""), checks.ReasonOwnerNotReady},
		"NotFound": {"the cluster does not exist", checkstest.NotFound(demo), checks.ReasonOwnerNotFound},
	} {
		want := checkstest.Proceeds()
		if tc.want != "" {
			want = checkstest.Blocks(tc.want)
		}
		request := checkstest.OwnerRequest(checkstest.OwnedBy(tc.owner))
		cases[name] = checkstest.Case[*checks.OwnerRequest]{Reason: tc.reason, Request: request, Want: want}
	}
	checkstest.Run(t, databaseExtensions().OwnerCheck, cases)
}

// TestDatabaseFlow changes a database while its cluster is stopped. The flow
// sends no request until the cluster runs.
func TestDatabaseFlow(t *testing.T) {
	d := &Database{Meta: Meta{Name: "db-001", Generation: 1}}
	d.Status.ProvisioningState = new(armkusto.ProvisioningStateSucceeded)
	w := &flowtest.World[*Database]{Kind: databaseKind, Resource: d, Extensions: databaseExtensions()}
	w.Operations.Generation = func(d *Database) int64 { return d.Meta.Generation }
	w.Owner.From(0, checkstest.Ready(demo, inStates("Running", "Succeeded"))).
		From(10*time.Second, checkstest.Ready(demo, inStates("Stopped", "Succeeded"))).
		From(12*time.Minute+2*time.Second, checkstest.Ready(demo, inStates("Running", "Succeeded")))
	w.Get.Then(flow.Observation{Presence: checks.Present, InSync: true}).From(0, flow.Observation{Presence: checks.Present})
	w.Apply.Then(flow.Done())
	w.Edit(12*time.Minute, "a person sets the hot cache to 31 days", func() { d.Meta.Generation++ })
	w.Run(t).Want(t, `
		00:00 ready again in 1h [Owner Get]
		00:10 * Cluster demo changes
		12:00 * a person sets the hot cache to 31 days
		12:00 blocked at OwnerCheck by OwnerRunning: OwnerNotRunning again in 1s or with Cluster demo [Owner]
		12:01 blocked at OwnerCheck by OwnerRunning: OwnerNotRunning again in 2s or with Cluster demo [Owner]
		12:02 * Cluster demo changes
		12:02 ready again in 1h [Owner Get Apply]`)
}

// TestDatabasePass runs one pass for a database in Azure whose cluster runs.
func TestDatabasePass(t *testing.T) {
	const spec = `"hotCachePeriod": "P7D", "softDeletePeriod": "P365D"`
	looked, written := map[string]int{"GET": 1}, map[string]int{"GET": 1, "PUT": 1}
	cases := map[string]struct {
		reason  string
		found   string // the body of its PUT; empty: it does not exist
		state   string // its provisioning state; empty: Succeeded
		want    flow.State
		sent    map[string]int
		message string // part of the message
	}{
		"Absent": {"the database is created",
			"", "", flow.StateInProgress, written, ""},
		"Same": {"nothing differs",
			`{"kind": "ReadWrite", "properties": {` + spec + `}}`, "", flow.StateReady, looked, ""},
		"HotCache": {"the hot cache differs",
			`{"kind": "ReadWrite", "properties": {"hotCachePeriod": "P1D", "softDeletePeriod": "P365D"}}`, "",
			flow.StateInProgress, written, ""},
		"KeptFor": {"the retention differs",
			`{"kind": "ReadWrite", "properties": {"hotCachePeriod": "P7D"}}`, "", flow.StateInProgress, written, ""},
		"Busy": {"Azure works on the database",
			`{"kind": "ReadWrite", "properties": {}}`, "Moving", flow.StateBlocked, looked, `in state "Moving"`},
		"Following": {"a database of another kind stays unchanged",
			`{"kind": "ReadOnlyFollowing", "properties": {}}`, "", flow.StateFailed, looked,
			"db-001 is a *armkusto.ReadOnlyFollowingDatabase"},
		"NoKind": {"a database without a kind stays unchanged",
			`{"properties": {` + spec + `}}`, "", flow.StateFailed, looked, "db-001 is a *armkusto.Database"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := NewSimulation(Options{Databases: 1}, true)
			if err != nil {
				t.Fatal(err)
			}
			cluster := inStates("Running", "Succeeded")
			cluster.Meta.Name = "demo"
			s.engine.Store.Add(cluster.Ref(), cluster)
			s.engine.Store.Report(cluster.Ref(), checks.Readiness{State: checks.Ready})
			s.azure.Put(clusterID("demo"), nil)
			if tc.found != "" {
				url := "https://management.azure.com" + clusterID("demo") + "/databases/db-001?api-version=2022-12-29"
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, strings.NewReader(tc.found))
				if err != nil {
					t.Fatal(err)
				}
				s.azure.Takes(databaseType, 0)
				if resp, err := s.azure.Do(req); err != nil || resp.StatusCode != http.StatusCreated {
					t.Fatal(resp, err)
				}
				s.azure.Takes(databaseType, time.Minute)
				if tc.state != "" {
					s.azure.Change(clusterID("demo")+"/databases/db-001", func(p map[string]any) { p["provisioningState"] = tc.state })
				}
			}
			before := s.azure.Databases().Verbs["PUT"]
			d := &Database{
				Meta: Meta{Name: "db-001", Generation: 1},
				Spec: DatabaseSpec{Owner: "demo", Location: "westeurope", HotCachePeriod: "P7D", SoftDeletePeriod: "P365D"},
			}
			outcome := s.databases.Reconcile(t.Context(), d)
			sent := s.azure.Databases().Verbs
			if sent["PUT"] -= before; sent["PUT"] == 0 {
				delete(sent, "PUT")
			}
			diff := cmp.Diff([]any{tc.want, tc.sent}, []any{outcome.State(), sent})
			if diff != "" || !strings.Contains(outcome.Message(), tc.message) {
				t.Errorf("%s: %s: -want, +got:\n%s", tc.reason, outcome.Message(), diff)
			}
		})
	}
}
