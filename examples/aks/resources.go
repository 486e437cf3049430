package main

import "github.com/windlass-go/windlass/checks"

// The kinds of the example.
const (
	clusterKind = "ManagedCluster"
	poolKind    = "AgentPool"
	subnetKind  = "Subnet"
)

// Meta holds the fields that all kinds share.
type Meta struct {
	Name string `yaml:"name"`
	// Generation counts the changes of the spec. It stays 1 here, because the
	// specs never change.
	Generation int64 `yaml:"-"`
}

// Cluster is a managed Kubernetes cluster.
type Cluster struct {
	Kind   string      `yaml:"kind"`
	Meta   Meta        `yaml:"metadata"`
	Spec   ClusterSpec `yaml:"spec"`
	Status Status      `yaml:"-"`
}

type ClusterSpec struct {
	Location          string `yaml:"location"`
	KubernetesVersion string `yaml:"kubernetesVersion"`
}

// AgentPool is a pool of nodes of a cluster.
type AgentPool struct {
	Kind   string   `yaml:"kind"`
	Meta   Meta     `yaml:"metadata"`
	Spec   PoolSpec `yaml:"spec"`
	Status Status   `yaml:"-"`
}

type PoolSpec struct {
	Owner  string `yaml:"owner"` // the name of its cluster
	VMSize string `yaml:"vmSize"`
	Count  int32  `yaml:"count"`
	// Subnet is the name of the nodes' Subnet, as "network/subnet". Empty: the
	// subnet of the cluster.
	Subnet string `yaml:"subnet"`
}

// Status holds the last report of Azure.
type Status struct {
	ProvisioningState *string // nil: never reported
}

// String returns the provisioning state, or "" if Azure never reported it.
func (s *Status) String() string {
	if s.ProvisioningState == nil {
		return ""
	}
	return *s.ProvisioningState
}

// Subnet is only referred to. A person creates it; no reconciler does.
type Subnet struct {
	Kind string `yaml:"kind"`
	Meta Meta   `yaml:"metadata"`
	// AppearsAfter is the time after the start at which a person creates the
	// subnet. Zero: it exists from the start.
	AppearsAfter Duration `yaml:"appearsAfter"`
}

// Ref names the cluster.
func (c *Cluster) Ref() checks.Ref { return checks.Ref{Kind: clusterKind, Name: c.Meta.Name} }

// Ref names the agent pool.
func (p *AgentPool) Ref() checks.Ref { return checks.Ref{Kind: poolKind, Name: p.Meta.Name} }

// OwnerRef names the pool's cluster.
func (p *AgentPool) OwnerRef() checks.Ref { return checks.Ref{Kind: clusterKind, Name: p.Spec.Owner} }

// SubnetRef names the pool's subnet. It is zero without one.
func (p *AgentPool) SubnetRef() checks.Ref {
	if p.Spec.Subnet == "" {
		return checks.Ref{}
	}
	return checks.Ref{Kind: subnetKind, Name: p.Spec.Subnet}
}

// Ref names the subnet.
func (s *Subnet) Ref() checks.Ref { return checks.Ref{Kind: subnetKind, Name: s.Meta.Name} }
