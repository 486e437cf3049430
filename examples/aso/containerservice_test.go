package aso

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// managedCluster returns a cluster with a state, the version of its spec and
// the running version. "" becomes nil.
func managedCluster(state *string, wants, runs string) *ManagedCluster {
	c := &ManagedCluster{Name: "prod"}
	c.Status.ProvisioningState, c.Spec.KubernetesVersion, c.Status.CurrentKubernetesVersion = state, orNil(wants), orNil(runs)
	return c
}

func agentPool(state *string, wants string) *ManagedClustersAgentPool {
	p := &ManagedClustersAgentPool{Name: "system"}
	p.Status.ProvisioningState, p.Spec.OrchestratorVersion = state, orNil(wants)
	return p
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func TestManagedCluster(t *testing.T) {
	cases := ownState("Succeeded Failed Canceled", set3, func(state *string) *ManagedCluster { return managedCluster(state, "", "") })
	runCases(t, flow.PointPreCheck, ManagedClusterExtensions(), cases)
}

func TestManagedClustersAgentPoolOwner(t *testing.T) {
	pool := agentPool(new("Succeeded"), "")
	cases := ownerState("Succeeded Failed Canceled", set3, pool, func(state *string) *ManagedCluster { return managedCluster(state, "1.31", "1.31.2") })
	for name, tc := range versions() {
		tc.in = ownedBy(pool, managedCluster(new("Succeeded"), tc.wants, tc.runs))
		cases["cluster wants/"+name] = tc.row
	}
	runCases(t, flow.PointOwnerCheck, ManagedClustersAgentPoolExtensions(), cases)
}

func TestManagedClustersAgentPool(t *testing.T) {
	rest := managedCluster(new("Succeeded"), "", "1.31.2")
	owned := func(p *ManagedClustersAgentPool) subject[*ManagedClustersAgentPool] { return ownedBy(p, rest) }
	cases := ownState("Succeeded Failed Canceled", set3, func(state *string) *ManagedClustersAgentPool { return agentPool(state, "") })
	for name, tc := range cases {
		in := owned(tc.in.resource)
		in.absent = tc.in.absent
		tc.in = in
		cases[name] = tc
	}
	for name, tc := range versions() {
		tc.in = ownedBy(agentPool(new("Succeeded"), tc.wants), managedCluster(new("Succeeded"), "", tc.runs))
		cases["pool wants/"+name] = tc.row
	}
	tooNew := owned(agentPool(nil, "1.32"))
	tooNew.absent = true
	cases["too new, and not in the cloud"] = row[*ManagedClustersAgentPool]{
		reason: "the PUT that creates it would be refused, too", in: tooNew, want: blocks, with: checks.ReasonOwnerUnsuitable, aso: blocks,
	}
	alone := subject[*ManagedClustersAgentPool]{resource: agentPool(new("Succeeded"), "1.32"), checkOnly: true}
	cases["no owner"] = row[*ManagedClustersAgentPool]{
		reason: "without the owner check, this check blocks", in: alone, want: blocks,
		with: checks.ReasonOwnerNotSet, retry: classify.OnChange,
	}
	runCases(t, flow.PointPreCheck, ManagedClustersAgentPoolExtensions(), cases)
}

type version struct {
	wants, runs string
	row[*ManagedClustersAgentPool]
}

// versions has cases of a wanted version and the cluster's version.
func versions() map[string]version {
	pass := func(reason string) row[*ManagedClustersAgentPool] {
		return row[*ManagedClustersAgentPool]{reason: reason, want: proceeds, aso: proceeds}
	}
	wait := func(reason string) row[*ManagedClustersAgentPool] {
		return row[*ManagedClustersAgentPool]{reason: reason, want: blocks, with: checks.ReasonOwnerUnsuitable, message: "it must be upgraded first", aso: blocks}
	}
	unknown := row[*ManagedClustersAgentPool]{
		reason: "the cluster's version is unknown", want: blocks, with: checks.ReasonOwnerStateUnknown, message: "has not reported", aso: unread,
	}
	return map[string]version{
		"the same":            {"1.31.2", "1.31.2", pass("the versions are equal")},
		"an alias":            {"1.31", "1.31.2", pass("a minor version includes all its patches")},
		"a later patch":       {"1.31.9", "1.31.2", pass("patches may differ")},
		"an earlier minor":    {"1.30.9", "1.31.2", pass("a pool may be older")},
		"a later minor":       {"1.32.0", "1.31.2", wait("a pool must not be newer")},
		"two digits":          {"1.10", "1.9.9", wait("numbers are compared as numbers")},
		"one digit":           {"1.9.9", "1.10", pass("numbers are compared as numbers")},
		"a later major":       {"2.0", "1.31.2", wait("the major version is compared first")},
		"an earlier major":    {"1.31", "2.0.1", pass("the major version is compared first")},
		"space":               {" 1.32.0 ", "1.31.2", wait("white space is ignored")},
		"not set":             {"", "1.31.2", pass("Azure chooses one that fits")},
		"not set nor known":   {"", "", pass("no version to compare")},
		"current not known":   {"1.31", "", unknown},
		"no version":          {"newest", "1.31.2", pass("the error of Azure explains it")},
		"one number":          {"2", "1.31.2", pass("the error of Azure explains it")},
		"a negative number":   {"1.-5", "1.31.2", pass("the error of Azure explains it")},
		"a huge number":       {"1.99999999999999999999", "1.31.2", pass("the error of Azure explains it")},
		"a bad current one":   {"1.32", "unknown", pass("an invalid version does not block")},
		"a negative current":  {"1.32", "1.-5", pass("an invalid version does not block")},
		"half a version":      {"9.x", "1.31.2", pass("the error of Azure explains it")},
		"a prefix":            {"v1.32", "1.31.2", pass("the error of Azure explains it")},
		"a later pre-release": {"1.32.0-alpha.1", "1.31.2", wait("only the first two numbers are compared")},
	}
}
