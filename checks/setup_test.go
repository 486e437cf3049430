package checks_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// setUp is a set-up error, and the text of its panic.
type setUp struct {
	reason string
	do     func()
	want   string
}

// TestSetUp has a row for each set-up error, but for options that a check does
// not take (TestOptionsFit).
func TestSetUp(t *testing.T) {
	type own struct{ checks.Request[*Database] }
	const (
		must    = ": it must be a *checks.Request[T] or *checks.OwnerRequest"
		raws    = " is not made by checks.Check: put it into the chain itself"
		noName  = ": the name is empty or the function is nil"
		unnamed = "checks: Check: the name of the link at checks/setup_test.go:N is empty"
		badWord = " is not a condition reason: a letter, then letters, digits and _,: only"
		noState = " names an empty state: use WithUnknownAllowed to allow a state that is not reported"
	)
	var (
		none     func(context.Context, request) (checks.Result, error)
		a        = returns[request]("a", checks.Proceed(), nil)
		nextOnly = chain.Named("raw", func(next handler) handler { return next })
		gate     = checks.Gate("backup", proceeds)
		key      = func(request) int { return 1 }
		refs     = func(*Database) []checks.Ref { return nil }
		list     = func(*Database) []Connection { return nil }
		approval = func(Connection) checks.Approval { return checks.Approval{} }
		valid    = chain.New(checks.ResourceIs("Valid", func(*Database) string { return "" }))
	)
	state := func(opts ...checks.Option) func() {
		return func() { checks.ProvisioningState(deepState, opts...) }
	}
	verdict := func(res checks.Result) func() {
		return func() { checks.ResourceIs("v", func(*Deep) string { return "" }, checks.WithVerdict(res)) }
	}
	cases := map[string]setUp{
		"Compose/String":   {"a chain with another request type panics", func() { checks.Compose(chain.New(open[string]("a"))) }, "checks: Compose: the request of the chain a is a string" + must},
		"Compose/Any":      {"a request of type any panics", func() { checks.Compose(chain.Chain[any, checks.Result]{}) }, "checks: Compose: the request of the chain (empty) is a <nil>" + must},
		"Compose/Embedded": {"a type that embeds a request panics", func() { checks.Compose(chain.New(open[*own]("a"))) }, "checks: Compose: the request of the chain a is a *checks_test.own" + must},
		"Check/Request":    {"a check needs a request of this package", func() { returns[string]("a", checks.Proceed(), nil) }, `checks: Check: the request of "a" is a string` + must},
		"Check/Nil":        {"Check requires a function", func() { checks.Check("a", none) }, `checks: Check: the function of "a" is nil`},
		"Check/Blank":      {"the panic names the place of a link without a name", func() { checks.Check(" ", proceeds) }, unnamed},
		"Gate/Nil":         {"Gate requires a function", func() { checks.Gate("a", none) }, `checks: Gate: the function of "a" is nil`},
		"Gate/Blank":       {"white space is no name", func() { checks.Gate(" ", proceeds) }, "checks: Gate: the name is empty"},
		"NewSlot/Blank":    {"the panic names the place of a slot without a name", func() { checks.NewSlot[int](" ") }, "checks: NewSlot: the name of the slot at checks/setup_test.go:N is empty"},

		"OwnerIs/Nil":     {"OwnerIs requires an objection", func() { checks.OwnerIs[*Deep]("fits", nil) }, "checks: fits: the function is nil"},
		"OwnerIs/Blank":   {"OwnerIs requires a name", func() { checks.OwnerIs(" ", func(*Deep) string { return "" }) }, unnamed},
		"OwnerFits/Nil":   {"OwnerFits requires an objection", func() { checks.OwnerFits[*Database, *Deep]("suits", nil) }, "checks: suits: the function is nil"},
		"OwnerFits/Empty": {"OwnerFits requires a name", func() { checks.OwnerFits("", func(*Database, *Deep) string { return "" }) }, unnamed},
		"OwnerState/Nil":  {"the selector is required", func() { checks.OwnerProvisioningState[*Cluster, string](nil) }, "checks: OwnerProvisioningState: the selector is nil"},
		"OwnerFrom/Nil":   {"the query is required", func() { checks.OwnerFrom[*Database](nil) }, "checks: OwnerFrom: the function is nil"},

		"ProvisioningState/Nil":      {"the selector is required", func() { checks.ProvisioningState[*Deep, string](nil) }, "checks: ProvisioningState: the selector is nil"},
		"LiveState/Nil":              {"fetch is required", func() { checks.LiveState[*Deep, string](nil) }, "checks: LiveState: the function is nil"},
		"Paused/Nil":                 {"the function is required", func() { checks.Paused[*Database](nil) }, "checks: Paused: the function is nil"},
		"ResourceIs/Nil":             {"the check needs an objection", func() { checks.ResourceIs[*Database]("version", nil) }, "checks: version: the function is nil"},
		"ResourceIs/Blank":           {"ResourceIs requires a name", func() { checks.ResourceIs(" ", func(*Database) string { return "" }) }, unnamed},
		"ResourceIs/Vocabulary":      {"it would be ignored", func() { checks.ResourceIs("version", func(*Database) string { return "" }, words) }, "checks: version: a Vocabulary is not for this check"},
		"ApprovalPending/NoList":     {"the list function is required", func() { checks.ApprovalPending[*Database](nil, approval) }, "checks: ApprovalPending: a function is nil"},
		"ApprovalPending/NoApproval": {"the approval function is required", func() { checks.ApprovalPending(list, nil) }, "checks: ApprovalPending: a function is nil"},
		"ApprovalPending/Minimum0":   {"a minimum of zero is useless", func() { checks.ApprovalPending(list, approval, checks.WithMinimum(0)) }, "checks: ApprovalPending: WithMinimum(0): give at least 1"},

		"ReferenceReady/Blank":    {"the name is required", func() { checks.ReferenceReady(" ", refs) }, "checks: ReferenceReady( )" + noName},
		"ReferenceReady/Nil":      {"the function is required", func() { checks.ReferenceReady[*Database]("network", nil) }, "checks: ReferenceReady(network)" + noName},
		"ReferenceIs/NoObjection": {"the check needs an objection", func() { checks.ReferenceIs[*Database, *Cluster]("cluster", refs, nil) }, "checks: ReferenceIs(cluster): the objection is nil"},
		"Unused/Blank":            {"the name is required", func() { checks.Unused(" ", claimsOf) }, "checks: Unused( )" + noName},
		"Unique/Nil":              {"the query is required", func() { checks.Unique[*Database]("a", nil) }, "checks: Unique(a)" + noName},
		"SetIs/NoObjection":       {"SetIs needs an objection", func() { checks.SetIs[*Database, *Cluster]("backups", claimsOf, nil) }, "checks: SetIs(backups): the objection is nil"},

		"OnOwner/None":    {"OnOwner needs a link", func() { checks.OnOwner[*Database]() }, "checks: OnOwner: there are no links"},
		"OnOwner/Nil":     {"the panic names the index of a nil link", func() { checks.OnOwner[*Database](checks.OwnerReady(), nil) }, "chain: New: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler"},
		"All/None":        {"All needs a check", func() { checks.All[request]() }, "checks: All: there are no links"},
		"All/Nil":         {"the panic names the index of a nil link", func() { checks.All(a, nil, a) }, "checks: All: link 2 of 3 is nil"},
		"All/Raw":         {"All refuses a raw link", func() { checks.All(a, nextOnly) }, "checks: All: link raw" + raws},
		"All/GateRenamed": {"All refuses a gate, which must not act if another check blocks", func() { checks.All(chain.Named("harmless", gate)) }, "checks: All: link harmless" + raws},
		"All/RawInWhen":   {"All refuses a raw link inside When", func() { checks.All(chain.When(always, a, nextOnly)) }, "checks: All: link When(a, raw)" + raws},
		"All/GateOnOwner": {"All refuses a gate inside OnOwner", func() {
			checks.All(checks.OnOwner[*Database](checks.Gate("backup", func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil })))
		}, "checks: All: link OnOwner(Gate(backup))" + raws},
		"Cached/NoKey":  {"the key function is required", func() { checks.Cached[request, int](time.Hour, nil, a) }, "checks: Cached(a): the key function is nil"},
		"Cached/NoTime": {"a ttl of zero remembers nothing", func() { checks.Cached(0, key, a) }, "checks: Cached(a): the ttl is 0s: give a positive duration"},
		"Cached/Nil":    {"the check is required", func() { checks.Cached(time.Hour, key, nil) }, "checks: Cached: link nil" + raws},
		"Cached/Gate":   {"Cached refuses a gate, which must act in each pass", func() { checks.Cached(time.Hour, key, gate) }, "checks: Cached: link Gate(backup)" + raws},
		"Convert/Gate": {"a gate loses its record in a converted resource, so it would act each time", func() { checks.Convert(chain.New(chain.Named("other", gate)), (*newer).older) },
			"checks: Convert: other may act on the resource, and its changes to a converted resource are lost: remove it from the chain, and write it for *checks_test.newer"},
		"Convert/Decorated": {"Convert would lose a decoration that blocks work", func() { checks.Convert(valid.Observe(&verdicts{}), (*newer).older) },
			"checks: Convert: the chain Valid has observers, which would be lost: put them around the converted chain"},
		"Convert/Nil": {"convert is required", func() { checks.Convert[*newer](valid, nil) }, "checks: Convert: the function for the chain Valid is nil"},

		"WithAllowed/None":      {"WithAllowed without states would block everything", state(checks.WithAllowed[string]()), "checks: ProvisioningState: WithAllowed names no states"},
		"WithDenied/None":       {"WithDenied without states would block nothing", state(checks.WithDenied[State]()), "checks: ProvisioningState: WithDenied names no states"},
		"WithDenied/Blank":      {"white space is not reported", state(checks.WithDenied("a", " ")), "checks: ProvisioningState: WithDenied" + noState},
		"WithDenied/Allowed":    {"WithDenied and WithAllowed contradict each other", state(checks.WithDenied("a"), checks.WithAllowed("b")), "checks: ProvisioningState: both WithAllowed and WithDenied are given: give one of them"},
		"Vocabulary/NotGood":    {"without a good state no resource becomes Ready", state(checks.Vocabulary{Settled: []string{"READY"}}), "checks: ProvisioningState: Vocabulary: one of Settled and Succeeded is empty: give both, or neither for Azure's words"},
		"Vocabulary/NotSettled": {"a good state must be settled", state(checks.Vocabulary{Settled: []string{"BROKEN"}, Succeeded: []string{"READY"}}), `checks: ProvisioningState: Vocabulary: "READY" is in Succeeded but not in Settled: add it to Settled`},
		"Vocabulary/Blank":      {"white space is no word", state(checks.Vocabulary{Pending: []string{" "}}), "checks: ProvisioningState: Vocabulary: a word is empty: give the check checks.WithUnknownAllowed if a state may be unreported"},
		"Vocabulary/Twice":      {"a status must have one meaning", state(checks.Vocabulary{Approved: []string{"pending"}}), `checks: ProvisioningState: Vocabulary: the approval status "pending" has two meanings: give it one`},
		"WithReason/NotOne":     {"a reason that Kubernetes refuses is a set-up error", state(checks.WithReason("not yet")), `checks: ProvisioningState: WithReason("not yet")` + badWord},
		"WithReason/Empty":      {"an empty reason is a set-up error", state(checks.WithReason("")), `checks: ProvisioningState: WithReason("")` + badWord},
		"WithReason/Long":       {"the panic cuts a long reason", state(checks.WithReason(strings.Repeat("x", 1025))), `checks: ProvisioningState: WithReason("` + strings.Repeat("x", 78) + `... (947 bytes more)")` + badWord},
		"WithVerdict/BadReason": {"Kubernetes refuses the reason", verdict(checks.Finished("not one", "")), `checks: v: WithVerdict(finish InvalidReason: the reason "not one" is not a condition reason (a letter, then letters, digits and _,: only): ): give a valid reason`},
	}
	for name, res := range map[string]checks.Result{"Zero": {}, "Proceed": checks.Proceed(), "Skip": checks.Skip("x"), "Block": checks.Block("X", "x")} {
		cases["WithVerdict/"+name] = setUp{"an objection neither proceeds nor needs an option to block", verdict(res),
			"checks: v: WithVerdict(" + res.String() + "): give the result of Ignore, Finished or Release"}
	}
	for check, with := range configurable {
		cases["Option/"+check] = setUp{"the panic names the index of a nil option", func() { with(nil) }, "checks: " + check + ": option 1 is nil"}
	}
	line := regexp.MustCompile(`_test\.go:\d+`)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, line.ReplaceAllString(panicOf(tc.do), "_test.go:N")); diff != "" {
				t.Errorf("%s: the panic: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	checks.Cached(1, key, a) // a nanosecond is positive
}
