package chain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/windlass-go/windlass/chain"
)

func TestString(t *testing.T) {
	quota, audit := chain.Named("quota", declared), chain.Named("audit", declared)
	cases := map[string]struct {
		reason string
		chain  links
		want   string
	}{
		"Empty":    {"an empty chain prints as such", links{}, "(empty)"},
		"Named":    {"names alone where they were given, outermost first", chain.New(quota, audit), "quota -> audit"},
		"Derived":  {"a derived name with its place", chain.New(quota, declared), "quota -> chain.declared (" + linesOf(t, "link_test.go")["declared"] + ")"},
		"Extended": {"a chain of chains prints as one", chain.New(quota).Extend(chain.New(audit), chain.New(quota)), "quota -> audit -> quota"},
		"Observed": {"observers are no links", chain.New(quota).Observe(&watcher{}), "quota"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.chain.String(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestAt(t *testing.T) {
	quota, audit := chain.Named("quota", declared), chain.Named("audit", declared)
	base := chain.New(quota, audit)
	cases := map[string]struct {
		reason string
		chain  links
		want   []chain.Link
	}{
		"Before":   {"a chain that stands alone has no point, even if others were made of it", base, []chain.Link{{Name: "quota"}, {Name: "audit"}}},
		"At":       {"every link says its point", base.At("Apply"), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit", Point: "Apply"}}},
		"Twice":    {"the last one holds", base.At("Apply").At("Get"), []chain.Link{{Name: "quota", Point: "Get"}, {Name: "audit", Point: "Get"}}},
		"Appended": {"links added later have none", chain.New(quota).At("Apply").Append(audit), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.chain.Links(), cmpopts.IgnoreFields(chain.Link{}, "Source")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A listed link is a copy: whoever changes it does not change the chain.
func TestLinksAreCopies(t *testing.T) {
	c := chain.New(chain.Named("quota", declared))
	c.Links()[0].Name = "intruder"
	if got := c.String(); got != "quota" {
		t.Errorf("changing a listed link renamed the chain's to %q", got)
	}
}
