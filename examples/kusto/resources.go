package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/checks"
)

// The kinds of the example.
const (
	clusterKind  = "Cluster"
	databaseKind = "Database"
)

// Meta holds the fields that all kinds share.
type Meta struct {
	Name       string
	Generation int64 // counts the changes of the spec
}

// Cluster is a cluster of Azure Data Explorer.
type Cluster struct {
	Meta   Meta
	Spec   ClusterSpec
	Status ClusterStatus
}

// ClusterSpec does not include whether the cluster runs: people start and stop
// it.
type ClusterSpec struct {
	Location string
	SKU      armkusto.AzureSKUName
	Capacity int32
}

// ClusterStatus holds the last report of Azure. A check needs both states: a
// stopped cluster is provisioned, and a running cluster may have an operation
// under way.
type ClusterStatus struct {
	State             *armkusto.State             // nil: never reported
	ProvisioningState *armkusto.ProvisioningState // of the last operation; nil: never reported
}

// String returns both states, or "" if one was never reported.
func (s *ClusterStatus) String() string {
	if s.State == nil || s.ProvisioningState == nil {
		return ""
	}
	return string(*s.State) + "/" + string(*s.ProvisioningState)
}

// Database is a database that may be read and written.
type Database struct {
	Meta   Meta
	Spec   DatabaseSpec
	Status DatabaseStatus
}

// DatabaseSpec has its periods in the form of ISO 8601: P31D.
type DatabaseSpec struct {
	Owner            string // the name of its cluster
	Location         string
	HotCachePeriod   string // how long queries find the data in the cache
	SoftDeletePeriod string // how long the data is kept
}

// DatabaseStatus holds the last report of Azure.
type DatabaseStatus struct {
	ProvisioningState *armkusto.ProvisioningState // nil: never reported
}

// String returns the provisioning state, or "" if Azure never reported it.
func (s *DatabaseStatus) String() string {
	if s.ProvisioningState == nil {
		return ""
	}
	return string(*s.ProvisioningState)
}

// Ref names the cluster.
func (c *Cluster) Ref() checks.Ref { return checks.Ref{Kind: clusterKind, Name: c.Meta.Name} }

// Ref names the database.
func (d *Database) Ref() checks.Ref { return checks.Ref{Kind: databaseKind, Name: d.Meta.Name} }

// OwnerRef names the database's cluster.
func (d *Database) OwnerRef() checks.Ref { return checks.Ref{Kind: clusterKind, Name: d.Spec.Owner} }
