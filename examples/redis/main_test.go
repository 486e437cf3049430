package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestOutput compares the whole output of the program.
func TestOutput(t *testing.T) {
	simtest.Prints(t, program.Run, "", "-h", "-explain sunday -at 1m", "-explain LinkedServer/pair -at 5m")
}

// TestFlow runs the flow of a child without a cloud. The rows decide the delay
// after each refusal.
func TestFlow(t *testing.T) {
	east, west := (&Cache{Name: "east"}).Ref(), (&Cache{Name: "west"}).Ref()
	refused := func(status int, code, message string) error {
		return (&sim.Refusal{Status: status, Code: code, Message: message}).ResponseError()
	}
	run := func(version string) (rules []string) {
		w := &flowtest.World[*Child]{
			Kind: "LinkedServer", Resource: &Child{Name: "pair", Cache: "east", Linked: "west"}, Extensions: childExtensions(),
			Options: []flow.Option{flow.WithErrors(azure.Errors()), flow.WithAPIVersion(version)},
		}
		w.Owner.From(0, checkstest.Ready(east, &Cache{}))
		w.Object(west).From(0, checkstest.Ready(west, &Cache{}))
		w.Get.From(0, flow.Observation{Presence: checks.Absent})
		w.Apply.Fail(
			refused(409, "Conflict", "Please try again later."),
			refused(409, "Conflict", "The name is taken."),
			refused(400, "BadRequest", "Replication is being prepared."),
		).Then(flow.Done())
		for _, p := range w.Run(t).Passes {
			rules = append(rules, fmt.Sprint(p.Retry(), " ", p.Rule()))
		}
		return rules
	}
	if diff := cmp.Diff([]string{"fast CacheIsBusy", "slow Conflict", "slow ReplicationIsBeingPrepared", "unset "}, run("2023-04-01")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"fast CacheIsBusy", "slow Conflict", "very slow BadRequest", "unset "}, run("2023-08-01")); diff != "" {
		t.Errorf("a row is for some API versions: -want, +got:\n%s", diff)
	}
}
