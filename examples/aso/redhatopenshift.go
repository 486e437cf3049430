package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// HcpOpenShiftCluster is a cluster of Azure Red Hat OpenShift with a hosted control plane.
type HcpOpenShiftCluster struct {
	Name   string
	Status struct {
		Properties *struct{ ProvisioningState *string }
	}
}

// HcpOpenShiftClusterExtensions keep a PUT back while a cluster of that name is being deleted, since it would be refused
// until that is over. In any other state the answer of Azure says more than a check could.
func HcpOpenShiftClusterExtensions() flow.Extensions[*HcpOpenShiftCluster] {
	return flow.Extensions[*HcpOpenShiftCluster]{
		PreCheck: chain.New(checks.ProvisioningState(
			func(c *HcpOpenShiftCluster) *string { return c.Status.Properties.ProvisioningState }, checks.WithDenied("Deleting"))),
	}
}
