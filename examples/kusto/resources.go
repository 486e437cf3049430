package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/checks"
)

// The kinds of resources that the example knows.
const (
	clusterKind  = "Cluster"
	databaseKind = "Database"
)

// Meta is what all resources have.
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

// ClusterSpec is what a person wants of a cluster. Whether it runs is not among it: people start and stop it.
type ClusterSpec struct {
	Location string
	SKU      armkusto.AzureSKUName
	Capacity int32
}

// ClusterStatus is what Azure said of a cluster when it was last seen. There are two states, and each alone lets through
// what the other one would stop: a stopped cluster is provisioned, and one that is being changed may run.
type ClusterStatus struct {
	State             *armkusto.State             // nil: never reported, as below
	ProvisioningState *armkusto.ProvisioningState // of the last operation on it
}

// String is both states, empty if none was ever reported.
func (s *ClusterStatus) String() string {
	if s.State == nil || s.ProvisioningState == nil {
		return ""
	}
	return string(*s.State) + "/" + string(*s.ProvisioningState)
}

// Database is a database of a cluster that may be read and written.
type Database struct {
	Meta   Meta
	Spec   DatabaseSpec
	Status DatabaseStatus
}

// DatabaseSpec is what a person wants of a database. Periods are written as in ISO 8601: P31D.
type DatabaseSpec struct {
	Owner            string // the name of its cluster
	Location         string
	HotCachePeriod   string // how long data is kept where queries are fast
	SoftDeletePeriod string // how long data is kept
}

// DatabaseStatus is what Azure said of a database when it was last seen.
type DatabaseStatus struct {
	ProvisioningState *armkusto.ProvisioningState // nil: never reported
}

// String is the provisioning state, empty if it was never reported.
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
