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

// classified is a failure that a table has a rule for, with three decisions: that of the default, that of the table, and that
// of Azure Service Operator with its extension for that resource. There, "never" stands for fatal.
type classified struct {
	code    string
	status  int
	message string

	byDefault   classify.Retry
	defaultRule string
	ours        classify.Retry
	theirs      string
	because     string // why ours is another than theirs; empty if it is the same
}

// lookalike is a failure that no rule of a table may match.
type lookalike struct {
	code    string
	status  int
	message string
}

const (
	fast, slow, verySlow, onChange = classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange

	// Why their wait is another one.
	classOnly  = "their extension says retryable and leaves the speed at what 400 has, about an hour; here one value says both, and it is over in minutes"
	neverAgain = "ASO does not look at a fatal error again, not even at its resync; OnChange is tried again at the resync"
	inTurn     = "each change waits for another one that takes seconds, so a resource with many of them is done sooner"
)

var classifierCases = map[string]struct {
	reason string
	hits   []classified
	misses []lookalike
}{
	"app ContainerApp": {"an environment that is being created", appHits, appMisses},
	"app Job":          {"the same environment", appHits, appMisses},

	"cache Redis":              {"a cache that is busy", redisHits, redisMisses},
	"cache RedisFirewallRule":  {"the same cache", redisHits, redisMisses},
	"cache RedisLinkedServer":  {"the same cache", redisHits, redisMisses},
	"cache RedisPatchSchedule": {"the same cache", redisHits, redisMisses},
	"cdn AfdCustomDomain": {
		"a domain whose route is being deleted",
		[]classified{{"BadRequest", 400, "This resource is still associated with a route. Delete it first.", verySlow, "BadRequest", slow, "slow", ""}},
		[]lookalike{{"BadRequest", 400, "This resource is associated."}, {"Conflict", 409, "This resource is still associated with a route."}},
	},
	"cdn Route": {"a route of an origin group that is being created", originHits, originMisses},
	"cdn Rule":  {"a rule for the same origin group", originHits, originMisses},
	"cdn SecurityPolicy": {
		"a policy for a domain that is being made",
		[]classified{{"BadRequest", 400, "The domain is not associated with the AFDX profile or is in a invalid provisioning state.",
			verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The domain is in a invalid provisioning state."}, {"BadRequest", 400, "The domain is not associated with the AFDX profile."}},
	},
	"compute Disk": {
		"a disk whose access is being made, or has failed",
		[]classified{
			{"BadRequest", 400, "The DiskAccess resource x is not found.", verySlow, "BadRequest", slow, "very slow", classOnly},
			{"Conflict", 409, "DiskAccess x is in failed state.", slow, "Conflict", slow, "slow", ""},
		},
		[]lookalike{{"BadRequest", 400, "DiskAccess x is in failed state."}, {"Conflict", 409, "not found: DiskAccess x"}},
	},
	"compute VirtualMachine":         {"a quota, or something else that is done to the machine", computeHits, computeMisses},
	"compute VirtualMachineScaleSet": {"the same for many machines", computeHits, computeMisses},
	"containerservice FleetsMember": {
		"a member of a fleet that is being made",
		[]classified{
			{"DependentResourceNotFound", 404, "", slow, "Unknown", slow, "slow", ""},
			{"DependentResourceNotFound", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"ResourceNotFound", 404, ""}},
	},
	"containerservice ManagedCluster": {
		"a role that has not arrived",
		[]classified{{"CustomKubeletIdentityMissingPermissionError", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"CustomKubeletIdentityMissing", 400, ""}},
	},
	"containerservice ManagedClustersAgentPool": {
		"a control plane that is still upgraded",
		[]classified{{"NodePoolMcVersionIncompatible", 400, "Minor version of node pool cannot be bigger.", verySlow, "UnknownBadRequest", slow, "slow", ""}},
		[]lookalike{{"NodePoolVersionIncompatible", 400, ""}},
	},
	"documentdb CassandraCluster": {
		"a service principal that has not arrived",
		[]classified{{"BadRequest", 400, "The service principal has no rights on the subnet.", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The principal has no rights."}, {"Forbidden", 403, "service principal"}},
	},
	"documentdb DatabaseAccount": {
		"a region without room",
		[]classified{{"ServiceUnavailable", 503, "We are currently experiencing high demand in this region.", slow, "ServerError", verySlow, "never",
			"fatal is not looked at again there, not even at the resync; room comes without a change of the spec, so it is tried once in a resync, and not called stalled"}},
		[]lookalike{{"ServiceUnavailable", 503, "Try again."}, {"TooManyRequests", 429, "currently experiencing high demand"}},
	},
	"documentdb MongodbDatabase": {"an account that is being made", cosmosHits, cosmosMisses},
	"documentdb SqlDatabase":     {"the same kind of account", cosmosHits, cosmosMisses},
	"documentdb SqlRoleAssignment": {
		"an identity that has not arrived",
		[]classified{{"BadRequest", 400, "The principal ID was not found in the AAD tenant(s).", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "The principal was not found."}},
	},
	"insights DataCollectionRule": {
		"a workspace that is being made",
		[]classified{
			{"WorkspaceNotFound", 404, "", slow, "Unknown", slow, "slow", ""},
			{"WorkspaceNotFound", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"NotFound", 404, ""}},
	},
	"insights ScheduledQueryRule": {
		"what the query needs is being made",
		[]classified{
			{"BadRequest", 400, "The workspace does not exist.", verySlow, "BadRequest", slow, "very slow", classOnly},
			{"BadRequest", 400, "You have insufficient access.", verySlow, "BadRequest", slow, "very slow", classOnly},
		},
		[]lookalike{{"BadRequest", 400, "The query is wrong."}},
	},
	"machinelearningservices Workspace": {
		"a storage account that is being made",
		[]classified{{"BadRequest", 400, "StorageAccountIsNotProvisioned: wait for it", verySlow, "BadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"BadRequest", 400, "Storage account is not provisioned"}},
	},
	"network AzureFirewall": {
		"a policy that is being changed",
		[]classified{{"AzfwAddToFirewallPolicyFailed", 400, "Failed to reference firewall policy x", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"AzfwAddToFirewallPolicyFailed", 400, "Failed to add a policy"}},
	},
	"network DnsForwardingRuleSetsForwardingRule": {
		"another rule that is being written",
		[]classified{{"Conflict", 409, "Another operation is pending on the specified resource.", slow, "Conflict", fast, "slow", inTurn}},
		[]lookalike{{"Conflict", 409, "Another operation is pending."}},
	},
	"network DnsForwardingRuleset": {
		"an endpoint that is being made, under any code or none",
		[]classified{
			{"Anything", 400, "The endpoint was not found.", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
			{"", 404, "x was not found", slow, "Unknown", slow, "slow", ""},
		},
		[]lookalike{{"NotFound", 404, "The endpoint is not found."}},
	},
	"network DnsZonesAAAARecord":  {"a record for a resource that is being created", recordHits, recordMisses},
	"network DnsZonesARecord":     {"the same", recordHits, recordMisses},
	"network DnsZonesCNAMERecord": {"the same", recordHits, recordMisses},
	"network NetworkWatchersFlowLog": {
		"what is logged, or where to, is being made",
		[]classified{
			{"NetworkSecurityGroupNotFoundForFlowLog", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly},
			{"StorageProvisioningStateNotSucceeded", 409, "", slow, "Unknown", slow, "slow", ""},
		},
		[]lookalike{{"NetworkSecurityGroupNotFound", 400, ""}},
	},
	"network PublicIPAddress":                      {"a neighbour that is being written", neighbourHits, neighbourMisses},
	"network VirtualNetworksVirtualNetworkPeering": {"the same", neighbourHits, neighbourMisses},
	"network VirtualNetworksSubnet": {
		"a network that is being extended",
		[]classified{{"NetcfgSubnetRangeOutsideVnet", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"NetcfgSubnetRangesOverlap", 400, ""}},
	},
	"servicebus NamespacesTopicsSubscription": {
		"a namespace that is not ready",
		[]classified{{"MessagingGatewayBadRequest", 400, "", verySlow, "UnknownBadRequest", slow, "very slow", classOnly}},
		[]lookalike{{"MessagingGatewayUnauthorized", 400, ""}},
	},
	"sql Server": {
		"a password that will not do",
		[]classified{{"PasswordNotComplex", 400, "", verySlow, "UnknownBadRequest", onChange, "never",
			neverAgain}},
		[]lookalike{{"PasswordExpired", 400, ""}, {"", 400, ""}},
	},
	"sql ServersAzureADOnlyAuthentication": {
		"an administrator that is being set; ASO ignores the case of this code, too",
		[]classified{{"INVALIDServerAADOnlyAuthNoAADAdminPropertyName", 400, "", verySlow, "UnknownBadRequest", slow, "slow", ""}},
		[]lookalike{{"InvalidServerAADOnlyAuth", 400, ""}},
	},
	"sql ServersVulnerabilityAssessment": {
		"Advanced Data Security that is being switched on",
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
			"their extension says retryable and leaves the speed at what 400 has, about an hour, for what takes seconds"},
	}
	neighbourMisses = []lookalike{{"ReferencedResourceNotFound", 409, ""}}
)

// failureOf is the failure of an answer of Azure, as a flow reads it.
func failureOf(code string, status int, message string) *classify.Failure {
	return read(runtime.NewResponseError(azureAnswer(shapes["under error"], code, status, message)))
}

// read reads an error as a flow with azure.Errors does.
func read(err error) *classify.Failure {
	return classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors())
}

// azureAnswer is an answer of Azure with the failure in its body; shape says where.
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

// shapes are the two in which services put an error into a body.
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
					t.Errorf("%s: %+v: the default (-want +got):\n%s", tc.reason, h, diff)
				}
				got := classifyBy(t, f, link)
				if got.Retry() != h.ours || got.Rule() == before.Rule() && got.Retry() == before.Retry() {
					t.Errorf("%s: %+v: got %v, want %s by the row", tc.reason, h, got, h.ours)
				}
				if same := h.theirs == h.ours.String(); same != (h.because == "") {
					t.Errorf("%s: %+v: ours is %s, theirs is %s, because %q", tc.reason, h, h.ours, h.theirs, h.because)
				}
				reached[got.Rule()] = true
			}
			for _, r := range table {
				if !reached[r.String()] {
					t.Errorf("%s: no hit is for the row %s", tc.reason, r)
				}
			}
			for _, m := range tc.misses {
				f := failureOf(m.code, m.status, m.message)
				if before, got := classifyBy(t, f), classifyBy(t, f, link); got.Rule() != before.Rule() || got.Retry() != before.Retry() {
					t.Errorf("%s: %+v only looks like it: got %v, want %v", tc.reason, m, got, before)
				}
			}
		})
	}
}

// What fails while it goes on fails with status 200, and services are not of one mind about the others.
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

// Codes and texts match as Azure writes them. The rules that ignore case are those that ignore it in ASO.
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

// Answers that no rule of a kind decides, and ASO's decision about them.
func TestClassifiersOfOtherAnswers(t *testing.T) {
	html := "<html>Another operation is pending on the specified resource</html>"
	cases := map[string]struct {
		reason  string
		kind    string // whose table decides first; empty: none
		body    string
		status  int
		want    classify.Retry
		theirs  string
		because string // why ours is another than theirs; empty if it is the same
	}{
		"BodyNotJSON":    {"a proxy answered, and not Azure", "", "<html>Bad Request</html>", 400, slow, "slow", ""},
		"TextInHTML":     {"a proxy's page has no text of Azure", "network DnsForwardingRuleSetsForwardingRule", html, 400, slow, "slow", ""},
		"NoCode":         {"a proxy answered, and not Azure", "", `{"error":{"message":"bad"}}`, 400, slow, "very slow", "Azure names each of its errors"},
		"CodeOutside":    {"an empty error has no code", "", `{"error":{},"code":"InvalidTemplate"}`, 404, slow, "slow", ""},
		"OtherCase404":   {"a code in another case is another code", "", `{"error":{"code":"invalidtemplate"}}`, 404, slow, "slow", ""},
		"OtherCase400":   {"a code in another case is another code", "", `{"error":{"code":"NOTFOUND"}}`, 400, verySlow, "very slow", ""},
		"Quota":          {"a raised quota is noticed in minutes", "", `{"error":{"code":"QuotaExceeded"}}`, 409, slow, "slow", ""},
		"ResourceQuota":  {"a raised quota is noticed in minutes", "", `{"error":{"code":"ResourceQuotaExceeded"}}`, 409, slow, "slow", ""},
		"Policy":         {"a policy may change at any time", "", `{"error":{"code":"RequestDisallowedByPolicy"}}`, 403, slow, "slow", ""},
		"Method":         {"a service may be under maintenance", "", `{"error":{"code":"MethodNotAllowed"}}`, 405, verySlow, "very slow", ""},
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
				t.Errorf("%s: ours is %s, theirs is %s, because %q", tc.reason, tc.want, tc.theirs, tc.because)
			}
		})
	}
}

// Errors as clients give them, read from the body of an answer, and as they come through other people's functions.
func TestClassifiersOfErrors(t *testing.T) {
	wraps := map[string]func(error) error{
		"bare":         func(err error) error { return err },
		"wrapped":      func(err error) error { return fmt.Errorf("applying: %w", fmt.Errorf("PUT: %w", err)) },
		"joined alone": func(err error) error { return fmt.Errorf("applying: %w", errors.Join(nil, err)) },
		// Of several causes the one that waits longest wins.
		"joined": func(err error) error {
			quick := runtime.NewResponseError(azureAnswer(`{"error":%s}`, "Quick", 409, "try again later"))
			return errors.Join(fmt.Errorf("beside it: %w", quick), err)
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

// The same at the extension point that the tables are for.
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

// neverReached finds the rows of a table that say so when it is printed.
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
			t.Errorf("%s: a row that is there twice is not noticed", name)
		}
	}
}
