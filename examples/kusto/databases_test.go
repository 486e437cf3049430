package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// What the owner checks of a database make of its cluster.
func TestDatabaseOwnerCheck(t *testing.T) {
	isReady := checks.Readiness{State: checks.Ready, Generation: 1, Observed: 1}
	cluster := func(state armkusto.State, provisioned armkusto.ProvisioningState) *Cluster {
		return &Cluster{Status: ClusterStatus{State: &state, ProvisioningState: &provisioned}}
	}
	cases := map[string]struct {
		reason string
		owner  any
		ready  checks.Readiness
		want   string // the reason of the block; empty: it goes on
	}{
		"Running":      {"all is well", cluster("Running", "Succeeded"), isReady, ""},
		"Folded":       {"Azure is not sure of its cases", cluster("running", "SUCCEEDED"), isReady, ""},
		"FailedUpdate": {"the last change failed, and it runs", cluster("Running", "Failed"), isReady, ""},
		"Stopped":      {"provisioned, and of no use", cluster("Stopped", "Succeeded"), isReady, "OwnerNotRunning"},
		"Unavailable":  {"nor is this", cluster("Unavailable", "Succeeded"), isReady, "OwnerNotRunning"},
		"Changing":     {"it runs, and is being changed", cluster("Running", "Running"), isReady, checks.ReasonOwnerState},
		"Moving":       {"it runs, and is being moved", cluster("Running", "Moving"), isReady, checks.ReasonOwnerState},
		"NoState": {"one state is not enough",
			&Cluster{Status: ClusterStatus{ProvisioningState: new(armkusto.ProvisioningStateSucceeded)}}, isReady, "OwnerNotRunning"},
		"NoStates": {"nothing is known", &Cluster{}, isReady, checks.ReasonOwnerStateUnknown},
		"NotReady": {"its states are of yesterday",
			cluster("Running", "Succeeded"), checks.Readiness{State: checks.NotReady}, checks.ReasonOwnerNotReady},
		"NotFound": {"there is none", nil, checks.Readiness{}, checks.ReasonOwnerNotFound},
	}
	check := checks.Compose(databaseExtensions().OwnerCheck)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			owner := checks.Object{Ref: checks.Ref{Kind: clusterKind, Name: "demo"}, Value: tc.owner, Readiness: tc.ready}
			got, err := check(t.Context(), &checks.OwnerRequest{Owner: owner})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Reason()); diff != "" || got.Proceeds() != (tc.want == "") {
				t.Errorf("%s: %v: -want, +got:\n%s", tc.reason, got, diff)
			}
		})
	}
}

// One pass over a database, of a cluster that runs, with something of that name in Azure.
func TestDatabasePass(t *testing.T) {
	const spec = `"hotCachePeriod": "P7D", "softDeletePeriod": "P365D"`
	looked, written := map[string]int{"GET": 1}, map[string]int{"GET": 1, "PUT": 1}
	cases := map[string]struct {
		reason string
		found  string // the body of the PUT that made it; empty: nothing
		state  string // its provisioning state, if it is not Succeeded
		want   flow.State
		sent   map[string]int
		says   string // part of the message
	}{
		"Absent": {"it is created",
			"", "", flow.StateInProgress, written, ""},
		"Same": {"there is nothing to do",
			`{"kind": "ReadWrite", "properties": {` + spec + `}}`, "", flow.StateReady, looked, ""},
		"HotCache": {"it is updated",
			`{"kind": "ReadWrite", "properties": {"hotCachePeriod": "P1D", "softDeletePeriod": "P365D"}}`, "",
			flow.StateInProgress, written, ""},
		"KeptFor": {"it is updated",
			`{"kind": "ReadWrite", "properties": {"hotCachePeriod": "P7D"}}`, "", flow.StateInProgress, written, ""},
		"Busy": {"Azure works on it",
			`{"kind": "ReadWrite", "properties": {}}`, "Moving", flow.StateBlocked, looked, `in state "Moving"`},
		"Following": {"another kind of database is left alone",
			`{"kind": "ReadOnlyFollowing", "properties": {}}`, "", flow.StateFailed, looked,
			"db-001 is a *armkusto.ReadOnlyFollowingDatabase"},
		"NoKind": {"so is one that is of no kind",
			`{"properties": {` + spec + `}}`, "", flow.StateFailed, looked, "db-001 is a *armkusto.Database"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := NewSimulation(Options{Databases: 1}, true, sim.Silent{})
			if err != nil {
				t.Fatal(err)
			}
			running, provisioned := armkusto.StateRunning, armkusto.ProvisioningStateSucceeded
			cluster := &Cluster{Status: ClusterStatus{State: &running, ProvisioningState: &provisioned}}
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
			if diff != "" || !strings.Contains(outcome.Message(), tc.says) {
				t.Errorf("%s: %s: -want, +got:\n%s", tc.reason, outcome.Message(), diff)
			}
		})
	}
}
