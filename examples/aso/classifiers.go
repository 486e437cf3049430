package aso

import "github.com/windlass-go/windlass/classify"

// Classifiers has the rules for errors of 38 kinds of Azure resources, by service and kind: those of the 24 classifiers of
// Azure Service Operator v2.13.0, and of 14 more that other revisions of it have. Copy what you need:
//
//	Classify: aso.Classifiers["cache Redis"].Chain()
//
// A table decides before the default of the service's errors. An unknown name returns a nil table, which has no rules.
//
// Codes and texts are compared exactly, as Azure Service Operator does, except where a rule says otherwise: AnyCase for a
// code, (?i) for a text.
//
// Each comment says what the service does, and estimates how long it takes. Slow begins at 1 s and doubles to 3 minutes.
// Fast doubles to 30 s: use it only for a wait of seconds that many resources share.
var Classifiers = map[string]classify.Table{
	// See notProvisioned.
	"app ContainerApp": notProvisioned,
	"app Job":          notProvisioned,

	// See redisIsBusy.
	"cache Redis":              redisIsBusy,
	"cache RedisFirewallRule":  redisIsBusy,
	"cache RedisLinkedServer":  redisIsBusy,
	"cache RedisPatchSchedule": redisIsBusy,

	// Deleting a route takes minutes to reach the edge, and the domain cannot go before that.
	"cdn AfdCustomDomain": {
		{Code: "BadRequest", Message: classify.Contains("This resource is still associated with a route"), Retry: classify.Slow},
	},
	// See originIsMissing.
	"cdn Route": originIsMissing,
	"cdn Rule":  originIsMissing,
	// A policy made together with the domain that it guards is refused until the domain is provisioned, in minutes.
	"cdn SecurityPolicy": {
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.Contains("is not associated with the AFDX profile", "is in a invalid provisioning state")},
	},

	// A disk access made together with the disk is not there yet, or failed and is made anew; either takes a minute or so.
	"compute Disk": {
		{Code: "BadRequest", Message: classify.Regexp(`DiskAccess.*not found`), Retry: classify.Slow},
		{Code: "Conflict", Message: classify.Regexp(`DiskAccess.*is in failed state`), Retry: classify.Slow},
	},
	// See computeRefuses.
	"compute VirtualMachine":         computeRefuses,
	"compute VirtualMachineScaleSet": computeRefuses,

	// The hub or the cluster that the member joins is still being made, which takes minutes.
	"containerservice FleetsMember": {
		{Code: "DependentResourceNotFound", Retry: classify.Slow},
	},
	// The role was assigned, and the cluster's service does not see it before some minutes have passed.
	"containerservice ManagedCluster": {
		{Code: "CustomKubeletIdentityMissingPermissionError", Retry: classify.Slow},
	},
	// The pool wants a version that the control plane is still being upgraded to: 10 to 20 minutes.
	"containerservice ManagedClustersAgentPool": {
		{Code: "NodePoolMcVersionIncompatible", Retry: classify.Slow},
	},

	// The service principal was made, or given its role, a moment ago; directories take minutes to tell each other.
	"documentdb CassandraCluster": {
		{Code: "BadRequest", Message: classify.Contains("service principal"), Retry: classify.Slow},
	},
	// The region has no room. Capacity, or leave to use it, comes without a change of the spec, so it is not OnChange; it
	// does not come in minutes, so it is not Slow. The default table says the same of SkuNotAvailable.
	"documentdb DatabaseAccount": {
		{Code: "ServiceUnavailable", Message: classify.Contains("currently experiencing high demand"), Retry: classify.VerySlow},
	},
	// See cosmosRefuses.
	"documentdb MongodbDatabase": cosmosRefuses,
	"documentdb SqlDatabase":     cosmosRefuses,
	// The identity was made a moment ago; directories take minutes to tell each other.
	"documentdb SqlRoleAssignment": {
		{Code: "BadRequest", Message: classify.Contains("was not found in the AAD tenant"), Retry: classify.Slow},
	},

	// The workspace is still being made, in a minute or two.
	"insights DataCollectionRule": {
		{Code: "WorkspaceNotFound", Retry: classify.Slow},
	},
	// What the rule looks at is still being made, or the role that it looks with has not arrived: minutes.
	"insights ScheduledQueryRule": {
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.AnyOf(classify.Contains("does not exist"), classify.Contains("insufficient access"))},
	},

	// The storage account of the workspace is still being made, in a minute or so.
	"machinelearningservices Workspace": {
		{Code: "BadRequest", Message: classify.Contains("StorageAccountIsNotProvisioned"), Retry: classify.Slow},
	},

	// The policy is being changed, or made; firewalls and their policies take minutes.
	"network AzureFirewall": {
		{Code: "AzfwAddToFirewallPolicyFailed", Message: classify.Regexp(`(?i)failed to reference Firewall Policy`), Retry: classify.Slow},
	},
	// Rules of one ruleset are written one at a time, a few seconds each: Fast, so that each soon gets its turn.
	"network DnsForwardingRuleSetsForwardingRule": {
		{Message: classify.Contains("Another operation is pending on the specified resource"), Retry: classify.Fast},
	},
	// The resolver's endpoint is still being made, which takes minutes. The code is not always the same.
	"network DnsForwardingRuleset": {
		{Message: classify.Contains("was not found"), Retry: classify.Slow},
	},
	// See targetIsMissing.
	"network DnsZonesAAAARecord":  targetIsMissing,
	"network DnsZonesARecord":     targetIsMissing,
	"network DnsZonesCNAMERecord": targetIsMissing,
	// The network security group, or the storage account for the log, is still being made, in a minute or so.
	"network NetworkWatchersFlowLog": {
		{Code: "NetworkSecurityGroupNotFoundForFlowLog StorageProvisioningStateNotSucceeded", Retry: classify.Slow},
	},
	// See neighbourIsBusy.
	"network PublicIPAddress": neighbourIsBusy,
	// The network's address space is being extended, or the subnet's range is wrong: not Fast, since nobody can tell which.
	"network VirtualNetworksSubnet": {
		{Code: "NetcfgSubnetRangeOutsideVnet", Retry: classify.Slow},
	},
	"network VirtualNetworksVirtualNetworkPeering": neighbourIsBusy,

	// The namespace or the topic is not ready for its subscriptions yet, for some minutes.
	"servicebus NamespacesTopicsSubscription": {
		{Code: "MessagingGatewayBadRequest", Retry: classify.Slow},
	},

	// Only another password helps: OnChange, which a change of the secret ends at once in an engine that watches it.
	"sql Server": {
		{Code: "PasswordNotComplex", Retry: classify.OnChange},
	},
	// The server's administrator, a resource of its own, is still being set, in a minute or so.
	"sql ServersAzureADOnlyAuthentication": {
		{Code: "InvalidServerAADOnlyAuthNoAADAdminPropertyName", AnyCase: true, Retry: classify.Slow},
	},
	// Advanced Data Security, a resource of its own, is not switched on yet. It takes a minute or so.
	"sql ServersVulnerabilityAssessment": {
		{Code: "VulnerabilityAssessmentADSIsDisabled", Retry: classify.Slow},
	},
}

// Tables that several kinds share.
var (
	// The environment of an app or a job is still being created, which takes a minute or two.
	notProvisioned = classify.Table{
		{Code: "ManagedEnvironmentNotProvisioned", Retry: classify.Slow},
	}
	// A cache accepts one change at a time and answers "try again later" to others. Fast, because a change takes seconds.
	redisIsBusy = classify.Table{
		{Name: "Redis is busy", Code: "Conflict", Message: classify.Regexp(`(?i)try again later`), Retry: classify.Fast},
	}
	// A route or a rule that is created together with its origin group is refused until the group has an origin, which takes
	// a minute or two.
	originIsMissing = classify.Table{
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.Contains("originGroup is created successfully", "at least one enabled origin is created")},
	}
	// The machine's quota is used up, or another operation changes the machine. Either ends in minutes.
	computeRefuses = classify.Table{
		{Code: "OperationNotAllowed", Retry: classify.Slow},
	}
	// While an account is created or changed, Azure refuses its databases as bad requests, for some minutes.
	cosmosRefuses = classify.Table{
		{Code: "BadRequest", Retry: classify.Slow},
	}
	// The resource that the record points to is still being created. It may be of any kind, so the time is unknown.
	targetIsMissing = classify.Table{
		{Code: "BadRequest", Message: classify.Regexp(`The referenced resource.*was not found`), Retry: classify.Slow},
	}
	// Another network resource that this one refers to is being written, which takes seconds.
	neighbourIsBusy = classify.Table{
		{Code: "ReferencedResourceNotProvisioned", Retry: classify.Fast},
	}
)
