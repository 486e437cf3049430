package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
)

// TestStates tests the states, and TestUnusableOwner the owners that the check
// cannot read.

func TestOwnerProvisioningStateSetUp(t *testing.T) {
	state := func(c *Cluster) *string { return c.Status.ProvisioningState }
	mustPanic(t, map[string]setUp{
		"Nil":        {"the selector is required", func() { checks.OwnerProvisioningState[*Cluster, string](nil) }, "checks: OwnerProvisioningState: the selector is nil"},
		"ByIDBlocks": {"an owner known by its ID only blocks without an option", func() { checks.OwnerProvisioningState(state, checks.WithByIDBlocked()) }, "checks: OwnerProvisioningState: the option WithByIDBlocked is not for this check"},
		"Size":       {"WithSize is for Cached", func() { checks.OwnerProvisioningState(state, checks.WithSize(1)) }, "checks: OwnerProvisioningState: the option WithSize is not for this check"},
		"Both":       {"WithAllowed and WithDenied contradict each other", func() { checks.OwnerProvisioningState(state, checks.WithAllowed("a"), checks.WithDenied("b")) }, "checks: OwnerProvisioningState: both WithAllowed and WithDenied are given: give one of them"},
	})
}
