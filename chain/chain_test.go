package chain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/windlass-go/windlass/chain"
)

func TestAt(t *testing.T) {
	quota, audit := chain.Named("quota", declared), chain.Named("audit", declared)
	base := chain.New(quota, audit)
	cases := map[string]struct {
		reason string
		chain  links
		want   []chain.Link
	}{
		"Before":   {"At does not change the chain that it derives from", base, []chain.Link{{Name: "quota"}, {Name: "audit"}}},
		"At":       {"every link has the point", base.At("Apply"), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit", Point: "Apply"}}},
		"Twice":    {"the last call of At wins", base.At("Apply").At("Get"), []chain.Link{{Name: "quota", Point: "Get"}, {Name: "audit", Point: "Get"}}},
		"Appended": {"links added later have no point", chain.New(quota).At("Apply").Append(audit), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.chain.Links(), cmpopts.IgnoreFields(chain.Link{}, "Source")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
