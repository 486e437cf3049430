package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Object is all that an engine for all kinds knows of a resource.
type Object interface{ GetName() string }

// APIs are the requests to Azure that checks of some kinds make. A check whose API is nil fails when it is asked.
type APIs struct {
	Throughputs ThroughputAPI
	Vaults      Vaults
	Connections ConnectionAPI
	Watchers    WatcherAPI
	Syncs       SyncAPI
}

// Register puts all kinds of this package into the registry of an engine, a line each: what all kinds have in common, then
// what the kind needs, typed, and its rules for errors. Kinds with rules only need no type of their own.
func Register(r *flow.Registry[Object], apis APIs) {
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
		"cache Redis", "cache RedisFirewallRule", "cache RedisLinkedServer", "cache RedisPatchSchedule",
		"cdn AfdCustomDomain", "cdn Route", "cdn SecurityPolicy",
		"compute Disk", "compute VirtualMachine", "compute VirtualMachineScaleSet",
		"containerservice FleetsMember",
		"documentdb CassandraCluster", "documentdb MongodbDatabase", "documentdb SqlRoleAssignment",
		"insights DataCollectionRule", "insights ScheduledQueryRule",
		"machinelearningservices Workspace",
		"network AzureFirewall", "network DnsForwardingRuleSetsForwardingRule", "network DnsForwardingRuleset",
		"network DnsZonesCNAMERecord", "network NetworkWatchersFlowLog", "network PublicIPAddress",
		"network VirtualNetworksVirtualNetworkPeering",
		"servicebus NamespacesTopicsSubscription",
		"sql Server", "sql ServersAzureADOnlyAuthentication",
	} {
		register(r, kind, flow.Extensions[Object]{})
	}
}

func register[T Object](r *flow.Registry[Object], kind string, own flow.Extensions[T]) {
	rules := flow.Extensions[T]{}
	if table, ok := Classifiers[kind]; ok {
		rules.Classify = chain.New(table.Link())
	}
	flow.Register(r, kind, base[T]().Extend(own, rules))
}

// base is what all kinds have in common: nothing is asked of Azure before the owner is ready, and a quota that is used up
// is not asked for every few minutes.
func base[T Object]() flow.Extensions[T] {
	return flow.Extensions[T]{
		OwnerCheck: chain.New(checks.OwnerReady()),
		Classify:   chain.New(classify.Table{{Name: "Quota", Code: "QuotaExceeded ResourceQuotaExceeded", Retry: classify.VerySlow}}.Link()),
	}
}

// GetName implements [Object].
func (c *KustoCluster) GetName() string                { return c.Name }
func (d *KustoDatabase) GetName() string               { return d.Name }
func (c *ManagedCluster) GetName() string              { return c.Name }
func (p *ManagedClustersAgentPool) GetName() string    { return p.Name }
func (s *FlexibleServer) GetName() string              { return s.Name }
func (d *FlexibleServersDatabase) GetName() string     { return d.Name }
func (r *FlexibleServersFirewallRule) GetName() string { return r.Name }
func (d *CassandraDataCenter) GetName() string         { return d.Name }
func (a *DatabaseAccount) GetName() string             { return a.Name }
func (d *SQLDatabase) GetName() string                 { return d.Name }
func (c *HcpOpenShiftCluster) GetName() string         { return c.Name }
func (k *VaultKey) GetName() string                    { return k.Name }
func (e *PrivateEndpoint) GetName() string             { return e.Name }
func (s *VirtualNetworksSubnet) GetName() string       { return s.Name }
func (l *SharedPrivateLink) GetName() string           { return l.Name }
func (t *Target) GetName() string                      { return t.Name }
func (b *BackupVaultsBackupInstance) GetName() string  { return b.Name }
