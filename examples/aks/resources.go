package main

import "github.com/windlass-go/windlass/checks"

// The kinds of resources that the example knows.
const (
	clusterKind = "ManagedCluster"
	poolKind    = "AgentPool"
	subnetKind  = "Subnet"
)

// Meta is what all resources have.
type Meta struct {
	Name string `yaml:"name"`
	// Generation counts the changes of the spec. Here nobody changes it, so it stays 1.
	Generation int64 `yaml:"-"`
}

// Cluster is a managed Kubernetes cluster.
type Cluster struct {
	Kind   string      `yaml:"kind"`
	Meta   Meta        `yaml:"metadata"`
	Spec   ClusterSpec `yaml:"spec"`
	Status Status      `yaml:"-"`
}

// ClusterSpec is what a person wants of a cluster.
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

// PoolSpec is what a person wants of an agent pool.
type PoolSpec struct {
	Owner  string `yaml:"owner"` // the name of its cluster
	VMSize string `yaml:"vmSize"`
	Count  int32  `yaml:"count"`
	// Subnet is the name of the Subnet that the nodes are in, as "network/subnet". Empty: the cluster's own.
	Subnet string `yaml:"subnet"`
}

// Status is what Azure said of a resource when it was last seen.
type Status struct {
	ProvisioningState *string // nil: never reported
}

// String is the provisioning state, empty if it was never reported.
func (s *Status) String() string {
	if s.ProvisioningState == nil {
		return ""
	}
	return *s.ProvisioningState
}

// Subnet is here to be referred to. Nothing reconciles it: a person makes it.
type Subnet struct {
	Kind string `yaml:"kind"`
	Meta Meta   `yaml:"metadata"`
	// AppearsAfter is when, counted from the start of the run, a person makes it. Zero: it is there from the start.
	AppearsAfter Duration `yaml:"appearsAfter"`
}

// Ref names the cluster.
func (c *Cluster) Ref() checks.Ref { return checks.Ref{Kind: clusterKind, Name: c.Meta.Name} }

// Ref names the agent pool.
func (p *AgentPool) Ref() checks.Ref { return checks.Ref{Kind: poolKind, Name: p.Meta.Name} }

// OwnerRef names the pool's cluster.
func (p *AgentPool) OwnerRef() checks.Ref { return checks.Ref{Kind: clusterKind, Name: p.Spec.Owner} }

// SubnetRef names the pool's subnet; the zero Ref if it has none of its own.
func (p *AgentPool) SubnetRef() checks.Ref {
	if p.Spec.Subnet == "" {
		return checks.Ref{}
	}
	return checks.Ref{Kind: subnetKind, Name: p.Spec.Subnet}
}

// Ref names the subnet.
func (s *Subnet) Ref() checks.Ref { return checks.Ref{Kind: subnetKind, Name: s.Meta.Name} }
