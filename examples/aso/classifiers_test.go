package aso_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

// classified is a failure with a rule, and three decisions: the default's, the
// table's, and that of Azure Service Operator's classifier. "never" is a fatal
// error there.
type classified struct {
	code    string
	status  int
	message string

	byDefault   classify.Retry
	defaultRule string
	ours        classify.Retry
	theirs      string
	because     string // why the decisions differ; empty if they do not
}

// lookalike is a failure that no rule of a table may match.
type lookalike struct {
	code    string
	status  int
	message string
}

const (
	fast, slow, verySlow, onChange = classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange

	// Reasons for another delay than ASO's.
	classOnly  = "ASO sets only the class and keeps the speed of status 400, about an hour; the cause ends in minutes"
	neverAgain = "ASO never retries a fatal error, not even at its resync; OnChange is retried at the resync"
	inTurn     = "each change waits for another one that takes seconds, so many changes end sooner"
)

var classifierCases = map[string]struct {
	reason string
	hits   []classified
	misses []lookalike
}{
	"app ContainerApp": {"the environment is being created", appHits, appMisses},
	"app Job":          {"the environment is being created", appHits, appMisses},

	"cache Redis":              {"the cache is busy", redisHits, redisMisses},
	"cache RedisFirewallRule":  {"the cache is busy", redisHits, redisMisses},
	"cache RedisLinkedServer":  {"the cache is busy", redisHits, redisMisses},
	"cache RedisPatchSchedule": {"the cache is busy", redisHits, redisMisses},
	"cdn AfdCustomDomain": {
		"the domain's route is being deleted",
		[]classified{{"BadRequest", 400, "This resource is still associated with a route. Delete it first.", verySlow, "BadRequest", slow, "slow", ""}},
		[]lookalike{{"BadRequest", 400, "This resource is associated."}, {"Conflict", 409, "This resource is still associated with a route."}},
	},
	"cdn Route": {"the origin group is being created", originHits, originMisses},
	"cdn Rule":  {"the origin group is being created", originHits, originMisses},
	"cdn SecurityPolicy": {
		"the policy's domain is being created",
		[]classified{{"BadRequest", 400, "The domain is not associated with the AFDX profile or is in a invalid provisioning state.",
			verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The domain is in a invalid provisioning state."}, {"BadRequest", 400, "The domain is not associated with the AFDX profile."}},
	},
	"compute Disk": {
		"the disk access is being created or has failed",
		[]classified{
			{"BadRequest", 400, "The DiskAccess resource x is not found.", verySlow, "BadRequest", slow, "very slow", classOnly},
			{"Conflict", 409, "DiskAccess x is in failed state.", slow, "Conflict", slow, "slow", ""},
		},
		[]lookalike{{"BadRequest", 400, "DiskAccess x is in failed state."}, {"Conflict", 409, "not found: DiskAccess x"}},
	},
	"compute VirtualMachine":         {"the quota is used up, or another operation changes the machine", computeHits, computeMisses},
	"compute VirtualMachineScaleSet": {"the quota is used up, or another operation changes the machine", computeHits, computeMisses},
	"containerservice FleetsMember": {
		"the fleet or the member's cluster is being created",
		[]classified{
			{"DependentResourceNotFound", 404, "", slow, "Unknown", slow, "slow", ""},
			{"DependentResourceNotFound", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"ResourceNotFound", 404, ""}},
	},
	"containerservice ManagedCluster": {
		"the role is new",
		[]classified{{"CustomKubeletIdentityMissingPermissionError", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"CustomKubeletIdentityMissing", 400, ""}},
	},
	"containerservice ManagedClustersAgentPool": {
		"the control plane is being upgraded",
		[]classified{{"NodePoolMcVersionIncompatible", 400, "Minor version of node pool cannot be bigger.", verySlow, "UnknownBadRequest", slow, "slow", ""}},
		[]lookalike{{"NodePoolVersionIncompatible", 400, ""}},
	},
	"documentdb CassandraCluster": {
		"the service principal is new",
		[]classified{{"BadRequest", 400, "The service principal has no rights on the subnet.", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The principal has no rights."}, {"Forbidden", 403, "service principal"}},
	},
	"documentdb DatabaseAccount": {
		"the region has no capacity",
		[]classified{{"ServiceUnavailable", 503, "We are currently experiencing high demand in this region.", slow, "ServerError", verySlow, "never",
			"ASO never retries a fatal error, not even at its resync; capacity needs no change of the spec, so it is retried at the resync and the resource is not stalled"}},
		[]lookalike{{"ServiceUnavailable", 503, "Try again."}, {"TooManyRequests", 429, "currently experiencing high demand"}},
	},
	"documentdb MongodbDatabase": {"the account is being created", cosmosHits, cosmosMisses},
	"documentdb SqlDatabase":     {"the account is being created", cosmosHits, cosmosMisses},
	"documentdb SqlRoleAssignment": {
		"the identity is new",
		[]classified{{"BadRequest", 400, "The principal ID was not found in the AAD tenant(s).", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The principal was not found."}},
	},
	"insights DataCollectionRule": {
		"the workspace is being created",
		[]classified{
			{"WorkspaceNotFound", 404, "", slow, "Unknown", slow, "slow", ""},
			{"WorkspaceNotFound", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"NotFound", 404, ""}},
	},
	"insights ScheduledQueryRule": {
		"the query's data source is being created",
		[]classified{
			{"BadRequest", 400, "The workspace does not exist.", verySlow, "BadRequest", slow, "very slow", classOnly},
			{"BadRequest", 400, "You have insufficient access.", verySlow, "BadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"BadRequest", 400, "The query is wrong."}},
	},
	"machinelearningservices Workspace": {
		"the storage account is being created",
		[]classified{{"BadRequest", 400, "StorageAccountIsNotProvisioned: wait for it", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "Storage account is not provisioned"}},
	},
	"network AzureFirewall": {
		"the policy is being changed",
		[]classified{{"AzfwAddToFirewallPolicyFailed", 400, "Failed to reference firewall policy x", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"AzfwAddToFirewallPolicyFailed", 400, "Failed to add a policy"}},
	},
	"network DnsForwardingRuleSetsForwardingRule": {
		"another rule is being written",
		[]classified{{"Conflict", 409, "Another operation is pending on the specified resource.", slow, "Conflict", fast, "slow", inTurn}},
		[]lookalike{{"Conflict", 409, "Another operation is pending."}},
	},
	"network DnsForwardingRuleset": {
		"the endpoint is being created; the code varies",
		[]classified{
			{"Anything", 400, "The endpoint was not found.", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
			{"", 404, "x was not found", slow, "Unknown", slow, "slow", ""},
		},
		[]lookalike{{"NotFound", 404, "The endpoint is not found."}},
	},
	"network DnsZonesAAAARecord":  {"the target is being created", recordHits, recordMisses},
	"network DnsZonesARecord":     {"the target is being created", recordHits, recordMisses},
	"network DnsZonesCNAMERecord": {"the target is being created", recordHits, recordMisses},
	"network NetworkWatchersFlowLog": {
		"the log's source or storage account is being created",
		[]classified{
			{"NetworkSecurityGroupNotFoundForFlowLog", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
			{"StorageProvisioningStateNotSucceeded", 409, "", slow, "Unknown", slow, "slow", ""},
		},
		[]lookalike{{"NetworkSecurityGroupNotFound", 400, ""}},
	},
	"network PublicIPAddress":                      {"another network resource is being written", neighbourHits, neighbourMisses},
	"network VirtualNetworksVirtualNetworkPeering": {"another network resource is being written", neighbourHits, neighbourMisses},
	"network VirtualNetworksSubnet": {
		"the network is being extended",
		[]classified{{"NetcfgSubnetRangeOutsideVnet", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"NetcfgSubnetRangesOverlap", 400, ""}},
	},
	"servicebus NamespacesTopicsSubscription": {
		"the namespace is not ready",
		[]classified{{"MessagingGatewayBadRequest", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"MessagingGatewayUnauthorized", 400, ""}},
	},
	"sql Server": {
		"the password is too simple",
		[]classified{{"PasswordNotComplex", 400, "", verySlow, "UnknownBadRequest", onChange, "never",
			neverAgain}},
		[]lookalike{{"PasswordExpired", 400, ""}, {"", 400, ""}},
	},
	"sql ServersAzureADOnlyAuthentication": {
		"the administrator is being set; ASO ignores the case of this code, too",
		[]classified{{"INVALIDServerAADOnlyAuthNoAADAdminPropertyName", 400, "", verySlow, "UnknownBadRequest", slow, "slow", ""}},
		[]lookalike{{"InvalidServerAADOnlyAuth", 400, ""}},
	},
	"sql ServersVulnerabilityAssessment": {
		"Advanced Data Security is not on yet",
		[]classified{{"VulnerabilityAssessmentADSIsDisabled", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"VulnerabilityAssessmentADSIsInvalid", 400, ""}},
	},
}

var (
	appHits = []classified{
		{"ManagedEnvironmentNotProvisioned", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		{"ManagedEnvironmentNotProvisioned", 409, "", slow, "Unknown", slow, "slow", ""},
	}
	appMisses = []lookalike{{"ManagedEnvironmentNotFound", 400, ""}}

	originHits = []classified{{"BadRequest", 400, "Make sure that the originGroup is created successfully and at least one enabled origin is created under it.",
		verySlow, "BadRequest", slow, "very slow", classOnly}}
	originMisses = []lookalike{
		{"BadRequest", 400, "Make sure that the originGroup is created successfully."},
		{"BadRequest", 400, "Make sure that at least one enabled origin is created."},
	}

	recordHits   = []classified{{"BadRequest", 400, "The referenced resource '/x' was not found.", verySlow, "BadRequest", slow, "very slow", classOnly}}
	recordMisses = []lookalike{{"BadRequest", 400, "The resource '/x' was not found."}}

	redisHits = []classified{{"Conflict", 409, "The resource is busy, please Try Again Later.", slow, "Conflict", fast, "slow", inTurn}}

	redisMisses = []lookalike{{"Conflict", 409, "The name is taken."}, {"BadRequest", 400, "try again later"}}

	computeHits = []classified{
		{"OperationNotAllowed", 409, "The operation exceeds the approved quota.", slow, "Unknown", slow, "slow", ""},
		{"OperationNotAllowed", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		{"OperationNotAllowed", 200, "", slow, "Unknown", slow, "slow", ""},
	}
	computeMisses = []lookalike{{"OperationNotSupported", 409, ""}}

	cosmosHits = []classified{
		{"BadRequest", 400, "whatever", verySlow, "BadRequest", slow, "very slow", classOnly},
		{"BadRequest", 200, "a failed operation", verySlow, "BadRequest", slow, "very slow", classOnly},
	}
	cosmosMisses = []lookalike{{"BadRequestFormat", 400, ""}, {"InvalidTemplate", 400, ""}}

	neighbourHits = []classified{
		{"ReferencedResourceNotProvisioned", 429, "", slow, "Throttled", fast, "slow", inTurn},
		{"ReferencedResourceNotProvisioned", 400, "", verySlow, "UnknownBadRequest", fast, "very slow",
			"ASO sets only the class and keeps the speed of status 400, about an hour; the cause ends in seconds"},
	}
	neighbourMisses = []lookalike{{"ReferencedResourceNotFound", 409, ""}}
)

// failureOf returns the failure of a response, as a flow reads it.
func failureOf(code string, status int, message string) *classify.Failure {
	return read(runtime.NewResponseError(azureAnswer(shapes["under error"], code, status, message)))
}

// read reads an error, as a flow with azure.Errors does.
func read(err error) *classify.Failure {
	return classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors())
}

// azureAnswer returns a response of Azure with a failure in the form of shape.
func azureAnswer(shape, code string, status int, message string) *http.Response {
	fields := map[string]string{"message": message}
	if code != "" {
		fields["code"] = code
	}
	body, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Header: http.Header{},
		Body:    io.NopCloser(strings.NewReader(fmt.Sprintf(shape, body))),
		Request: &http.Request{Method: http.MethodPut, URL: &url.URL{Scheme: "https", Host: "management.azure.com", Path: "/x"}},
	}
}

// shapes has the two forms of an error in a response.
var shapes = map[string]string{"under error": `{"error":%s}`, "at the top": `%s`}

func classifyBy(t *testing.T, f *classify.Failure, links ...classify.Middleware) classify.Classification {
	t.Helper()
	c, err := classify.Compose(chain.New(links...))(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClassifiers(t *testing.T) {
	if diff := cmp.Diff(slices.Sorted(maps.Keys(classifierCases)), slices.Sorted(maps.Keys(aso.Classifiers))); diff != "" || len(aso.Classifiers) != 38 {
		t.Fatalf("%d resources, want the 38 of the cases (-cases +classifiers):\n%s", len(aso.Classifiers), diff)
	}
	for name, tc := range classifierCases {
		t.Run(name, func(t *testing.T) {
			table := aso.Classifiers[name]
			link := table.Link()
			rows := 1
			if name == "compute Disk" {
				rows = 2
			}
			if len(table) != rows {
				t.Errorf("%d rows, want %d", len(table), rows)
			}
			reached := map[string]bool{}
			for _, h := range tc.hits {
				f := failureOf(h.code, h.status, h.message)
				before := classifyBy(t, f)
				if diff := cmp.Diff([]any{h.byDefault, h.defaultRule}, []any{before.Retry(), before.Rule()}); diff != "" {
					t.Errorf("%s: %+v: the default: -want, +got:\n%s", tc.reason, h, diff)
				}
				got := classifyBy(t, f, link)
				if got.Retry() != h.ours || got.Rule() == before.Rule() && got.Retry() == before.Retry() {
					t.Errorf("%s: %+v: got %v, want %s from the row", tc.reason, h, got, h.ours)
				}
				if same := h.theirs == h.ours.String(); same != (h.because == "") {
					t.Errorf("%s: %+v: our decision %s, ASO's %s, reason for a difference %q", tc.reason, h, h.ours, h.theirs, h.because)
				}
				reached[got.Rule()] = true
			}
			for _, r := range table {
				if !reached[r.String()] {
					t.Errorf("%s: no case matches the row %s", tc.reason, r)
				}
			}
			for _, m := range tc.misses {
				f := failureOf(m.code, m.status, m.message)
				if before, got := classifyBy(t, f), classifyBy(t, f, link); got.Rule() != before.Rule() || got.Retry() != before.Retry() {
					t.Errorf("%s: %+v matches a row: got %v, want %v", tc.reason, m, got, before)
				}
			}
		})
	}
}

// TestClassifiersWhateverTheStatus: rules do not compare the status. An
// operation that fails later has status 200, and services use several others.
func TestClassifiersWhateverTheStatus(t *testing.T) {
	for name, tc := range classifierCases {
		for _, h := range tc.hits {
			for _, status := range []int{0, 200, 400, 404, 409, 429, 500, 503} {
				f := failureOf(h.code, status, h.message)
				if got := classifyBy(t, f, aso.Classifiers[name].Link()); got.Retry() != h.ours {
					t.Errorf("%s: %s with status %d: got %v, want %s", name, h.code, status, got, h.ours)
				}
			}
		}
	}
}

// swapCase changes the case of every ASCII letter.
func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// TestClassifiersCompareExactly: rules compare the case of codes and texts,
// except where ASO ignores it.
func TestClassifiersCompareExactly(t *testing.T) {
	anyCode := []string{"sql ServersAzureADOnlyAuthentication"}
	anyText := []string{"cache Redis", "cache RedisFirewallRule", "cache RedisLinkedServer", "cache RedisPatchSchedule", "network AzureFirewall"}
	for name, tc := range classifierCases {
		for _, h := range tc.hits {
			for what, c := range map[string]struct {
				other   *classify.Failure
				matters bool
			}{
				"code": {failureOf(swapCase(h.code), h.status, h.message), hasCode(name, h.code) && !slices.Contains(anyCode, name)},
				"text": {failureOf(h.code, h.status, swapCase(h.message)), hasText(name) && !slices.Contains(anyText, name)},
			} {
				byDefault, got := classifyBy(t, c.other), classifyBy(t, c.other, aso.Classifiers[name].Link())
				same := got.Rule() == byDefault.Rule() && got.Retry() == byDefault.Retry()
				if same != c.matters {
					t.Errorf("%s: %s %q with another case of the %s: got %v, by default %v, want the default: %t", name, h.code, h.message, what, got, byDefault, c.matters)
				}
			}
		}
	}
}

// hasCode reports whether the table compares the code.
func hasCode(name, code string) bool {
	return slices.ContainsFunc(aso.Classifiers[name], func(r classify.Rule) bool { return r.Code != "" && code != "" })
}

// hasText reports whether the table compares the message.
func hasText(name string) bool {
	return slices.ContainsFunc(aso.Classifiers[name], func(r classify.Rule) bool { return r.Message.String() != "any" })
}

// TestClassifiersOfOtherAnswers has responses that no rule of a kind matches,
// and ASO's decisions.
func TestClassifiersOfOtherAnswers(t *testing.T) {
	html := "<html>Another operation is pending on the specified resource</html>"
	cases := map[string]struct {
		reason  string
		kind    string // the kind of the first table; empty: none
		body    string
		status  int
		want    classify.Retry
		theirs  string
		because string // why the decisions differ; empty if they do not
	}{
		"BodyNotJSON":    {"a proxy sent the response", "", "<html>Bad Request</html>", 400, slow, "slow", ""},
		"TextInHTML":     {"a proxy's page is not a text of Azure", "network DnsForwardingRuleSetsForwardingRule", html, 400, slow, "slow", ""},
		"NoCode":         {"a proxy sent the response", "", `{"error":{"message":"bad"}}`, 400, slow, "very slow", "every error of Azure has a code"},
		"CodeOutside":    {"a code outside of the error does not count", "", `{"error":{},"code":"InvalidTemplate"}`, 404, slow, "slow", ""},
		"OtherCase404":   {"codes are compared with case", "", `{"error":{"code":"invalidtemplate"}}`, 404, slow, "slow", ""},
		"OtherCase400":   {"codes are compared with case", "", `{"error":{"code":"NOTFOUND"}}`, 400, verySlow, "very slow", ""},
		"Quota":          {"a raised quota is noticed within minutes", "", `{"error":{"code":"QuotaExceeded"}}`, 409, slow, "slow", ""},
		"ResourceQuota":  {"a raised quota is noticed within minutes", "", `{"error":{"code":"ResourceQuotaExceeded"}}`, 409, slow, "slow", ""},
		"Policy":         {"a policy may change at any time", "", `{"error":{"code":"RequestDisallowedByPolicy"}}`, 403, slow, "slow", ""},
		"Method":         {"the service may be under maintenance", "", `{"error":{"code":"MethodNotAllowed"}}`, 405, verySlow, "very slow", ""},
		"InvalidRequest": {"only another request helps", "", `{"error":{"code":"InvalidTemplate"}}`, 400, onChange, "never", neverAgain},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answer := azureAnswer("%s", "", tc.status, "")
			answer.Body = io.NopCloser(strings.NewReader(tc.body))
			if got := classifyBy(t, read(runtime.NewResponseError(answer)), aso.Classifiers[tc.kind].Link()); got.Retry() != tc.want {
				t.Errorf("%s: got %v, want %s", tc.reason, got, tc.want)
			}
			if same := tc.theirs == tc.want.String(); same != (tc.because == "") {
				t.Errorf("%s: our decision %s, ASO's %s, reason for a difference %q", tc.reason, tc.want, tc.theirs, tc.because)
			}
		})
	}
}

// TestClassifiersOfErrors: rules match errors that are wrapped or joined.
func TestClassifiersOfErrors(t *testing.T) {
	wraps := map[string]func(error) error{
		"bare":         func(err error) error { return err },
		"wrapped":      func(err error) error { return fmt.Errorf("applying: %w", fmt.Errorf("PUT: %w", err)) },
		"joined alone": func(err error) error { return fmt.Errorf("applying: %w", errors.Join(nil, err)) },
		// Of several causes, the one with the longest delay decides.
		"joined": func(err error) error {
			quick := runtime.NewResponseError(azureAnswer(`{"error":%s}`, "Quick", 409, "try again later"))
			return errors.Join(fmt.Errorf("another error: %w", quick), err)
		},
	}
	quick := classify.Table{{Code: "Quick", Retry: fast}}
	for name, tc := range classifierCases {
		for _, h := range tc.hits {
			for shapeName, shape := range shapes {
				for wrapName, wrap := range wraps {
					err := wrap(runtime.NewResponseError(azureAnswer(shape, h.code, h.status, h.message)))
					got := classifyBy(t, read(err), quick.Link(), aso.Classifiers[name].Link())
					if got.Retry() != h.ours {
						t.Errorf("%s: %s %s, %s: got %v, want %s", name, h.code, shapeName, wrapName, got, h.ours)
					}
				}
			}
		}
	}
}

// TestClassifiersInAFlow: a flow uses the tables and the delay of the service.
func TestClassifiersInAFlow(t *testing.T) {
	for shapeName, shape := range shapes {
		answer := azureAnswer(shape, "Conflict", 409, "The cache is busy. Please try again later.")
		answer.Header.Set("Retry-After", "15")
		rules := flow.New("RedisFirewallRule", flow.Operations[string]{
			Key: func(name string) string { return name },
			Apply: func(context.Context, *flow.Request[string]) (flow.Progress, error) {
				return flow.Progress{}, fmt.Errorf("PUT: %w", runtime.NewResponseError(answer))
			},
		}, flow.Extensions[string]{Classify: aso.Classifiers["cache RedisFirewallRule"].Chain()}, flow.WithErrors(azure.Errors()))

		out := rules.Reconcile(t.Context(), "office")
		delay, _ := out.Again()
		want := []any{flow.StateFailed, "Apply", "Conflict", "The cache is busy. Please try again later.", fast, 15 * time.Second, "Redis is busy"}
		if diff := cmp.Diff(want, []any{out.State(), out.Point(), out.Reason(), out.Message(), out.Retry(), delay, out.Rule()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", shapeName, diff)
		}
	}
}

// neverReached returns the rows that a printed table marks as never reached.
func neverReached(table classify.Table) (rows []string) {
	for line := range strings.Lines(table.String()) {
		if '0' <= line[0] && line[0] <= '9' && strings.Contains(line, "never reached") {
			rows = append(rows, line)
		}
	}
	return rows
}

func TestClassifiersHaveNoShadowedRow(t *testing.T) {
	for name, table := range aso.Classifiers {
		if rows := neverReached(table); rows != nil {
			t.Errorf("%s: %v", name, rows)
		}
		if rows := neverReached(append(slices.Clone(table), table[0])); len(rows) != 1 {
			t.Errorf("%s: want a duplicate row reported as never reached", name)
		}
	}
}
