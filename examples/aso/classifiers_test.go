package aso_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aso"
	"github.com/windlass-go/windlass/flow"
)

// answer is a failure of Azure with the decision of ASO's classifier. "never" is
// a fatal error there. Our delay differs from "very slow" where ASO sets only the
// class and keeps the speed of status 400, about an hour, but the cause ends in
// minutes. It differs from "slow" where many changes wait for each other for
// seconds, and from "never" because a fatal error is retried at the resync.
type answer struct {
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
	answers       []answer
}{
	{"app ContainerApp, app Job", "the environment is being created", slow, []answer{
		{"ManagedEnvironmentNotProvisioned", 400, "", "very slow"}, {"ManagedEnvironmentNotProvisioned", 409, "", "slow"}, {"ManagedEnvironmentNotFound", 400, "", ""}}},
	{"cache Redis, cache RedisFirewallRule, cache RedisLinkedServer, cache RedisPatchSchedule", "the cache is busy", fast, []answer{
		{"Conflict", 409, "The resource is busy, please Try Again Later.", "slow"}, {"Conflict", 409, "The name is taken.", ""}, {"BadRequest", 400, "try again later", ""}}},
	{"cdn AfdCustomDomain", "the domain's route is being deleted", slow, []answer{
		{"BadRequest", 400, "This resource is still associated with a route. Delete it first.", "slow"},
		{"BadRequest", 400, "This resource is associated.", ""}, {"Conflict", 409, "This resource is still associated with a route.", ""}}},
	{"cdn Route, cdn Rule", "the origin group is being created", slow, []answer{
		{"BadRequest", 400, "Make sure that the originGroup is created successfully and at least one enabled origin is created under it.", "very slow"},
		{"BadRequest", 400, "Make sure that the originGroup is created successfully.", ""}, {"BadRequest", 400, "Make sure that at least one enabled origin is created.", ""}, {"Conflict", 409, "originGroup is created successfully, at least one enabled origin is created", ""}}},
	{"cdn SecurityPolicy", "the policy's domain is being created", slow, []answer{
		{"BadRequest", 400, "The domain is not associated with the AFDX profile or is in a invalid provisioning state.", "very slow"},
		{"BadRequest", 400, "The domain is in a invalid provisioning state.", ""}, {"BadRequest", 400, "The domain is not associated with the AFDX profile.", ""}, {"Conflict", 409, "is not associated with the AFDX profile, is in a invalid provisioning state", ""}}},
	{"compute Disk", "the disk access is being created or has failed", slow, []answer{
		{"BadRequest", 400, "The DiskAccess resource x is not found.", "very slow"}, {"Conflict", 409, "DiskAccess x is in failed state.", "slow"},
		{"BadRequest", 400, "DiskAccess x is in failed state.", ""}, {"Conflict", 409, "not found: DiskAccess x", ""}}},
	{"compute VirtualMachine, compute VirtualMachineScaleSet", "the quota is used up, or another operation changes the machine", slow, []answer{
		{"OperationNotAllowed", 409, "The operation exceeds the approved quota.", "slow"}, {"OperationNotAllowed", 400, "", "very slow"},
		{"OperationNotAllowed", 200, "", "slow"}, {"OperationNotSupported", 409, "", ""}}},
	{"containerservice FleetsMember", "the fleet or the member's cluster is being created", slow, []answer{
		{"DependentResourceNotFound", 404, "", "slow"}, {"DependentResourceNotFound", 400, "", "very slow"}, {"ResourceNotFound", 404, "", ""}}},
	{"containerservice ManagedCluster", "the role is new", slow, []answer{
		{"CustomKubeletIdentityMissingPermissionError", 400, "", "very slow"}, {"CustomKubeletIdentityMissing", 400, "", ""}}},
	{"containerservice ManagedClustersAgentPool", "the control plane is being upgraded", slow, []answer{
		{"NodePoolMcVersionIncompatible", 400, "Minor version of node pool cannot be bigger.", "slow"}, {"NodePoolVersionIncompatible", 400, "", ""}}},
	{"documentdb CassandraCluster", "the service principal is new", slow, []answer{
		{"BadRequest", 400, "The service principal has no rights on the subnet.", "very slow"}, {"BadRequest", 400, "The principal has no rights.", ""},
		{"Forbidden", 403, "service principal", ""}}},
	{"documentdb DatabaseAccount", "the region has no capacity", verySlow, []answer{
		{"ServiceUnavailable", 503, "We are currently experiencing high demand in this region.", "never"}, {"ServiceUnavailable", 503, "Try again.", ""},
		{"TooManyRequests", 429, "currently experiencing high demand", ""}}},
	{"documentdb MongodbDatabase, documentdb SqlDatabase", "the account is being created", slow, []answer{
		{"BadRequest", 400, "whatever", "very slow"}, {"BadRequest", 200, "a failed operation", "very slow"}, {"BadRequestFormat", 400, "", ""}, {"InvalidTemplate", 400, "", ""}}},
	{"documentdb SqlRoleAssignment", "the identity is new", slow, []answer{
		{"BadRequest", 400, "The principal ID was not found in the AAD tenant(s).", "very slow"}, {"BadRequest", 400, "The principal was not found.", ""}, {"Conflict", 409, "was not found in the AAD tenant", ""}}},
	{"insights DataCollectionRule", "the workspace is being created", slow, []answer{
		{"WorkspaceNotFound", 404, "", "slow"}, {"WorkspaceNotFound", 400, "", "very slow"}, {"NotFound", 404, "", ""}}},
	{"insights ScheduledQueryRule", "the query's data source is being created", slow, []answer{
		{"BadRequest", 400, "The workspace does not exist.", "very slow"}, {"BadRequest", 400, "You have insufficient access.", "very slow"},
		{"BadRequest", 400, "The query is wrong.", ""}, {"Conflict", 409, "does not exist", ""}}},
	{"machinelearningservices Workspace", "the storage account is being created", slow, []answer{
		{"BadRequest", 400, "StorageAccountIsNotProvisioned: wait for it", "very slow"}, {"BadRequest", 400, "Storage account is not provisioned", ""}, {"Conflict", 409, "StorageAccountIsNotProvisioned", ""}}},
	{"network AzureFirewall", "the policy is being changed", slow, []answer{
		{"AzfwAddToFirewallPolicyFailed", 400, "Failed to reference firewall policy x", "very slow"}, {"AzfwAddToFirewallPolicyFailed", 400, "Failed to add a policy", ""}, {"Conflict", 409, "Failed to reference Firewall Policy", ""}}},
	{"network DnsForwardingRuleSetsForwardingRule", "another rule is being written", fast, []answer{
		{"Conflict", 409, "Another operation is pending on the specified resource.", "slow"},
		{"BadRequest", 400, "Another operation is pending on the specified resource.", "very slow"}, {"Conflict", 409, "Another operation is pending.", ""}}},
	{"network DnsForwardingRuleset", "the endpoint is being created; the code varies", slow, []answer{
		{"Anything", 400, "The endpoint was not found.", "very slow"}, {"", 404, "x was not found", "slow"}, {"NotFound", 404, "The endpoint is not found.", ""}}},
	{"network DnsZonesAAAARecord, network DnsZonesARecord, network DnsZonesCNAMERecord", "the target is being created", slow, []answer{
		{"BadRequest", 400, "The referenced resource '/x' was not found.", "very slow"}, {"BadRequest", 400, "The resource '/x' was not found.", ""}, {"Conflict", 409, "The referenced resource x was not found", ""}}},
	{"network NetworkWatchersFlowLog", "the log's source or storage account is being created", slow, []answer{
		{"NetworkSecurityGroupNotFoundForFlowLog", 400, "", "very slow"}, {"StorageProvisioningStateNotSucceeded", 409, "", "slow"},
		{"NetworkSecurityGroupNotFound", 400, "", ""}}},
	{"network PublicIPAddress, network VirtualNetworksVirtualNetworkPeering", "another network resource is being written", fast, []answer{
		{"ReferencedResourceNotProvisioned", 429, "", "slow"}, {"ReferencedResourceNotProvisioned", 400, "", "very slow"}, {"ReferencedResourceNotFound", 409, "", ""}}},
	{"network VirtualNetworksSubnet", "the network is being extended", slow, []answer{
		{"NetcfgSubnetRangeOutsideVnet", 400, "", "very slow"}, {"NetcfgSubnetRangesOverlap", 400, "", ""}}},
	{"servicebus NamespacesTopicsSubscription", "the namespace is not ready", slow, []answer{
		{"MessagingGatewayBadRequest", 400, "", "very slow"}, {"MessagingGatewayUnauthorized", 400, "", ""}}},
	{"sql Server", "the password is too simple", onChange, []answer{
		{"PasswordNotComplex", 400, "", "never"}, {"PasswordExpired", 400, "", ""}, {"", 400, "", ""}}},
	{"sql ServersAzureADOnlyAuthentication", "the administrator is being set; ASO ignores the case of this code, too", slow, []answer{
		{"INVALIDServerAADOnlyAuthNoAADAdminPropertyName", 400, "", "slow"}, {"InvalidServerAADOnlyAuth", 400, "", ""}}},
	{"sql ServersVulnerabilityAssessment", "Advanced Data Security is not on yet", slow, []answer{
		{"VulnerabilityAssessmentADSIsDisabled", 400, "", "very slow"}, {"VulnerabilityAssessmentADSIsInvalid", 400, "", ""}}},
}

// refused returns the error of a response of Azure.
func refused(code string, status int, message string) error {
	fields := map[string]string{"message": message}
	if code != "" {
		fields["code"] = code
	}
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return runtime.NewResponseError(response(fmt.Sprintf(`{"error":%s}`, body), status))
}

func response(body string, status int) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)),
		Request: &http.Request{Method: http.MethodPut, URL: &url.URL{Scheme: "https", Host: "management.azure.com", Path: "/x"}},
	}
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
			t.Run(kind, func(t *testing.T) {
				table, reached := aso.Classifiers[kind], map[string]bool{}
				for _, a := range tc.answers {
					byDefault, got := classifyBy(t, refused(a.code, a.status, a.message)), classifyBy(t, refused(a.code, a.status, a.message), table)
					if decides := got.Rule() != byDefault.Rule() || got.Retry() != byDefault.Retry(); decides != (a.aso != "") {
						t.Errorf("%s: %+v: got %v, by default %v", tc.reason, a, got, byDefault)
					}
					if a.aso == "" {
						continue
					}
					for _, status := range []int{a.status, 0, 200, 400, 404, 409, 429, 500, 503} {
						if got := classifyBy(t, refused(a.code, status, a.message), table); got.Retry() != tc.retry {
							t.Errorf("%s: %+v with status %d: got %v, want %s", tc.reason, a, status, got, tc.retry)
						}
					}
					reached[got.Rule()] = true
				}
				if len(reached) != len(table) {
					t.Errorf("%s: the answers reach %d rows of %d", tc.reason, len(reached), len(table))
				}
				if strings.Contains(table.String(), "never reached") {
					t.Errorf("a row hides another one:\n%s", table)
				}
			})
		}
	}
	slices.Sort(tested)
	if len(slices.Compact(tested)) != 38 || len(aso.Classifiers) != 38 {
		t.Errorf("%d kinds of %d are tested, want the 38 of README.md", len(tested), len(aso.Classifiers))
	}
}

// noResponse begins the text of an error that is no response of Azure.
const noResponse = "no response: "

// TestClassifiersOfOtherAnswers has answers without a code, or with one that
// the kind's own rules do not name.
func TestClassifiersOfOtherAnswers(t *testing.T) {
	cases := map[string]struct {
		reason string
		kind   string // the kind of the first table; empty: none
		body   string
		status int
		want   classify.Retry
		aso    string // ASO's decision and why it differs; empty: the same
	}{
		"TextInHTML": {"a proxy's page is not a text of Azure", "network DnsForwardingRuleSetsForwardingRule",
			"<html>Another operation is pending on the specified resource</html>", 400, slow, ""},
		"NoBody": {"a proxy sent the response", "", "", 400, slow, "very slow: every error of Azure has a code"},
		"TextOnly": {"the text decides, whatever has the error", "network DnsForwardingRuleSetsForwardingRule",
			noResponse + "Another operation is pending on the specified resource", 0, fast, "slow: ASO calls a classifier only for a response of Azure"},
		"NoCode":         {"a proxy sent the response", "", `{"error":{"message":"bad"}}`, 400, slow, "very slow: every error of Azure has a code"},
		"InvalidRequest": {"only another request helps", "", `{"error":{"code":"InvalidTemplate"}}`, 400, onChange, "never: OnChange is retried at the resync"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := runtime.NewResponseError(response(tc.body, tc.status))
			if text, ok := strings.CutPrefix(tc.body, noResponse); ok {
				err = errors.New(text)
			}
			got := classifyBy(t, err, aso.Classifiers[tc.kind])
			if theirs, _, _ := strings.Cut(tc.aso, ": "); got.Retry() != tc.want || theirs == tc.want.String() {
				t.Errorf("%s: got %v, want %s; in ASO %q", tc.reason, got, tc.want, tc.aso)
			}
		})
	}
}

// TestClassifiersInAFlow: a flow uses the tables and the delay of the service.
func TestClassifiersInAFlow(t *testing.T) {
	answer := response(`{"error":{"code":"Conflict","message":"The cache is busy. Please try again later."}}`, 409)
	answer.Header.Set("Retry-After", "15")
	rules := flow.New("RedisFirewallRule", flow.Operations[string]{
		Key: func(name string) string { return name },
		Apply: func(context.Context, *flow.Request[string]) (flow.Progress, error) {
			return flow.Progress{}, fmt.Errorf("PUT: %w", runtime.NewResponseError(answer))
		},
	}, flow.Extensions[string]{Classify: aso.Classifiers["cache RedisFirewallRule"].Chain()}, flow.WithErrors(azure.Errors()))
	out := rules.Reconcile(t.Context(), "office")
	delay, _ := out.Again()
	want := []any{flow.StateFailed, "Apply", "Conflict", "applying failed: The cache is busy. Please try again later.", fast, 15 * time.Second, "Redis is busy"}
	if diff := cmp.Diff(want, []any{out.State(), out.Point(), out.Reason(), out.Message(), out.Retry(), delay, out.Rule()}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
