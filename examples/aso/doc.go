// Package aso has the checks and the error rules that Azure Service Operator (ASO) keeps for real resources of Azure,
// written with this library. It is there to be copied from: for each resource a type with the fields that decide, and a
// function that gives its flow.Extensions.
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
// Each service is a file. [Classifiers] are the rules for errors, and README.md says what becomes of which part of ASO.
//
// # Checks
//
// Most are a line or two, and have no side effect. They decide as ASO does, but for what is not known, which does not let
// the work through here:
//
//   - A state that nobody reported blocks, and so does a nil on the way to it. It comes with the next GET of the resource or
//     the next look at the owner, so nothing is stuck. A resource that is not in the cloud yet has no state, and goes on.
//   - An owner that is not there, not found, or of another kind blocks, with a reason for each.
//   - An owner of which only the ID in Azure is known is for the resolver to find (flow.WithResolver); without one it blocks.
//   - White space around a state is no part of it.
//
// Where a resource differs besides, its comment says so, and the tests have ASO's decision beside ours.
//
// # What acts
//
// A check that begins something and waits for it is a checks.Gate; what belongs to the operation is a link around it. Both
// have their requests to Azure behind a small interface, which is given to the function. A request that is refused is an
// error of the interface's, as the SDK gives it; 404 and 409 are recognised by their status.
package aso
