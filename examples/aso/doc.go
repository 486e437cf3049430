// Package aso has the checks and error rules of Azure Service Operator (ASO)
// for resources of Azure. Copy from it. Each resource has a type with the
// fields that its checks need, and a function that returns its flow.Extensions.
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
// Each service has a file. [Classifiers] has the rules for errors. README.md
// maps ASO's extension points to this library.
//
// # Checks
//
// Most checks need a line or two and have no side effect. They decide as ASO
// does, except that unknown blocks here:
//
//   - A state that is not reported blocks. So does a nil pointer to it. The
//     next pass or the next owner lookup reads it. A resource that does not
//     exist yet has no state and proceeds.
//   - An owner that is not set, not found, or of another kind blocks, with a
//     reason for each.
//   - The resolver (flow.WithResolver) looks up an owner that is known only by
//     its ID in Azure. Without a resolver the owner blocks.
//   - White space around a state is ignored.
//
// The section "Where we differ" of README.md lists every other decision. The
// tests record both decisions.
//
// # Gates
//
// A check that begins an operation and waits for its end is a checks.Gate. A
// link on Apply extends the PUT. Both send their requests through a small
// interface, a parameter of the function. It returns the errors of the SDK, and
// azure.Errors reads them.
package aso
