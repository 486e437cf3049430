package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// HcpOpenShiftCluster is a cluster of Azure Red Hat OpenShift with a hosted
// control plane.
type HcpOpenShiftCluster struct {
	Status struct {
		Properties *struct{ ProvisioningState *string }
	}
}

// HcpOpenShiftClusterExtensions block a PUT while a cluster with the same name
// is being deleted, because Azure refuses it. In other states the error of
// Azure explains more.
func HcpOpenShiftClusterExtensions() flow.Extensions[*HcpOpenShiftCluster] {
	return flow.Extensions[*HcpOpenShiftCluster]{
		PreCheck: chain.New(checks.ProvisioningState(
			func(c *HcpOpenShiftCluster) *string { return c.Status.Properties.ProvisioningState }, checks.WithDenied("Deleting"))),
	}
}
