// Package aso has the checks and the rules for errors that Azure Service Operator (ASO) has for real resources of Azure, written
// with this library. Copy from it: each resource has a type with the fields that decide, and a function that returns its
// flow.Extensions.
//
//	kusto               Cluster, Database
//	containerservice    ManagedCluster, ManagedClustersAgentPool
//	dbforpostgresql     FlexibleServer, FlexibleServersDatabase, FlexibleServersFirewallRule
//	documentdb          CassandraDataCenter, DatabaseAccount, SqlDatabase
//	redhatopenshift     HcpOpenShiftCluster
//	keyvault            VaultKey
//	network             PrivateEndpoint, VirtualNetworksSubnet
//	databasewatcher     SharedPrivateLink, Target
//	dataprotection      BackupVaultsBackupInstance
//
// Each service is a file. [Classifiers] has the rules for errors. README.md maps each part of ASO to one of this library.
//
// # Checks
//
// Most checks are a line or two and have no side effect. They decide as ASO does, except that unknown blocks here:
//
//   - A state that is not reported blocks, and so does a nil on the way to it. The next GET of the resource or the next look
//     at the owner reports it. A resource that is not in the cloud yet has no state, and proceeds.
//   - An owner that is not set, not found, or of another kind blocks, with a reason for each.
//   - An owner that is known only by its ID in Azure is looked up by the resolver (flow.WithResolver). Without one it blocks.
//   - White space around a state is ignored.
//
// The section "Where we differ" of README.md lists every input that ASO decides otherwise. The tests have both decisions.
//
// # Gates
//
// A check that begins something and waits for its end is a checks.Gate. A link around the operation does what belongs to the
// operation. Both send their requests to Azure through a small interface, a parameter of the function. The interface returns
// an error of Azure as the SDK does; azure.Errors reads it.
package aso
