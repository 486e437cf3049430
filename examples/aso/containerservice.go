package aso

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// ManagedCluster is a cluster of Azure Kubernetes Service.
type ManagedCluster struct {
	Spec struct {
		KubernetesVersion *string // such as "1.31" or "1.31.2"; nil: Azure chooses
	}
	Status struct {
		ProvisioningState        *string
		CurrentKubernetesVersion *string // of the running control plane
	}
}

// ManagedClustersAgentPool is a pool of nodes of a cluster.
type ManagedClustersAgentPool struct {
	Spec struct {
		OrchestratorVersion *string // as KubernetesVersion of the cluster
	}
	Status struct{ ProvisioningState *string }
}

func managedClusterState(c *ManagedCluster) *string { return c.Status.ProvisioningState }

func agentPoolState(p *ManagedClustersAgentPool) *string { return p.Status.ProvisioningState }

// ManagedClusterExtensions block a PUT while Azure works on the cluster. Azure
// has more than a dozen states for that, such as Upgrading, and adds new ones.
// So the check allows the three other states.
func ManagedClusterExtensions() flow.Extensions[*ManagedCluster] {
	return flow.Extensions[*ManagedCluster]{
		PreCheck: chain.New(checks.ProvisioningState(managedClusterState)),
	}
}

// ManagedClustersAgentPoolExtensions wait for the cluster. Azure works on the
// cluster or on one of its pools at a time, and refuses a pool with a newer
// version than the control plane. So a pool waits while its cluster needs an
// upgrade to its own spec or to the pool's version.
//
// An invalid version does not block, because the error of Azure explains it. A
// version that the cluster has not reported blocks.
func ManagedClustersAgentPoolExtensions() flow.Extensions[*ManagedClustersAgentPool] {
	return flow.Extensions[*ManagedClustersAgentPool]{
		OwnerCheck: chain.New(
			checks.OwnerProvisioningState(managedClusterState),
			checks.OwnerIs("Upgraded", (*ManagedCluster).lags),
		),
		PreCheck: chain.New(
			checks.ProvisioningState(agentPoolState),
			checks.OwnerFits("NotAhead", (*ManagedClustersAgentPool).ahead),
		),
	}
}

// lags objects to a cluster that needs an upgrade to its own spec.
func (c *ManagedCluster) lags() string { return c.older(c.Spec.KubernetesVersion, "its own spec") }

// ahead objects to a cluster that needs an upgrade to the pool's version.
func (p *ManagedClustersAgentPool) ahead(c *ManagedCluster) string {
	return c.older(p.Spec.OrchestratorVersion, "the pool")
}

// older objects to a cluster with a lower version than wanted. It compares
// major and minor versions; patches may differ. It dereferences the cluster's
// version, so nil counts as not reported.
func (c *ManagedCluster) older(wanted *string, who string) string {
	if wanted == nil {
		return ""
	}
	current := *c.Status.CurrentKubernetesVersion
	w, readable := minor(*wanted)
	now, known := minor(current)
	if readable && known && slices.Compare(now[:], w[:]) < 0 {
		return fmt.Sprintf("it runs %s, but %s needs %s; it must be upgraded first", current, who, *wanted)
	}
	return ""
}

// minor returns the major and the minor number of a version.
func minor(version string) (numbers [2]int, ok bool) {
	parts := strings.Split(strings.TrimSpace(version), ".")
	if len(parts) < 2 {
		return numbers, false
	}
	for i := range numbers {
		n, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			return numbers, false
		}
		numbers[i] = int(n)
	}
	return numbers, true
}
