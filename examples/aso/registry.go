package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Object is the common type of all resources, for an engine of all kinds.
type Object interface{ GetName() string }

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
// needs no type of its own. The reconcilers need
// flow.WithErrors(azure.Errors()) to read the errors of Azure.
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
		register(r, kind, flow.Extensions[Object]{})
	}
}

func register[T Object](r *flow.Registry[Object], kind string, own flow.Extensions[T]) {
	rules := flow.Extensions[T]{}
	if table, ok := Classifiers[kind]; ok {
		rules.Classify = table.Chain()
	}
	flow.Register(r, kind, base[T]().Extend(own, rules))
}

// base has the extensions that all kinds share: no request is sent before the
// owner is ready. As in ASO, it has no rule for quotas: Slow notices a raised
// quota within minutes.
func base[T Object]() flow.Extensions[T] {
	return flow.Extensions[T]{OwnerCheck: chain.New(checks.OwnerReady())}
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
