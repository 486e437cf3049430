package aso

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// answers is a failure of Azure with the decision of ASO's classifier. "never" is
// a fatal error there. Our delay differs from "very slow" where ASO sets only the
// class and keeps the speed of status 400, about an hour, but the cause ends in
// minutes. It differs from "slow" where many changes wait for each other for
// seconds, and from "never" because a fatal error is retried at the resync.
type answers struct {
	code    string
	status  int
	message string
	aso     string // empty: the failure is one that no rule of the table may match
}

const fast, slow, verySlow, onChange = classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange

// classifierCases has the answers of each table, by the kinds that share it.
var classifierCases = []struct {
	kinds, reason string
	retry         classify.Retry
	answers       []answers
}{
	{"app ContainerApp, app Job", "the environment is being created", slow, []answers{
		{"ManagedEnvironmentNotProvisioned", 400, "", "very slow"}, {"ManagedEnvironmentNotProvisioned", 409, "", "slow"}, {"ManagedEnvironmentNotFound", 400, "", ""}}},
	{"cache Redis, cache RedisFirewallRule, cache RedisLinkedServer, cache RedisPatchSchedule", "the cache is busy", fast, []answers{
		{"Conflict", 409, "The resource is busy, please Try Again Later.", "slow"}, {"Conflict", 409, "The name is taken.", ""}, {"BadRequest", 400, "try again later", ""}}},
	{"cdn AfdCustomDomain", "the domain's route is being deleted", slow, []answers{
		{"BadRequest", 400, "This resource is still associated with a route. Delete it first.", "slow"},
		{"BadRequest", 400, "This resource is associated.", ""}, {"Conflict", 409, "This resource is still associated with a route.", ""}}},
	{"cdn Route, cdn Rule", "the origin group is being created", slow, []answers{
		{"BadRequest", 400, "Make sure that the originGroup is created successfully and at least one enabled origin is created under it.", "very slow"},
		{"BadRequest", 400, "Make sure that the originGroup is created successfully.", ""}, {"BadRequest", 400, "Make sure that at least one enabled origin is created.", ""}, {"Conflict", 409, "originGroup is created successfully, at least one enabled origin is created", ""}}},
	{"cdn SecurityPolicy", "the policy's domain is being created", slow, []answers{
		{"BadRequest", 400, "The domain is not associated with the AFDX profile or is in a invalid provisioning state.", "very slow"},
		{"BadRequest", 400, "The domain is in a invalid provisioning state.", ""}, {"BadRequest", 400, "The domain is not associated with the AFDX profile.", ""}, {"Conflict", 409, "is not associated with the AFDX profile, is in a invalid provisioning state", ""}}},
	{"compute Disk", "the disk access is being created or has failed", slow, []answers{
		{"BadRequest", 400, "The DiskAccess resource x is not found.", "very slow"}, {"Conflict", 409, "DiskAccess x is in failed state.", "slow"},
		{"BadRequest", 400, "DiskAccess x is in failed state.", ""}, {"Conflict", 409, "not found: DiskAccess x", ""}}},
	{"compute VirtualMachine, compute VirtualMachineScaleSet", "the quota is used up, or another operation changes the machine", slow, []answers{
		{"OperationNotAllowed", 409, "The operation exceeds the approved quota.", "slow"}, {"OperationNotAllowed", 400, "", "very slow"},
		{"OperationNotAllowed", 200, "", "slow"}, {"OperationNotSupported", 409, "", ""}}},
	{"containerservice FleetsMember", "the fleet or the member's cluster is being created", slow, []answers{
		{"DependentResourceNotFound", 404, "", "slow"}, {"DependentResourceNotFound", 400, "", "very slow"}, {"ResourceNotFound", 404, "", ""}}},
	{"containerservice ManagedCluster", "the role is new", slow, []answers{
		{"CustomKubeletIdentityMissingPermissionError", 400, "", "very slow"}, {"CustomKubeletIdentityMissing", 400, "", ""}}},
	{"containerservice ManagedClustersAgentPool", "the control plane is being upgraded", slow, []answers{
		{"NodePoolMcVersionIncompatible", 400, "Minor version of node pool cannot be bigger.", "slow"}, {"NodePoolVersionIncompatible", 400, "", ""}}},
	{"documentdb CassandraCluster", "the service principal is new", slow, []answers{
		{"BadRequest", 400, "The service principal has no rights on the subnet.", "very slow"}, {"BadRequest", 400, "The principal has no rights.", ""},
		{"Forbidden", 403, "service principal", ""}}},
	{"documentdb DatabaseAccount", "the region has no capacity", verySlow, []answers{
		{"ServiceUnavailable", 503, "We are currently experiencing high demand in this region.", "never"}, {"ServiceUnavailable", 503, "Try again.", ""},
		{"TooManyRequests", 429, "currently experiencing high demand", ""}}},
	{"documentdb MongodbDatabase, documentdb SqlDatabase", "the account is being created", slow, []answers{
		{"BadRequest", 400, "whatever", "very slow"}, {"BadRequest", 200, "a failed operation", "very slow"}, {"BadRequestFormat", 400, "", ""}, {"InvalidTemplate", 400, "", ""}}},
	{"documentdb SqlRoleAssignment", "the identity is new", slow, []answers{
		{"BadRequest", 400, "The principal ID was not found in the AAD tenant(s).", "very slow"}, {"BadRequest", 400, "The principal was not found.", ""}, {"Conflict", 409, "was not found in the AAD tenant", ""}}},
	{"insights DataCollectionRule", "the workspace is being created", slow, []answers{
		{"WorkspaceNotFound", 404, "", "slow"}, {"WorkspaceNotFound", 400, "", "very slow"}, {"NotFound", 404, "", ""}}},
	{"insights ScheduledQueryRule", "the query's data source is being created", slow, []answers{
		{"BadRequest", 400, "The workspace does not exist.", "very slow"}, {"BadRequest", 400, "You have insufficient access.", "very slow"},
		{"BadRequest", 400, "The query is wrong.", ""}, {"Conflict", 409, "does not exist", ""}}},
	{"machinelearningservices Workspace", "the storage account is being created", slow, []answers{
		{"BadRequest", 400, "StorageAccountIsNotProvisioned: wait for it", "very slow"}, {"BadRequest", 400, "Storage account is not provisioned", ""}, {"Conflict", 409, "StorageAccountIsNotProvisioned", ""}}},
	{"network AzureFirewall", "the policy is being changed", slow, []answers{
		{"AzfwAddToFirewallPolicyFailed", 400, "Failed to reference firewall policy x", "very slow"}, {"AzfwAddToFirewallPolicyFailed", 400, "Failed to add a policy", ""}, {"Conflict", 409, "Failed to reference Firewall Policy", ""}}},
	{"network DnsForwardingRuleSetsForwardingRule", "another rule is being written", fast, []answers{
		{"Conflict", 409, "Another operation is pending on the specified resource.", "slow"},
		{"BadRequest", 400, "Another operation is pending on the specified resource.", "very slow"}, {"Conflict", 409, "Another operation is pending.", ""}}},
	{"network DnsForwardingRuleset", "the endpoint is being created; the code varies", slow, []answers{
		{"Anything", 400, "The endpoint was not found.", "very slow"}, {"", 404, "x was not found", "slow"}, {"NotFound", 404, "The endpoint is not found.", ""}}},
	{"network DnsZonesAAAARecord, network DnsZonesARecord, network DnsZonesCNAMERecord", "the target is being created", slow, []answers{
		{"BadRequest", 400, "The referenced resource '/x' was not found.", "very slow"}, {"BadRequest", 400, "The resource '/x' was not found.", ""}, {"Conflict", 409, "The referenced resource x was not found", ""}}},
	{"network NetworkWatchersFlowLog", "the log's source or storage account is being created", slow, []answers{
		{"NetworkSecurityGroupNotFoundForFlowLog", 400, "", "very slow"}, {"StorageProvisioningStateNotSucceeded", 409, "", "slow"},
		{"NetworkSecurityGroupNotFound", 400, "", ""}}},
	{"network PublicIPAddress, network VirtualNetworksVirtualNetworkPeering", "another network resource is being written", fast, []answers{
		{"ReferencedResourceNotProvisioned", 429, "", "slow"}, {"ReferencedResourceNotProvisioned", 400, "", "very slow"}, {"ReferencedResourceNotFound", 409, "", ""}}},
	{"network VirtualNetworksSubnet", "the network is being extended", slow, []answers{
		{"NetcfgSubnetRangeOutsideVnet", 400, "", "very slow"}, {"NetcfgSubnetRangesOverlap", 400, "", ""}}},
	{"servicebus NamespacesTopicsSubscription", "the namespace is not ready", slow, []answers{
		{"MessagingGatewayBadRequest", 400, "", "very slow"}, {"MessagingGatewayUnauthorized", 400, "", ""}}},
	{"sql Server", "the password is too simple", onChange, []answers{
		{"PasswordNotComplex", 400, "", "never"}, {"PasswordExpired", 400, "", ""}, {"", 400, "", ""}}},
	{"sql ServersAzureADOnlyAuthentication", "the administrator is being set; ASO ignores the case of this code, too", slow, []answers{
		{"INVALIDServerAADOnlyAuthNoAADAdminPropertyName", 400, "", "slow"}, {"InvalidServerAADOnlyAuth", 400, "", ""}}},
	{"sql ServersVulnerabilityAssessment", "Advanced Data Security is not on yet", slow, []answers{
		{"VulnerabilityAssessmentADSIsDisabled", 400, "", "very slow"}, {"VulnerabilityAssessmentADSIsInvalid", 400, "", ""}}},
}

// classifyBy classifies an error by tables and the default, as a flow does.
func classifyBy(t *testing.T, err error, tables ...classify.Table) classify.Classification {
	t.Helper()
	var links []classify.Middleware
	for _, table := range tables {
		links = append(links, table.Link())
	}
	c, err := classify.Compose(chain.New(links...))(t.Context(), classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClassifiers: each rule decides as in ASO, or differs with a reason. It
// matches whatever the status is: an operation that fails later has status 200.
// No rule matches another answer, and no row hides another.
func TestClassifiers(t *testing.T) {
	var tested []string
	for _, tc := range classifierCases {
		for kind := range strings.SplitSeq(tc.kinds, ", ") {
			tested = append(tested, kind)
			table, reached := Classifiers[kind], map[string]bool{}
			for _, a := range tc.answers {
				refused := func(status int) error {
					return (&sim.Refusal{Status: status, Code: a.code, Message: a.message}).ResponseError()
				}
				byDefault, got := classifyBy(t, refused(a.status)), classifyBy(t, refused(a.status), table)
				if decides := got.Rule() != byDefault.Rule() || got.Retry() != byDefault.Retry(); decides != (a.aso != "") {
					t.Errorf("%s: %s: %+v: got %v, by default %v", kind, tc.reason, a, got, byDefault)
				}
				if a.aso == "" {
					continue
				}
				for _, status := range []int{a.status, 0, 200, 400, 404, 409, 429, 500, 503} {
					if got := classifyBy(t, refused(status), table); got.Retry() != tc.retry {
						t.Errorf("%s: %s: %+v with status %d: got %v, want %s", kind, tc.reason, a, status, got, tc.retry)
					}
				}
				reached[got.Rule()] = true
			}
			if len(reached) != len(table) || strings.Contains(table.String(), "never reached") {
				t.Errorf("%s: %s: the answers reach %d rows of %d:\n%s", kind, tc.reason, len(reached), len(table), table)
			}
		}
	}
	slices.Sort(tested)
	if len(slices.Compact(tested)) != 38 || len(Classifiers) != 38 {
		t.Errorf("%d kinds of %d are tested, want the 38 of README.md", len(tested), len(Classifiers))
	}
}

// TestClassifiersOfOtherAnswers has errors without a code, or with one that the
// kind's own rules do not name.
func TestClassifiersOfOtherAnswers(t *testing.T) {
	const busy = "Another operation is pending on the specified resource"
	refused := func(code, message string) error {
		return (&sim.Refusal{Status: 400, Code: code, Message: message}).ResponseError()
	}
	cases := map[string]struct {
		reason string
		err    error
		want   classify.Retry
		aso    string // ASO's decision and why it differs; empty: the same
	}{
		"TextInHTML":     {"a proxy's page is not a text of Azure", responded("<html>" + busy + "</html>"), slow, ""},
		"NoBody":         {"a proxy sent the response", responded(""), slow, "very slow: every error of Azure has a code"},
		"TextOnly":       {"the text decides, whatever has the error", errors.New(busy), fast, "slow: ASO calls a classifier only for a response of Azure"},
		"NoCode":         {"a proxy sent the response", refused("", "bad"), slow, "very slow: every error of Azure has a code"},
		"InvalidRequest": {"only another request helps", refused("InvalidTemplate", ""), onChange, "never: OnChange is retried at the resync"},
	}
	for name, tc := range cases {
		got := classifyBy(t, tc.err, Classifiers["network DnsForwardingRuleSetsForwardingRule"])
		if theirs, _, _ := strings.Cut(tc.aso, ": "); got.Retry() != tc.want || theirs == tc.want.String() {
			t.Errorf("%s: %s: got %v, want %s; in ASO %q", name, tc.reason, got, tc.want, tc.aso)
		}
	}
}

// responded returns the error of a response that is not in the format of Azure.
func responded(body string) error {
	req := &http.Request{Method: http.MethodPut, URL: &url.URL{Scheme: "https", Host: "management.azure.com"}}
	return runtime.NewResponseError(&http.Response{StatusCode: 400, Body: io.NopCloser(strings.NewReader(body)), Request: req})
}

// TestClassifiersInAFlow: a flow uses the tables and the delay of the service.
func TestClassifiersInAFlow(t *testing.T) {
	busy := &sim.Refusal{Status: 409, Code: "Conflict", Message: "The cache is busy. Please try again later.", RetryAfter: 15 * time.Second}
	w := &world[string]{errs: errs("put", busy.ResponseError())}
	out := w.pass(t.Context(), flow.Extensions[string]{Classify: Classifiers["cache RedisFirewallRule"].Chain()}, "office")
	delay, _ := out.Again()
	want := []any{flow.StateFailed, "Apply", "Conflict", "applying failed: The cache is busy. Please try again later.", fast, 15 * time.Second, "Redis is busy"}
	if diff := cmp.Diff(want, []any{out.State(), out.Point(), out.Reason(), out.Message(), out.Retry(), delay, out.Rule()}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRegister: each kind has the base, whose owner check comes before any
// request, and its own rules for errors.
func TestRegister(t *testing.T) {
	var registry flow.Registry[any]
	Register(&registry, APIs{})
	rules := 0
	for _, kind := range registry.Kinds() {
		r, err := registry.For(kind, flow.Operations[any]{
			Key:   func(any) string { return "a" },
			Owner: func(context.Context, any) (checks.Object, error) { return checks.Object{}, nil },
			Apply: func(context.Context, *flow.Request[any]) (flow.Progress, error) { return flow.Done(), nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		table := strings.Contains(r.String(), "Classify     Table(")
		if !strings.Contains(r.String(), "OwnerCheck   OwnerReady") || table != (Classifiers[kind] != nil) {
			t.Errorf("%s: want the owner check of the base, and rules only if the kind has some:\n%s", kind, r)
		}
		if table {
			rules++
		}
	}
	if all := len(registry.Kinds()); all != 50 || rules != len(Classifiers) {
		t.Errorf("%d kinds, %d with rules; want 17 with checks and 33 with rules only", all, rules)
	}
}
