package aso

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func openShiftCluster(state *string) *HcpOpenShiftCluster {
	c := &HcpOpenShiftCluster{Name: "shop"}
	c.Status.Properties = &struct{ ProvisioningState *string }{state}
	return c
}

func TestHcpOpenShiftCluster(t *testing.T) {
	cases := ownState("not Deleting", deny("Deleting"), openShiftCluster)
	cases["properties nil"] = row[*HcpOpenShiftCluster]{
		reason: "no status is reported", in: subject[*HcpOpenShiftCluster]{resource: &HcpOpenShiftCluster{}}, want: blocks,
		with: checks.ReasonStateUnknown, aso: proceeds, because: "unknown is not ready, and the check is retried in a second",
	}
	runCases(t, flow.PointPreCheck, HcpOpenShiftClusterExtensions(), cases)
}
