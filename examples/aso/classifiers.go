package aso

import "github.com/windlass-go/windlass/classify"

// Classifiers is what each of 32 resources of Azure needs beyond the default: data to copy, by service and kind. A table is
// used as
//
//	Classify: chain.New(aso.Classifiers["cache Redis"].Link())
//
// and stands in front of the default. A name that is not here gives a table without rows, which changes nothing.
//
// Each comment says what the service does and why the speed is what it is; how long things take is a rough judgement. Slow
// begins at a second, too, and doubles to three minutes, so that it is as good as Fast for what is over in half a minute.
// Fast is for what is worth asking each half minute for as long as it takes.
var Classifiers = map[string]classify.Table{
	// See redisIsBusy.
	"cache Redis":              redisIsBusy,
	"cache RedisFirewallRule":  redisIsBusy,
	"cache RedisLinkedServer":  redisIsBusy,
	"cache RedisPatchSchedule": redisIsBusy,

	// Deleting a route takes minutes to reach the edge, and the domain cannot go before that.
	"cdn AfdCustomDomain": {
		{Code: "BadRequest", Message: classify.Contains("This resource is still associated with a route"), Retry: classify.Slow},
	},
	// A route made together with its origin group is refused until that has an origin, which takes a minute or two.
	"cdn Route": {
		{Code: "BadRequest", Retry: classify.Slow,
			Message: classify.Contains("originGroup is created successfully", "at least one enabled origin is created")},
	},
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
		{Code: "AzfwAddToFirewallPolicyFailed", Message: classify.Contains("failed to reference Firewall Policy"), Retry: classify.Slow},
	},
	// Rules of one ruleset are written one at a time, a few seconds each: Fast, so that each soon gets its turn.
	"network DnsForwardingRuleSetsForwardingRule": {
		{Message: classify.Contains("Another operation is pending on the specified resource"), Retry: classify.Fast},
	},
	// The resolver's endpoint is still being made, which takes minutes. The code is not always the same.
	"network DnsForwardingRuleset": {
		{Message: classify.Contains("was not found"), Retry: classify.Slow},
	},
	// What the record points to is still being made. It may be anything, so nobody knows for how long.
	"network DnsZonesCNAMERecord": {
		{Code: "BadRequest", Message: classify.Regexp(`The referenced resource.*was not found`), Retry: classify.Slow},
	},
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
		{Code: "InvalidServerAADOnlyAuthNoAADAdminPropertyName", Retry: classify.Slow},
	},
}

// What several resources share.
var (
	// A cache takes one change at a time and asks to be tried again later. Fast, so that each of its rules soon gets its turn.
	redisIsBusy = classify.Table{
		{Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
	}
	// A quota is used up, or something else is done to the machine: over when that is done or another machine goes, in minutes.
	computeRefuses = classify.Table{
		{Code: "OperationNotAllowed", Retry: classify.Slow},
	}
	// While an account is made or changed its databases are refused as bad requests, for some minutes.
	cosmosRefuses = classify.Table{
		{Code: "BadRequest", Retry: classify.Slow},
	}
	// The other network resource that is referred to is being written, which takes seconds.
	neighbourIsBusy = classify.Table{
		{Code: "ReferencedResourceNotProvisioned", Retry: classify.Fast},
	}
)
