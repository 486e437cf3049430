package classify

import (
	"testing"
)

// TestAzureRows has what each of 32 resources of Azure needs beyond the default, as its table, with failures that it is
// for and ones that only look like it. It shows that each is a row (of Disk, two).
func TestAzureRows(t *testing.T) {
	redis := Table{{Code: "Conflict", Message: Contains("try again later"), Retry: Fast}}
	redisHits := []Failure{{Code: "Conflict", Status: 409, Message: "The resource is busy, please Try Again Later."}}
	redisMisses := []Failure{{Code: "Conflict", Message: "The name is taken."}, {Code: "BadRequest", Message: "try again later"}}

	badRequest := Table{{Code: "BadRequest", Retry: Slow}}
	badRequestHits := []Failure{{Code: "BadRequest", Status: 400, Message: "whatever"}}
	badRequestMisses := []Failure{{Code: "BadRequestFormat", Status: 400}, {Code: "InvalidTemplate", Status: 400}}

	operationNotAllowed := Table{{Code: "OperationNotAllowed", Retry: Fast}}
	operationHits := []Failure{{Code: "OperationNotAllowed", Status: 409}, {Code: "OperationNotAllowed", Status: 200}}
	operationMisses := []Failure{{Code: "OperationNotSupported", Status: 409}}

	notProvisioned := Table{{Code: "ReferencedResourceNotProvisioned", Retry: Fast}}
	notProvisionedHits := []Failure{{Code: "ReferencedResourceNotProvisioned", Status: 429}}
	notProvisionedMisses := []Failure{{Code: "ReferencedResourceNotFound", Status: 409}}

	cases := map[string]struct {
		table     Table
		hit, miss []Failure
	}{
		"cache Redis":                {redis, redisHits, redisMisses},
		"cache RedisFirewallRule":    {redis, redisHits, redisMisses},
		"cache RedisLinkedServer":    {redis, redisHits, redisMisses},
		"cache RedisPatchSchedule":   {redis, redisHits, redisMisses},
		"documentdb SqlDatabase":     {badRequest, badRequestHits, badRequestMisses},
		"documentdb MongodbDatabase": {badRequest, badRequestHits, badRequestMisses},
		"documentdb SqlRoleAssignment": {
			Table{{Code: "BadRequest", Message: Contains("was not found in the AAD tenant"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The principal ID was not found in the AAD tenant(s)."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The principal was not found."}},
		},
		"documentdb CassandraCluster": {
			Table{{Code: "BadRequest", Message: Contains("service principal"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The service principal has no rights on the subnet."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The principal has no rights."}, {Code: "Forbidden", Message: "service principal"}},
		},
		"documentdb DatabaseAccount": {
			Table{{Code: "ServiceUnavailable", Message: Contains("currently experiencing high demand"), Retry: OnChange}},
			[]Failure{{Code: "ServiceUnavailable", Status: 503, Message: "We are currently experiencing high demand in this region."}},
			[]Failure{{Code: "ServiceUnavailable", Status: 503, Message: "Try again."}},
		},
		"compute VirtualMachine":         {operationNotAllowed, operationHits, operationMisses},
		"compute VirtualMachineScaleSet": {operationNotAllowed, operationHits, operationMisses},
		"compute Disk": {
			Table{
				{Code: "BadRequest", Message: Regexp(`DiskAccess.*not found`), Retry: Fast},
				{Code: "Conflict", Message: Regexp(`DiskAccess.*is in failed state.`), Retry: Fast},
			},
			[]Failure{
				{Code: "BadRequest", Status: 400, Message: "The DiskAccess resource x is not found."},
				{Code: "Conflict", Status: 409, Message: "DiskAccess x is in failed state."},
			},
			[]Failure{
				{Code: "BadRequest", Status: 400, Message: "DiskAccess x is in failed state."},
				{Code: "Conflict", Status: 409, Message: "not found: DiskAccess x"},
			},
		},
		"containerservice ManagedCluster": {
			Table{{Code: "CustomKubeletIdentityMissingPermissionError", Retry: Fast}},
			[]Failure{{Code: "CustomKubeletIdentityMissingPermissionError", Status: 400}},
			[]Failure{{Code: "CustomKubeletIdentityMissing", Status: 400}},
		},
		"containerservice ManagedClustersAgentPool": {
			Table{{Code: "NodePoolMcVersionIncompatible", Retry: Slow}},
			[]Failure{{Code: "NodePoolMcVersionIncompatible", Status: 400}},
			[]Failure{{Code: "NodePoolVersionIncompatible", Status: 400}},
		},
		"containerservice FleetsMember": {
			Table{{Code: "DependentResourceNotFound", Retry: Fast}},
			[]Failure{{Code: "DependentResourceNotFound", Status: 404}},
			[]Failure{{Code: "ResourceNotFound", Status: 404}},
		},
		"network DnsForwardingRuleset": {
			Table{{Message: Contains("was not found"), Retry: Fast}},
			[]Failure{{Code: "Anything", Status: 400, Message: "The endpoint was not found."}, {Message: "x was not found"}},
			[]Failure{{Code: "NotFound", Status: 404, Message: "The endpoint is not found."}},
		},
		"network DnsForwardingRuleSetsForwardingRule": {
			Table{{Message: Contains("Another operation is pending on the specified resource"), Retry: Fast}},
			[]Failure{{Code: "Conflict", Status: 409, Message: "Another operation is pending on the specified resource."}},
			[]Failure{{Code: "Conflict", Status: 409, Message: "Another operation is pending."}},
		},
		"network DnsZonesCNAMERecord": {
			Table{{Code: "BadRequest", Message: Regexp(`The referenced resource.*was not found`), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The referenced resource '/x' was not found."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The resource '/x' was not found."}},
		},
		"network AzureFirewall": {
			Table{{Code: "AzfwAddToFirewallPolicyFailed", Message: Regexp(`(?i)failed to reference Firewall Policy`), Retry: Fast}},
			[]Failure{{Code: "AzfwAddToFirewallPolicyFailed", Status: 400, Message: "Failed to reference firewall policy x"}},
			[]Failure{{Code: "AzfwAddToFirewallPolicyFailed", Status: 400, Message: "Failed to add a policy"}},
		},
		"network PublicIPAddress":                      {notProvisioned, notProvisionedHits, notProvisionedMisses},
		"network VirtualNetworksVirtualNetworkPeering": {notProvisioned, notProvisionedHits, notProvisionedMisses},
		"network VirtualNetworksSubnet": {
			Table{{Code: "NetcfgSubnetRangeOutsideVnet", Retry: Fast}},
			[]Failure{{Code: "NetcfgSubnetRangeOutsideVnet", Status: 400}},
			[]Failure{{Code: "NetcfgSubnetRangesOverlap", Status: 400}},
		},
		"network NetworkWatchersFlowLog": {
			Table{{Code: "NetworkSecurityGroupNotFoundForFlowLog StorageProvisioningStateNotSucceeded", Retry: Fast}},
			[]Failure{{Code: "NetworkSecurityGroupNotFoundForFlowLog", Status: 400}, {Code: "StorageProvisioningStateNotSucceeded", Status: 400}},
			[]Failure{{Code: "NetworkSecurityGroupNotFound", Status: 400}},
		},
		"insights ScheduledQueryRule": {
			Table{{Code: "BadRequest", Message: AnyOf(Contains("does not exist"), Contains("insufficient access")), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The workspace does not exist."}, {Code: "BadRequest", Status: 400, Message: "You have insufficient access."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The query is wrong."}},
		},
		"insights DataCollectionRule": {
			Table{{Code: "WorkspaceNotFound", Retry: Fast}},
			[]Failure{{Code: "WorkspaceNotFound", Status: 404}},
			[]Failure{{Code: "NotFound", Status: 404}},
		},
		"servicebus NamespacesTopicsSubscription": {
			Table{{Code: "MessagingGatewayBadRequest", Retry: Slow}},
			[]Failure{{Code: "MessagingGatewayBadRequest", Status: 400}},
			[]Failure{{Code: "MessagingGatewayUnauthorized", Status: 400}},
		},
		"cdn Route": {
			Table{{Code: "BadRequest", Message: Contains("originGroup is created successfully", "at least one enabled origin is created"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "Make sure that the originGroup is created successfully and at least one enabled origin is created under it."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "Make sure that the originGroup is created successfully."}},
		},
		"cdn SecurityPolicy": {
			Table{{Code: "BadRequest", Message: Contains("is not associated with the AFDX profile", "is in a invalid provisioning state"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The domain is not associated with the AFDX profile or is in a invalid provisioning state."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "The domain is in a invalid provisioning state."}},
		},
		"cdn AfdCustomDomain": {
			Table{{Code: "BadRequest", Message: Contains("This resource is still associated with a route"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "This resource is still associated with a route. Delete it first."}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "This resource is associated."}},
		},
		"machinelearningservices Workspace": {
			Table{{Code: "BadRequest", Message: Contains("StorageAccountIsNotProvisioned"), Retry: Slow}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "StorageAccountIsNotProvisioned: wait for it"}},
			[]Failure{{Code: "BadRequest", Status: 400, Message: "Storage account is not provisioned"}},
		},
		"sql Server": {
			Table{{Code: "PasswordNotComplex", Retry: OnChange}},
			[]Failure{{Code: "PasswordNotComplex", Status: 400}},
			[]Failure{{Code: "PasswordExpired", Status: 400}, {Status: 400}},
		},
		"sql ServersAzureADOnlyAuthentication": {
			Table{{Code: "InvalidServerAADOnlyAuthNoAADAdminPropertyName", Retry: Slow}},
			[]Failure{{Code: "INVALIDServerAADOnlyAuthNoAADAdminPropertyName", Status: 400}},
			[]Failure{{Code: "InvalidServerAADOnlyAuth", Status: 400}},
		},
	}
	if len(cases) != 32 {
		t.Errorf("%d resources, want 32", len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, f := range c.hit {
				before, got := classifyBy(t, &f), classifyBy(t, &f, c.table.Link())
				if want, _ := linear(c.table, &f); got.Rule() != want.String() || got.Retry() != want.Retry {
					t.Errorf("%+v: got %v, want rule %s", f, got, want)
				}
				if got.Retry() == before.Retry() && got.Rule() == before.Rule() {
					t.Errorf("%+v: the row makes no difference: %v", f, got)
				}
			}
			for _, f := range c.miss {
				if before, got := classifyBy(t, &f), classifyBy(t, &f, c.table.Link()); factsOf(got) != factsOf(before) {
					t.Errorf("%+v: the row must not decide: got %v, want %v", f, got, before)
				}
			}
		})
	}
}
