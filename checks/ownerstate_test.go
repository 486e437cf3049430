package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
)

// What the check makes of a state is in TestStates, what it makes of an owner that it cannot ask in TestOwnerToLookInto.

func TestOwnerProvisioningStateSetUp(t *testing.T) {
	state := func(c *Cluster) *string { return c.Status.ProvisioningState }
	mustPanic(t, map[string]setUp{
		"Nil":        {"a selector is needed", func() { checks.OwnerProvisioningState[*Cluster, string](nil) }, "checks: OwnerProvisioningState: the selector is nil"},
		"ByIDBlocks": {"that an owner is known by its ID only blocks anyway", func() { checks.OwnerProvisioningState(state, checks.WithByIDBlocked()) }, "checks: OwnerProvisioningState: the option WithByIDBlocked is not for this check"},
		"Size":       {"nothing is remembered", func() { checks.OwnerProvisioningState(state, checks.WithSize(1)) }, "checks: OwnerProvisioningState: the option WithSize is not for this check"},
		"Both":       {"a set of allowed states and one of denied ones contradict each other", func() { checks.OwnerProvisioningState(state, checks.WithAllowed("a"), checks.WithDenied("b")) }, "checks: OwnerProvisioningState: both WithAllowed and WithDenied are given: give one of them"},
	})
}
