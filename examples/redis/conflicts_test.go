package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestFlow runs the flow of linked servers without a cloud. The rows of
// conflicts.go decide the delay after each refusal.
func TestFlow(t *testing.T) {
	east, west := cacheRef("east"), cacheRef("west")
	refused := func(status int, code, message string) error {
		return (&armsim.Refusal{Status: status, Code: code, Message: message}).ResponseError()
	}
	w := &flowtest.World[*LinkedServer]{
		Kind: linkedServerKind, Resource: &LinkedServer{Name: "pair", Cache: "east", Linked: "west"}, Extensions: linkedServerExtensions(),
		Options: []flow.Option{flow.WithErrors(azure.Errors()), flow.WithAPIVersion(apiVersion)},
	}
	w.Owner.From(0, checkstest.Ready(east, &Cache{}))
	w.Object(west).From(0, checkstest.Ready(west, &Cache{}))
	w.Get.From(0, flow.Observation{Presence: checks.Absent})
	w.Apply.Fail(
		refused(409, "Conflict", "Please try again later."),
		refused(409, "Conflict", "The name is taken."),
		refused(400, "BadRequest", "Replication is being prepared."),
		refused(400, "BadRequest", "The port is odd."),
	).Then(flow.Done())
	r := w.Run(t)
	var rules []string
	for _, p := range r.Passes {
		rules = append(rules, fmt.Sprint(p.Retry, " ", p.Rule))
	}
	want := []string{"fast CacheIsBusy", "slow Conflict", "slow ReplicationIsBeingPrepared", "very slow BadRequest", "unset "}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("-want, +got:\n%s\n%s", diff, r)
	}
}
