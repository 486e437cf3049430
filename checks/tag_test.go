package checks_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/linktag"
)

// TestTags tests the tags of links. The flow uses them to refuse a chain at
// set-up.
func TestTags(t *testing.T) {
	gate := checks.Gate("g", func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil })
	check, setting := returns[request]("a", checks.Proceed(), nil), checks.WithSlot(parent)
	fits := func(opts ...checks.Option) link {
		return checks.OwnerFits("f", func(*Database, *Cluster) string { return "" }, opts...)
	}
	is := func(opts ...checks.Option) ownerLink {
		return checks.OwnerIs("i", func(*Cluster) string { return "" }, opts...)
	}
	refers := func(opts ...checks.Option) link {
		return checks.ReferenceIs("r", func(*Database) []checks.Ref { return nil }, func(*Database, *Cluster) string { return "" }, opts...)
	}
	onOwner := func(links ...ownerLink) link { return checks.OnOwner[*Database](links...) }
	tag := func(l link) any { return chain.New(l).Links()[0].Tag }
	cases := map[string]struct {
		reason string
		got    any
		want   any
	}{
		"Check":       {"a check has no side effects", tag(check), linktag.Check{}},
		"Gate":        {"a gate has side effects", tag(checks.Gate("g", proceeds)), linktag.Check{Acts: true}},
		"Raw":         {"a raw link has no tag", tag(forgetful), nil},
		"OwnerIs":     {"an owner check sets its slot", chain.New(is(setting)).Links()[0].Tag, linktag.Check{Sets: true}},
		"OwnerFits":   {"the check needs the owner", tag(fits()), linktag.Check{NeedsOwner: true}},
		"OwnerSets":   {"the check needs the owner and sets its slot", tag(fits(setting)), linktag.Check{NeedsOwner: true, Sets: true}},
		"ReferenceIs": {"a check of references sets its slot", tag(refers(setting)), linktag.Check{Sets: true}},
		"NoSlot":      {"no slot is set without WithSlot", tag(refers()), linktag.Check{}},
		"OnOwner":     {"owner checks read the owner only", tag(onOwner(is())), linktag.Check{NeedsOwner: true, OwnerOnly: true}},
		"OnOwnerSets": {"one of them sets its slot", tag(onOwner(is(setting), is())), linktag.Check{NeedsOwner: true, OwnerOnly: true, Sets: true}},
		"OnOwnerGate": {"one of them acts", tag(onOwner(gate, is())), linktag.Check{NeedsOwner: true, OwnerOnly: true, Acts: true}},
		"OnOwnerRaw":  {"a raw link may act", tag(onOwner(forgets, is())), linktag.Check{NeedsOwner: true, OwnerOnly: true, Acts: true}},
		"All":         {"All reads the owner only if each of its checks does", tag(checks.All(onOwner(is()), onOwner(is()))), linktag.Check{NeedsOwner: true, OwnerOnly: true}},
		"AllMixed":    {"one check of the resource reads the resource", tag(checks.All(onOwner(is(setting)), check)), linktag.Check{NeedsOwner: true, Sets: true}},
		"Cached":      {"Cached has the tag of its check", tag(checks.Cached(time.Hour, func(request) int { return 1 }, onOwner(is()))), linktag.Check{NeedsOwner: true, OwnerOnly: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if its, ok := tc.got.(linktag.Check); ok {
				its.Follows = nil // see TestFollowingChecks
				tc.got = its
			}
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

var forgetful = raw("forgetful", func(context.Context, request, handler) (checks.Result, error) { return checks.Proceed(), nil })
