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
	Name string
	Spec struct {
		KubernetesVersion *string // as "1.31" or "1.31.2"; nil: Azure chooses
	}
	Status struct {
		ProvisioningState        *string
		CurrentKubernetesVersion *string // of the control plane, as it runs
	}
}

// ManagedClustersAgentPool is a group of nodes of a cluster.
type ManagedClustersAgentPool struct {
	Name string
	Spec struct {
		OrchestratorVersion *string // as KubernetesVersion of the cluster
	}
	Status struct{ ProvisioningState *string }
}

func managedClusterState(c *ManagedCluster) *string { return c.Status.ProvisioningState }

func agentPoolState(p *ManagedClustersAgentPool) *string { return p.Status.ProvisioningState }

// ManagedClusterExtensions keep a PUT back while Azure works on the cluster. There are more than a dozen states in which it
// does (Upgrading, RotatingClusterCertificates, ...) and new ones come, so the three in which it does not are what counts.
func ManagedClusterExtensions() flow.Extensions[*ManagedCluster] {
	return flow.Extensions[*ManagedCluster]{
		PreCheck: chain.New(checks.ProvisioningState(managedClusterState)),
	}
}

// ManagedClustersAgentPoolExtensions wait for the cluster: Azure works on one of a cluster and its pools at a time, and takes
// no pool that is newer than its control plane. So a pool also waits while its cluster is still to be upgraded, by this
// operator or by a person, and while it is itself ahead.
//
// A version that cannot be read does not block: Azure refuses it, and says better what is wrong. One that the cluster has not
// reported does.
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

// lags objects to a cluster that is still to be upgraded to its own spec.
func (c *ManagedCluster) lags() string { return c.behind(c.Spec.KubernetesVersion, "its own spec") }

// ahead objects to a cluster that is still to be upgraded to what the pool wants.
func (p *ManagedClustersAgentPool) ahead(c *ManagedCluster) string {
	return c.behind(p.Spec.OrchestratorVersion, "the pool")
}

// behind objects to a cluster that is at a lower version than what is wanted, up to the minor version: patches may differ. It
// follows the pointer to the cluster's version without asking, so that a nil counts as not reported.
func (c *ManagedCluster) behind(wanted *string, who string) string {
	if wanted == nil {
		return ""
	}
	current := *c.Status.CurrentKubernetesVersion
	w, readable := minor(*wanted)
	now, known := minor(current)
	if readable && known && slices.Compare(now[:], w[:]) < 0 {
		return fmt.Sprintf("it is at %s, and %s wants %s: it is upgraded first", current, who, *wanted)
	}
	return ""
}

// minor is the major and the minor number of a version.
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
