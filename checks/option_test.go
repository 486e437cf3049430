package checks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// configurable holds every constructor with options, under the name in its
// panics.
var configurable = map[string]func(...checks.Option){
	"OwnerReady":             func(o ...checks.Option) { checks.OwnerReady(o...) },
	"OwnerFound":             func(o ...checks.Option) { checks.OwnerFound(o...) },
	"OwnerProvisioningState": func(o ...checks.Option) { checks.OwnerProvisioningState(deepState, o...) },
	"fits":                   func(o ...checks.Option) { checks.OwnerIs("fits", func(*Deep) string { return "" }, o...) },
	"suits": func(o ...checks.Option) {
		checks.OwnerFits("suits", func(*Database, *Deep) string { return "" }, o...)
	},
	"ProvisioningState": func(o ...checks.Option) { checks.ProvisioningState(deepState, o...) },
	"LiveState": func(o ...checks.Option) {
		checks.LiveState(func(context.Context, request) (string, error) { return "", nil }, o...)
	},
	"ReferenceReady(network)": func(o ...checks.Option) {
		checks.ReferenceReady("network", func(*Deep) []checks.Ref { return nil }, o...)
	},
	"ReferenceIs(network)": func(o ...checks.Option) {
		checks.ReferenceIs("network", func(*Deep) []checks.Ref { return nil }, func(*Deep, *Deep) string { return "" }, o...)
	},
	"Unused(users)": func(o ...checks.Option) {
		checks.Unused("users", func(*Deep) checks.Query { return checks.Query{} }, o...)
	},
	"Unique(host)": func(o ...checks.Option) {
		checks.Unique("host", func(*Deep) checks.Query { return checks.Query{} }, o...)
	},
	"SetIs(backups)": func(o ...checks.Option) {
		checks.SetIs("backups", func(*Deep) checks.Query { return checks.Query{} }, func(*Deep, *Deep) string { return "" }, o...)
	},
	"fine": func(o ...checks.Option) { checks.ResourceIs("fine", func(*Deep) string { return "" }, o...) },
	"ApprovalPending": func(o ...checks.Option) {
		checks.ApprovalPending(func(*Deep) []int { return nil }, func(int) checks.Approval { return checks.Approval{} }, o...)
	},
	"Paused": func(o ...checks.Option) { checks.Paused(func(*Deep) bool { return false }, o...) },
}

// TestOptionsFit gives each option to each check. A check must refuse an option
// that would do nothing.
func TestOptionsFit(t *testing.T) {
	var all []string
	for check := range configurable {
		all = append(all, check)
	}
	slices.Sort(all)
	states := []string{"LiveState", "OwnerProvisioningState", "ProvisioningState"}
	cases := map[string]struct {
		reason string
		option checks.Option
		takes  []string
	}{
		"WithAllowed":        {"WithAllowed is for checks of states", checks.WithAllowed("a"), states},
		"WithDenied":         {"WithDenied is for checks of states", checks.WithDenied("a"), states},
		"WithUnknownAllowed": {"WithUnknownAllowed is for checks that read a field", checks.WithUnknownAllowed(), []string{"ApprovalPending", "LiveState", "OwnerProvisioningState", "ProvisioningState", "ReferenceIs(network)", "SetIs(backups)", "fits", "suits"}},
		"WithFollowing":      {"WithFollowing is for checks of owners, references and sets", checks.WithFollowing(true), []string{"OwnerFound", "OwnerProvisioningState", "OwnerReady", "ReferenceIs(network)", "ReferenceReady(network)", "SetIs(backups)", "Unique(host)", "Unused(users)", "fits", "suits"}},
		"WithByIDBlocked":    {"WithByIDBlocked is for checks that proceed by ID only", checks.WithByIDBlocked(), []string{"OwnerFound", "OwnerReady", "ReferenceReady(network)"}},
		"WithRequiredOwner":  {"WithRequiredOwner is for checks that proceed without an owner", checks.WithRequiredOwner(), []string{"OwnerFound", "OwnerReady"}},
		"WithVerdict":        {"WithVerdict is for checks with an objection", checks.WithVerdict(checks.Ignore("")), []string{"ReferenceIs(network)", "SetIs(backups)", "fine", "fits", "suits"}},
		"WithMissingAllowed": {"WithMissingAllowed is for checks of references", checks.WithMissingAllowed(), []string{"ReferenceIs(network)", "ReferenceReady(network)"}},
		"WithMinimum":        {"WithMinimum is for approvals and sets", checks.WithMinimum(1), []string{"ApprovalPending", "SetIs(backups)"}},
		"WithReason":         {"every check that blocks has a reason", checks.WithReason("Other"), all},
		"WithRetry":          {"every check that blocks has a retry", checks.WithRetry(classify.Fast), all},
		"WithAfter":          {"every check that blocks has a delay", checks.WithAfter(time.Second), all},
		"WithWaitingFor":     {"every check that blocks has awaited objects", checks.WithWaitingFor(prod), all},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var takes []string
			for _, check := range all {
				text := panicOf(func() { configurable[check](tc.option) })
				what := "the option " + name
				if _, ok := tc.option.(checks.BlockOption); ok {
					what = "a BlockOption"
				}
				switch {
				case text == "":
					takes = append(takes, check)
				case !strings.HasPrefix(text, "checks: "+check+": "+what+" is not for this check"):
					t.Errorf("the panic of %s is %q", check, text)
				}
			}
			if diff := cmp.Diff(tc.takes, takes); diff != "" {
				t.Errorf("%s: accepted by: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestTags tests the tags of links. The flow uses them to refuse a chain at
// set-up.
func TestTags(t *testing.T) {
	gate := checks.Gate("g", func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil })
	check := returns[request]("a", checks.Proceed(), nil)
	fits := func(opts ...checks.Option) link {
		return checks.OwnerFits("f", func(*Database, *Cluster) string { return "" }, opts...)
	}
	objects := func(opts ...checks.Option) link {
		return checks.ResourceIs("r", func(*Database) string { return "" }, opts...)
	}
	is := checks.OwnerIs("i", func(*Cluster) string { return "" })
	onOwner := func(links ...ownerLink) link { return checks.OnOwner[*Database](links...) }
	tag := func(l link) linktag.Check { return chain.New(l).Links()[0].Tag.(linktag.Check) }
	cases := map[string]struct {
		reason string
		got    linktag.Check
		want   linktag.Check
	}{
		"Check":       {"a check has no side effects", tag(check), linktag.Check{}},
		"Gate":        {"a gate has side effects", tag(checks.Gate("g", proceeds)), linktag.Check{Acts: true}},
		"OwnerIs":     {"an owner check has no side effects", chain.New(is).Links()[0].Tag.(linktag.Check), linktag.Check{}},
		"OwnerFits":   {"the check needs the owner", tag(fits()), linktag.Check{NeedsOwner: true}},
		"OnOwner":     {"owner checks read the owner only", tag(onOwner(is)), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"OnOwnerGate": {"one of them acts", tag(onOwner(gate, is)), linktag.Check{NeedsOwner: true, BeforeGet: true, Acts: true}},
		"OnOwnerRaw":  {"a raw link may act", tag(onOwner(forgets, is)), linktag.Check{NeedsOwner: true, BeforeGet: true, Acts: true}},
		"All":         {"All reads the owner only if each of its checks does", tag(checks.All(onOwner(is), onOwner(is))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"AllMixed":    {"one check of the resource reads the resource", tag(checks.All(onOwner(is), check)), linktag.Check{NeedsOwner: true}},
		"Paused":      {"a pause needs no Get", tag(checks.Paused(func(*Database) bool { return true })), linktag.Check{BeforeGet: true}},
		"Reference":   {"a reference needs no Get", tag(checks.ReferenceReady("r", func(*Database) []checks.Ref { return nil })), linktag.Check{BeforeGet: true}},
		"Set":         {"nor does a set", tag(checks.SetIs("s", claimsOf, func(*Database, *Cluster) string { return "" })), linktag.Check{BeforeGet: true}},
		"ResourceIs":  {"an objection may be about what Get reads", tag(objects()), linktag.Check{}},
		"Finished":    {"so may the end of the work", tag(objects(checks.WithVerdict(checks.Finished("Done", "")))), linktag.Check{}},
		"Release":     {"a release decides before Get", tag(objects(checks.WithVerdict(checks.Release("")))), linktag.Check{BeforeGet: true}},
		"FitsRelease": {"a release by the owner, too", tag(fits(checks.WithVerdict(checks.Release("")))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"Cached":      {"Cached has the tag of its check", tag(checks.Cached(time.Hour, func(request) int { return 1 }, onOwner(is))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.got.Follows, tc.got.Lists = nil, nil // see TestFollowingChecks
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
