package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// APIs has the clients of the checks that send requests. A check with a nil
// client fails when it runs.
type APIs struct {
	Throughputs ThroughputAPI
	Vaults      Vaults
	Connections ConnectionAPI
	Watchers    WatcherAPI
	Syncs       SyncAPI
}

// Register registers all kinds of this package: the extensions that all kinds
// share, those of the kind, and its rules for errors. A kind with rules only
// needs no type of its own. An operator replaces any by the common type of its
// resources. The reconcilers need flow.WithErrors(azure.Errors()) to read the
// errors of Azure.
func Register(r *flow.Registry[any], apis APIs) {
	register(r, "kusto Cluster", KustoClusterExtensions())
	register(r, "kusto Database", KustoDatabaseExtensions())
	register(r, "containerservice ManagedCluster", ManagedClusterExtensions())
	register(r, "containerservice ManagedClustersAgentPool", ManagedClustersAgentPoolExtensions())
	register(r, "dbforpostgresql FlexibleServer", FlexibleServerExtensions())
	register(r, "dbforpostgresql FlexibleServersDatabase", FlexibleServersDatabaseExtensions())
	register(r, "dbforpostgresql FlexibleServersFirewallRule", FlexibleServersFirewallRuleExtensions())
	register(r, "documentdb CassandraDataCenter", CassandraDataCenterExtensions())
	register(r, "documentdb DatabaseAccount", DatabaseAccountExtensions())
	register(r, "documentdb SqlDatabase", SQLDatabaseExtensions(apis.Throughputs))
	register(r, "redhatopenshift HcpOpenShiftCluster", HcpOpenShiftClusterExtensions())
	register(r, "keyvault VaultKey", VaultKeyExtensions(apis.Vaults))
	register(r, "network PrivateEndpoint", PrivateEndpointExtensions())
	register(r, "network VirtualNetworksSubnet", VirtualNetworksSubnetExtensions())
	register(r, "databasewatcher SharedPrivateLink", SharedPrivateLinkExtensions(apis.Connections))
	register(r, "databasewatcher Target", TargetExtensions(apis.Watchers))
	register(r, "dataprotection BackupVaultsBackupInstance", BackupVaultsBackupInstanceExtensions(apis.Syncs))

	for _, kind := range []string{
		"app ContainerApp", "app Job",
		"cache Redis", "cache RedisFirewallRule", "cache RedisLinkedServer", "cache RedisPatchSchedule",
		"cdn AfdCustomDomain", "cdn Route", "cdn Rule", "cdn SecurityPolicy",
		"compute Disk", "compute VirtualMachine", "compute VirtualMachineScaleSet",
		"containerservice FleetsMember",
		"documentdb CassandraCluster", "documentdb MongodbDatabase", "documentdb SqlRoleAssignment",
		"insights DataCollectionRule", "insights ScheduledQueryRule",
		"machinelearningservices Workspace",
		"network AzureFirewall", "network DnsForwardingRuleSetsForwardingRule", "network DnsForwardingRuleset",
		"network DnsZonesAAAARecord", "network DnsZonesARecord", "network DnsZonesCNAMERecord",
		"network NetworkWatchersFlowLog", "network PublicIPAddress", "network VirtualNetworksVirtualNetworkPeering",
		"servicebus NamespacesTopicsSubscription",
		"sql Server", "sql ServersAzureADOnlyAuthentication", "sql ServersVulnerabilityAssessment",
	} {
		register(r, kind, flow.Extensions[any]{})
	}
}

func register[T any](r *flow.Registry[any], kind string, own flow.Extensions[T]) {
	rules := flow.Extensions[T]{}
	if table, ok := Classifiers[kind]; ok {
		rules.Classify = table.Chain()
	}
	flow.Register(r, kind, base[T]().Extend(own, rules))
}

// base has the extensions that all kinds share: no request is sent before the
// owner is ready. As in ASO, it has no rule for quotas: Slow notices a raised
// quota within minutes.
func base[T any]() flow.Extensions[T] {
	return flow.Extensions[T]{OwnerCheck: chain.New(checks.OwnerReady())}
}
