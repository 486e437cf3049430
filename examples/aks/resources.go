package main

import "github.com/windlass-go/windlass/checks"

// The kinds of the example.
const (
	clusterKind = "ManagedCluster"
	poolKind    = "AgentPool"
	subnetKind  = "Subnet"
)

// Cluster is a managed Kubernetes cluster.
type Cluster struct {
	Name                        string
	Location, KubernetesVersion string
	Status
}

// AgentPool is a pool of nodes of a cluster.
type AgentPool struct {
	Name, Owner string // Owner is the name of its cluster
	VMSize      string
	Count       int32
	// Subnet is the name of the nodes' subnet, as "network/subnet". Empty: the
	// subnet of the cluster.
	Subnet string
	Status
}

// Status holds the last report of Azure.
type Status struct {
	ProvisioningState *string // nil: never reported
}

// Shown returns the provisioning state, or "" if Azure never reported it.
func (s *Status) Shown() string {
	if s.ProvisioningState == nil {
		return ""
	}
	return *s.ProvisioningState
}

// Ref names the cluster.
func (c *Cluster) Ref() checks.Ref { return checks.Ref{Kind: clusterKind, Name: c.Name} }

// Ref names the agent pool.
func (p *AgentPool) Ref() checks.Ref { return checks.Ref{Kind: poolKind, Name: p.Name} }

// OwnerRef names the pool's cluster.
func (p *AgentPool) OwnerRef() checks.Ref { return checks.Ref{Kind: clusterKind, Name: p.Owner} }

// SubnetRef names the pool's subnet. It is zero without one.
func (p *AgentPool) SubnetRef() checks.Ref {
	if p.Subnet == "" {
		return checks.Ref{}
	}
	return checks.Ref{Kind: subnetKind, Name: p.Subnet}
}
