package aso

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

const fast, slow, verySlow, onChange = classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange

// classifierCases has the failures that each table decides, with the decision of
// ASO's classifier. "never" is a fatal error there. Our delay differs from "very
// slow" where ASO sets only the class and keeps the speed of status 400, about an
// hour, but the cause ends in minutes. It differs from "slow" where many changes
// wait for each other for seconds, and from "never" because a fatal error is
// retried at the resync.
var classifierCases = []struct {
	kinds, reason string
	retry         classify.Retry
	aso           string
	status        int
	code, message string // a rule needs each part in brackets
}{
	{"app ContainerApp, app Job", "the environment is being created", slow, "very slow", 400, "ManagedEnvironmentNotProvisioned", ""},
	{"cache Redis, cache RedisFirewallRule, cache RedisLinkedServer, cache RedisPatchSchedule", "the cache is busy", fast, "slow", 409,
		"Conflict", "The resource is busy, please [Try Again Later]."},
	{"cdn AfdCustomDomain", "its route goes", slow, "slow", 400, "BadRequest", "[This resource is still associated with a route]."},
	{"cdn Route, cdn Rule", "the group has no origin yet", slow, "very slow", 400, "BadRequest",
		"Ensure that the [originGroup is created successfully] and [at least one enabled origin is created]."},
	{"cdn SecurityPolicy", "the policy's domain is being created", slow, "very slow", 400, "BadRequest",
		"The domain [is not associated with the AFDX profile] or [is in a invalid provisioning state]."},
	{"compute Disk", "the disk access is being created", slow, "very slow", 400, "BadRequest", "The [DiskAccess] resource x is [not found]."},
	{"compute Disk", "the disk access has failed", slow, "slow", 409, "Conflict", "[DiskAccess] x [is in failed state]."},
	{"compute VirtualMachine, compute VirtualMachineScaleSet", "another operation is under way", slow, "slow", 409, "OperationNotAllowed", ""},
	{"containerservice FleetsMember", "its cluster is being created", slow, "slow", 404, "DependentResourceNotFound", ""},
	{"containerservice ManagedCluster", "the role is new", slow, "very slow", 400, "CustomKubeletIdentityMissingPermissionError", ""},
	{"containerservice ManagedClustersAgentPool", "its cluster is upgraded", slow, "slow", 400, "NodePoolMcVersionIncompatible", ""},
	{"documentdb CassandraCluster", "it is new", slow, "very slow", 400, "BadRequest", "The [service principal] has no rights on the subnet."},
	{"documentdb DatabaseAccount", "the region has no capacity", verySlow, "never", 503, "ServiceUnavailable",
		"We are [currently experiencing high demand] in this region."},
	{"documentdb MongodbDatabase, documentdb SqlDatabase", "the account is being created", slow, "very slow", 400, "BadRequest", ""},
	{"documentdb SqlRoleAssignment", "the identity is new", slow, "very slow", 400, "BadRequest", "The principal [was not found in the AAD tenant]."},
	{"insights DataCollectionRule", "the workspace is being created", slow, "slow", 404, "WorkspaceNotFound", ""},
	{"insights ScheduledQueryRule", "its source is being created", slow, "very slow", 400, "BadRequest", "The workspace [does not exist]."},
	{"insights ScheduledQueryRule", "its role is new", slow, "very slow", 400, "BadRequest", "You have [insufficient access]."},
	{"machinelearningservices Workspace", "it needs its account", slow, "very slow", 400, "BadRequest", "[StorageAccountIsNotProvisioned]: wait"},
	{"network AzureFirewall", "the policy is being changed", slow, "very slow", 400, "AzfwAddToFirewallPolicyFailed",
		"[Failed to reference firewall policy] x"},
	{"network DnsForwardingRuleSetsForwardingRule", "another rule is being written", fast, "slow", 409, "Conflict",
		"[Another operation is pending on the specified resource]."},
	{"network DnsForwardingRuleset", "the endpoint is being created", slow, "very slow", 400, "Anything", "The endpoint [was not found]."},
	{"network DnsZonesAAAARecord, network DnsZonesARecord, network DnsZonesCNAMERecord", "the target is being created", slow, "very slow", 400,
		"BadRequest", "[The referenced resource] '/x' [was not found]."},
	{"network NetworkWatchersFlowLog", "its source is being created", slow, "very slow", 400, "NetworkSecurityGroupNotFoundForFlowLog", ""},
	{"network NetworkWatchersFlowLog", "its account is being created", slow, "slow", 409, "StorageProvisioningStateNotSucceeded", ""},
	{"network PublicIPAddress, network VirtualNetworksVirtualNetworkPeering", "another resource is being written", fast, "slow", 429,
		"ReferencedResourceNotProvisioned", ""},
	{"network VirtualNetworksSubnet", "the network is being extended", slow, "very slow", 400, "NetcfgSubnetRangeOutsideVnet", ""},
	{"servicebus NamespacesTopicsSubscription", "the namespace is not ready", slow, "very slow", 400, "MessagingGatewayBadRequest", ""},
	{"sql Server", "the password is too simple", onChange, "never", 400, "PasswordNotComplex", ""},
	{"sql ServersAzureADOnlyAuthentication", "ASO ignores the case, too", slow, "slow", 400, "INVALIDServerAADOnlyAuthNoAADAdminPropertyName", ""},
	{"sql ServersVulnerabilityAssessment", "Data Security is not on yet", slow, "very slow", 400, "VulnerabilityAssessmentADSIsDisabled", ""},
}

// refused returns an error of Azure. Brackets in its message are left out.
func refused(status int, code, message string) error {
	message = strings.NewReplacer("[", "", "]", "").Replace(message)
	return (&sim.Refusal{Status: status, Code: code, Message: message}).ResponseError()
}

// classifyBy classifies an error by a table and the default, as a flow does.
func classifyBy(t *testing.T, err error, table classify.Table) classify.Classification {
	t.Helper()
	c, err := classify.Compose(table.Chain())(t.Context(), classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClassifiers: each rule decides as in ASO, or differs with a reason. It
// matches whatever the status is: an operation that fails later has status 200.
// No rule matches a failure that differs in one part, and no row hides another.
func TestClassifiers(t *testing.T) {
	parts, reached := regexp.MustCompile(`\[[^]]*\]`), map[string][]string{} // the rules of each kind
	for _, tc := range classifierCases {
		for kind := range strings.SplitSeq(tc.kinds, ", ") {
			try := func(code, message string, want bool) string {
				err := refused(tc.status, code, message)
				byDefault, got := classifyBy(t, err, nil), classifyBy(t, err, Classifiers[kind])
				if matches := got.Rule() != byDefault.Rule() || got.Retry() != byDefault.Retry(); matches != want {
					t.Errorf("%s: %s, in ASO %s: a rule matches %q, %q: %t", kind, tc.reason, tc.aso, code, message, matches)
				}
				return got.Rule()
			}
			if rule := try(tc.code, tc.message, true); !slices.Contains(reached[kind], rule) {
				reached[kind] = append(reached[kind], rule)
			}
			for _, status := range []int{tc.status, 0, 200, 400, 404, 409, 429, 500, 503} {
				if got := classifyBy(t, refused(status, tc.code, tc.message), Classifiers[kind]); got.Retry() != tc.retry {
					t.Errorf("%s: %s: %s with status %d: got %v, want %s", kind, tc.reason, tc.code, status, got, tc.retry)
				}
			}
			for _, part := range parts.FindAllString(tc.message, -1) {
				try(tc.code, strings.Replace(tc.message, part, "...", 1), false)
			}
			for _, code := range []string{tc.code + "X", "X" + tc.code, "Conflict", "BadRequest", "InvalidTemplate"} {
				try(code, tc.message, code == tc.code || strings.HasPrefix(kind, "network DnsForwarding")) // whose code varies
			}
		}
	}
	for kind, table := range Classifiers {
		if len(reached[kind]) != len(table) || strings.Contains(table.String(), "never reached") {
			t.Errorf("%s: the cases reach %q:\n%s", kind, reached[kind], table)
		}
	}
	if len(reached) != 38 || len(Classifiers) != 38 {
		t.Errorf("%d kinds of %d are tested, want the 38 of README.md", len(reached), len(Classifiers))
	}
}

// TestClassifiersOfOtherAnswers has errors without a code, or with one that the
// kind's own rules do not name.
func TestClassifiersOfOtherAnswers(t *testing.T) {
	const busy = "Another operation is pending on the specified resource"
	cases := map[string]struct {
		reason string
		err    error
		want   classify.Retry
		aso    string // ASO's decision and why it differs; empty: the same
	}{
		"TextInHTML":     {"a proxy's page is not a text of Azure", responded("<html>" + busy + "</html>"), slow, ""},
		"NoBody":         {"a proxy sent the response", responded(""), slow, "very slow: every error of Azure has a code"},
		"TextOnly":       {"the text decides, whatever has the error", errors.New(busy), fast, "slow: ASO calls a classifier only for a response of Azure"},
		"NoCode":         {"a proxy sent the response", refused(400, "", "bad"), slow, "very slow: every error of Azure has a code"},
		"InvalidRequest": {"only another request helps", refused(400, "InvalidTemplate", ""), onChange, "never: OnChange is retried at the resync"},
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
	w := &world[string]{put: busy.ResponseError()}
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
	}
	for kind := range Classifiers {
		if !slices.Contains(registry.Kinds(), kind) || len(registry.Kinds()) != 50 {
			t.Errorf("want %s, of 17 kinds with checks and 33 with rules only: %q", kind, registry.Kinds())
		}
	}
}
