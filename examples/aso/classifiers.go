package aso

import "github.com/windlass-go/windlass/classify"

// Classifiers has the rules for errors of 38 kinds of Azure resources, by
// service and kind: those of the 24 classifiers of Azure Service Operator
// v2.13.0, and of 14 classifiers of its other revisions. Copy the rules that
// you need:
//
//	Classify: aso.Classifiers["cache Redis"].Chain()
//
// A table decides before the default table. An unknown name returns a nil
// table, which has no rules.
//
// Codes and texts are compared exactly, as in Azure Service Operator. AnyCase
// of a rule ignores the case of a code, (?i) that of a text.
//
// Each comment names the cause and estimates its duration. Slow begins at 1 s
// and doubles to 3 minutes. Fast doubles to 30 s: use it only for waits of
// seconds that many resources share.
var Classifiers = map[string]classify.Table{
	"app ContainerApp": notProvisioned,
	"app Job":          notProvisioned,

	"cache Redis":              redisIsBusy,
	"cache RedisFirewallRule":  redisIsBusy,
	"cache RedisLinkedServer":  redisIsBusy,
	"cache RedisPatchSchedule": redisIsBusy,

	// A domain can be deleted minutes after its route, when all edges have
	// removed the route.
	"cdn AfdCustomDomain": {
		{Code: "BadRequest", Message: classify.Contains("This resource is still associated with a route"), Retry: classify.Slow},
	},
	"cdn Route": originIsMissing,
	"cdn Rule":  originIsMissing,
	// A policy needs its domain. The domain is provisioned within minutes.
	"cdn SecurityPolicy": {
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.Contains("is not associated with the AFDX profile", "is in a invalid provisioning state")},
	},

	// The disk access is being created, or it failed and is being created
	// again. Both take about a minute.
	"compute Disk": {
		{Code: "BadRequest", Message: classify.Regexp(`DiskAccess.*not found`), Retry: classify.Slow},
		{Code: "Conflict", Message: classify.Regexp(`DiskAccess.*is in failed state`), Retry: classify.Slow},
	},
	"compute VirtualMachine":         computeRefuses,
	"compute VirtualMachineScaleSet": computeRefuses,

	// The hub or the cluster of the member is being created. This takes
	// minutes.
	"containerservice FleetsMember": {
		{Code: "DependentResourceNotFound", Retry: classify.Slow},
	},
	// The role was assigned, but the cluster's service sees it some minutes
	// later.
	"containerservice ManagedCluster": {
		{Code: "CustomKubeletIdentityMissingPermissionError", Retry: classify.Slow},
	},
	// The control plane is being upgraded to the pool's version. This takes 10
	// to 20 minutes.
	"containerservice ManagedClustersAgentPool": {
		{Code: "NodePoolMcVersionIncompatible", Retry: classify.Slow},
	},

	// The service principal or its role is new. Directories synchronise within
	// minutes.
	"documentdb CassandraCluster": {
		{Code: "BadRequest", Message: classify.Contains("service principal"), Retry: classify.Slow},
	},
	// The region has no capacity. It needs no change of the spec, so it is not
	// OnChange, and it takes longer than minutes, so it is not Slow. The
	// default table has the same rule for SkuNotAvailable.
	"documentdb DatabaseAccount": {
		{Code: "ServiceUnavailable", Message: classify.Contains("currently experiencing high demand"), Retry: classify.VerySlow},
	},
	"documentdb MongodbDatabase": cosmosRefuses,
	"documentdb SqlDatabase":     cosmosRefuses,
	// The identity is new. Directories synchronise within minutes.
	"documentdb SqlRoleAssignment": {
		{Code: "BadRequest", Message: classify.Contains("was not found in the AAD tenant"), Retry: classify.Slow},
	},

	// The workspace is being created. This takes a minute or two.
	"insights DataCollectionRule": {
		{Code: "WorkspaceNotFound", Retry: classify.Slow},
	},
	// The data source of the rule is being created, or its role is new. Both
	// take minutes.
	"insights ScheduledQueryRule": {
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.AnyOf(classify.Contains("does not exist"), classify.Contains("insufficient access"))},
	},

	// The workspace's storage account is being created. This takes about a
	// minute.
	"machinelearningservices Workspace": {
		{Code: "BadRequest", Message: classify.Contains("StorageAccountIsNotProvisioned"), Retry: classify.Slow},
	},

	// The policy is being changed or created. This takes minutes.
	"network AzureFirewall": {
		{Code: "AzfwAddToFirewallPolicyFailed", Message: classify.Regexp(`(?i)failed to reference Firewall Policy`), Retry: classify.Slow},
	},
	// A ruleset accepts one change at a time, and a change takes seconds. Fast
	// lets the next rule start soon.
	"network DnsForwardingRuleSetsForwardingRule": {
		{Message: classify.Contains("Another operation is pending on the specified resource"), Retry: classify.Fast},
	},
	// The resolver's endpoint is being created. This takes minutes. The code
	// varies.
	"network DnsForwardingRuleset": {
		{Message: classify.Contains("was not found"), Retry: classify.Slow},
	},
	"network DnsZonesAAAARecord":  targetIsMissing,
	"network DnsZonesARecord":     targetIsMissing,
	"network DnsZonesCNAMERecord": targetIsMissing,
	// The network security group or the storage account of the log is being
	// created. This takes about a minute.
	"network NetworkWatchersFlowLog": {
		{Code: "NetworkSecurityGroupNotFoundForFlowLog StorageProvisioningStateNotSucceeded", Retry: classify.Slow},
	},
	"network PublicIPAddress": neighbourIsBusy,
	// The network's address space is being extended, or the subnet's range is
	// wrong. The error does not tell them apart, so it is not Fast.
	"network VirtualNetworksSubnet": {
		{Code: "NetcfgSubnetRangeOutsideVnet", Retry: classify.Slow},
	},
	"network VirtualNetworksVirtualNetworkPeering": neighbourIsBusy,

	// The namespace or the topic is not ready for subscriptions. This takes
	// minutes.
	"servicebus NamespacesTopicsSubscription": {
		{Code: "MessagingGatewayBadRequest", Retry: classify.Slow},
	},

	// Only another password helps. An engine that watches the secret retries at
	// once when it changes.
	"sql Server": {
		{Code: "PasswordNotComplex", Retry: classify.OnChange},
	},
	// The server's administrator, a separate resource, is being set. This takes
	// about a minute.
	"sql ServersAzureADOnlyAuthentication": {
		{Code: "InvalidServerAADOnlyAuthNoAADAdminPropertyName", AnyCase: true, Retry: classify.Slow},
	},
	// Advanced Data Security, a separate resource, is not on yet. This takes
	// about a minute.
	"sql ServersVulnerabilityAssessment": {
		{Code: "VulnerabilityAssessmentADSIsDisabled", Retry: classify.Slow},
	},
}

// These tables are shared by several kinds.
var (
	// The environment of the app or job is being created. This takes a minute
	// or two.
	notProvisioned = classify.Table{
		{Code: "ManagedEnvironmentNotProvisioned", Retry: classify.Slow},
	}
	// A cache accepts one change at a time. A change takes seconds.
	redisIsBusy = classify.Table{
		{Name: "Redis is busy", Code: "Conflict", Message: classify.Regexp(`(?i)try again later`), Retry: classify.Fast},
	}
	// The origin group of the route or rule has no origin yet. This takes a
	// minute or two.
	originIsMissing = classify.Table{
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.Contains("originGroup is created successfully", "at least one enabled origin is created")},
	}
	// The quota is used up, or another operation changes the machine. Both end
	// in minutes.
	computeRefuses = classify.Table{
		{Code: "OperationNotAllowed", Retry: classify.Slow},
	}
	// The account is being created or changed. This takes minutes.
	cosmosRefuses = classify.Table{
		{Code: "BadRequest", Retry: classify.Slow},
	}
	// The target of the record is being created. It may be of any kind, so the
	// duration is unknown.
	targetIsMissing = classify.Table{
		{Code: "BadRequest", Message: classify.Regexp(`The referenced resource.*was not found`), Retry: classify.Slow},
	}
	// A network resource that this one refers to is being written. This takes
	// seconds.
	neighbourIsBusy = classify.Table{
		{Code: "ReferencedResourceNotProvisioned", Retry: classify.Fast},
	}
)
