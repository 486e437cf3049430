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
	check := returns[request]("a", checks.Proceed(), nil)
	fits := func(opts ...checks.Option) link {
		return checks.OwnerFits("f", func(*Database, *Cluster) string { return "" }, opts...)
	}
	objects := func(opts ...checks.Option) link {
		return checks.ResourceIs("r", func(*Database) string { return "" }, opts...)
	}
	is := func(opts ...checks.Option) ownerLink {
		return checks.OwnerIs("i", func(*Cluster) string { return "" }, opts...)
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
		"OwnerIs":     {"an owner check has no side effects", chain.New(is()).Links()[0].Tag, linktag.Check{}},
		"OwnerFits":   {"the check needs the owner", tag(fits()), linktag.Check{NeedsOwner: true}},
		"OnOwner":     {"owner checks read the owner only", tag(onOwner(is())), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"OnOwnerGate": {"one of them acts", tag(onOwner(gate, is())), linktag.Check{NeedsOwner: true, BeforeGet: true, Acts: true}},
		"OnOwnerRaw":  {"a raw link may act", tag(onOwner(forgets, is())), linktag.Check{NeedsOwner: true, BeforeGet: true, Acts: true}},
		"All":         {"All reads the owner only if each of its checks does", tag(checks.All(onOwner(is()), onOwner(is()))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"AllMixed":    {"one check of the resource reads the resource", tag(checks.All(onOwner(is()), check)), linktag.Check{NeedsOwner: true}},
		"Paused":      {"a pause needs no Get", tag(checks.Paused(func(*Database) bool { return true })), linktag.Check{BeforeGet: true}},
		"Reference":   {"a reference needs no Get", tag(checks.ReferenceReady("r", func(*Database) []checks.Ref { return nil })), linktag.Check{BeforeGet: true}},
		"Set":         {"nor does a set", tag(checks.SetIs("s", claimsOf, func(*Database, *Cluster) string { return "" })), linktag.Check{BeforeGet: true}},
		"ResourceIs":  {"an objection may be about what Get reads", tag(objects()), linktag.Check{}},
		"Finished":    {"so may the end of the work", tag(objects(checks.WithVerdict(checks.Finished("Done", "")))), linktag.Check{}},
		"Release":     {"a release decides before Get", tag(objects(checks.WithVerdict(checks.Release("")))), linktag.Check{BeforeGet: true}},
		"FitsRelease": {"a release by the owner, too", tag(fits(checks.WithVerdict(checks.Release("")))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
		"Cached":      {"Cached has the tag of its check", tag(checks.Cached(time.Hour, func(request) int { return 1 }, onOwner(is()))), linktag.Check{NeedsOwner: true, BeforeGet: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if its, ok := tc.got.(linktag.Check); ok {
				its.Follows, its.Lists = nil, nil // see TestFollowingChecks
				tc.got = its
			}
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

var forgetful = raw("forgetful", func(context.Context, request, handler) (checks.Result, error) { return checks.Proceed(), nil })
