package checkstest_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
)

// A failure shows each part of a request that is set, and no other.
func TestShow(t *testing.T) {
	mute := checks.Check("Mute", func(context.Context, request) (checks.Result, error) { return checks.Block("Mute", ""), nil })
	cases := map[string]struct {
		reason string
		set    func(request)
		want   []string
	}{
		"Whole": {"each part is set", func(r request) {
			r.Kind, r.APIVersion, r.Deleting, r.Applied = "Database", "2024-05-01", true, true
			r.Resolver, r.Lister = checkstest.ResolverOf(), checkstest.ListerOf()
			r.Vocabulary = &checks.Vocabulary{Approved: []string{"Yes"}}
			r.Errors = classify.NewErrors("cloud", func(*classify.Failure) bool { return false }, nil)
		}, []string{"Resource: ", "Presence: present", "Owner: none", "Resolver: set", "Lister: set", "Kind: Database", "APIVersion: 2024-05-01",
			"Deleting: true", "Applied: true", `Vocabulary: &{Settled:nil Succeeded:nil Approved:["Yes"]`, "Errors: cloud"}},
		"Nothing": {"only the resource is set", func(request) {}, []string{"Resource: ", "Presence: present", "Owner: none"}},
	}
	parts := []string{"Resource", "Presence", "Owner", "Resolver", "Lister", "Kind", "APIVersion", "Deleting", "Applied", "Vocabulary", "Errors"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := checkstest.Request(&Database{Version: 15})
			tc.set(req)
			fake := &fakeT{}
			fake.Run(func() { checkstest.Conforms(fake, mute, rapid.Just(req)) })
			output := strings.Join(strings.Fields(fake.Output()), " ")
			for _, want := range tc.want {
				if !strings.Contains(output, " "+want) {
					t.Errorf("%s: want %q, got:\n%s", tc.reason, want, output)
				}
			}
			for _, part := range parts {
				if wanted := strings.Contains(strings.Join(tc.want, " "), part+": "); !wanted && strings.Contains(output, " "+part+": ") {
					t.Errorf("%s: %s is shown:\n%s", tc.reason, part, output)
				}
			}
		})
	}
}
