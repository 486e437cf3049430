package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestOutput compares the whole output of the program.
func TestOutput(t *testing.T) {
	simtest.Prints(t, program.Run, "", "-h", "-explain audit -at 4m", "-explain endpoint/gateway -at 3m")
}

// TestFlow runs the flow without a cloud. A missing approval
// defers Ready, and the flow writes once.
func TestFlow(t *testing.T) {
	e := &Endpoint{Name: "one"}
	status := func(status string) func() {
		return func() { e.Connections = []Connection{{Name: "one", Status: status}} }
	}
	w := &flowtest.World[*Endpoint]{Kind: "Endpoint", Resource: e, Extensions: endpointExtensions()}
	w.Get.Then(flow.Observation{Presence: checks.Absent}).From(0, flow.Observation{Presence: checks.Present, InSync: true})
	w.Apply.Then(flow.InProgress("op-1", 30*time.Second), flow.Done())
	w.Change(0, "", status("Pending"))
	w.Edit(32*time.Second, "a person rejects it", status("Rejected"))
	w.Edit(3*time.Minute, "a person approves it", status("Approved"))
	r := w.RunUntil(t, 3*time.Minute)
	r.Want(t, `
		00:00 in progress at Apply again in 30s [Get Apply]
		00:30 blocked at PostCheck by ApprovalPending: ApprovalPending again in 1s [Apply(op-1) Get]
		00:31 blocked at PostCheck by ApprovalPending: ApprovalPending again in 2s [Get]
		00:32 * a person rejects it
		00:32 blocked at PostCheck by ApprovalPending: ApprovalRejected again in 1h [Get]
		03:00 * a person approves it
		03:00 ready again in 1h [Get]`)
	want := []string{"the operation is under way in the cloud", "connection one must be approved by a person",
		"connection one was rejected: a person has to approve it or to remove it", ""}
	var got []string
	for _, p := range r.Passes {
		got = append(got, p.Ready.Message)
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
