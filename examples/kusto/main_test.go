package main

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

// TestOutput compares the whole output of the program.
func TestOutput(t *testing.T) {
	simtest.Prints(t, program.Run, "", "-h", "-explain db-007 -at 17m", "-explain CLUSTER/demo -at 14m30s", "-explain db-101")
}

// TestDatabaseOwnerCheck runs the owner checks of a database on its cluster.
func TestDatabaseOwnerCheck(t *testing.T) {
	demo := (&Cluster{Name: "demo"}).Ref()
	in := func(state, provisioning string) *Cluster { return &Cluster{State: state, Provisioning: provisioning} }
	cases := checkstest.OwnerCases{}
	for name, tc := range map[string]struct {
		reason string
		owner  checks.Object
		want   string // the reason of the block; empty: proceeds
	}{
		"Running":      {"the cluster runs", checkstest.Ready(demo, in("Running", "Succeeded")), ""},
		"Folded":       {"Azure reports states in several cases", checkstest.Ready(demo, in("running", "SUCCEEDED")), ""},
		"FailedUpdate": {"the last update failed, but the cluster runs", checkstest.Ready(demo, in("Running", "Failed")), ""},
		"Stopped":      {"the cluster is provisioned but does not run", checkstest.Ready(demo, in("Stopped", "Succeeded")), "OwnerNotRunning"},
		"Moving":       {"the cluster runs while it is moved", checkstest.Ready(demo, in("Running", "Moving")), checks.ReasonOwnerState},
		"NoState":      {"both states are required", checkstest.Ready(demo, in("", "Succeeded")), "OwnerNotRunning"},
		"NotReady":     {"the reported states may be stale", checkstest.NotReady(demo, in("Running", "Succeeded"), ""), checks.ReasonOwnerNotReady},
		"NotFound":     {"the cluster does not exist", checkstest.NotFound(demo), checks.ReasonOwnerNotFound},
	} {
		want := checkstest.Proceeds()
		if tc.want != "" {
			want = checkstest.Blocks(tc.want)
		}
		cases[name] = checkstest.Case[*checks.OwnerRequest]{Reason: tc.reason, Request: checkstest.OwnerRequest(checkstest.OwnedBy(tc.owner)), Want: want}
	}
	checkstest.Run(t, databaseExtensions().OwnerCheck, cases)
}
