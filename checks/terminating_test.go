package checks_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// A deletion often needs the objects that the resource refers to. One that is
// being deleted may be waiting for this deletion, so it does not block it.
func TestTerminatingReference(t *testing.T) {
	ready := checks.Readiness{State: checks.Ready}
	cases := map[string]struct {
		reason   string
		deleting bool
		object   checks.Object
		want     string // the reason of the block; empty: the check proceeds
	}{
		"Ready":      {"it exists, and only its deletion was requested", true, checks.Object{Value: 1, Readiness: ready, Deleting: true}, ""},
		"NotReady":   {"an object that is being deleted is seldom ready", true, checks.Object{Value: 1, Readiness: checks.Readiness{State: checks.NotReady}, Deleting: true}, ""},
		"Missing":    {"the deletion may need it, and it does not exist", true, checks.Object{}, checks.ReasonReferenceNotFound},
		"NoDeletion": {"a resource that stays must not use an object that goes", false, checks.Object{Value: 1, Readiness: ready, Deleting: true}, checks.ReasonReferenceNotReady},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref := checks.Ref{Kind: "Secret", Name: "s"}
			check := checks.Compose(chain.New(checks.ReferenceReady("credentials", func(*Database) []checks.Ref { return []checks.Ref{ref} })))
			req := &checks.Request[*Database]{}
			req.Deleting = tc.deleting
			req.Resolver = func(context.Context, checks.Ref) (checks.Object, error) {
				o := tc.object
				o.Ref = ref
				return o, nil
			}
			res, err := check(t.Context(), req)
			if err != nil || res.Reason() != tc.want || res.Proceeds() != (tc.want == "") {
				t.Errorf("%s: %v, %v, want %q", tc.reason, res, err, tc.want)
			}
		})
	}
}

// A reference without a name, and the namespace in which a reference was looked
// up, are in the block.
func TestReferenceBlocks(t *testing.T) {
	cases := map[string]struct {
		reason, want, says string
		ref                checks.Ref
		found              checks.Object // as the resolver returns it
	}{
		"NoName":    {"no object can be created that fits", checks.ReasonReferenceNotSet, "network Subnet: the reference has no name: set it", checks.Ref{Kind: "Subnet"}, checks.Object{Ref: checks.Ref{Kind: "Subnet"}}},
		"Namespace": {"an operator with many namespaces", checks.ReasonReferenceNotFound, "network Subnet apps/a was not found: waiting until it is created", checks.Ref{Kind: "Subnet", Name: "a"}, checks.Object{Ref: checks.Ref{Kind: "Subnet", Namespace: "apps", Name: "a"}}},
		"NotReady": {"the same for an object that exists", checks.ReasonReferenceNotReady, "network Subnet apps/a is not ready: Busy", checks.Ref{Kind: "Subnet", Name: "a"},
			checks.Object{Ref: checks.Ref{Kind: "Subnet", Namespace: "apps", Name: "a"}, Value: 1, Readiness: checks.Readiness{State: checks.NotReady, Reason: "Busy"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			refs := func(*Database) []checks.Ref { return []checks.Ref{tc.ref} }
			for kind, link := range map[string]checks.Middleware[*Database]{
				"ReferenceReady": checks.ReferenceReady("network", refs),
				"ReferenceIs":    checks.ReferenceIs("network", refs, func(*Database, string) string { return "" }),
			} {
				if kind == "ReferenceIs" && tc.found.Value != nil {
					continue // it ignores readiness
				}
				req := &checks.Request[*Database]{}
				req.Resolver = func(context.Context, checks.Ref) (checks.Object, error) { return tc.found, nil }
				res, err := checks.Compose(chain.New(link))(t.Context(), req)
				if err != nil || res.Reason() != tc.want || res.Message() != tc.says {
					t.Errorf("%s: %s: %s: %q, %v; want %s: %q", tc.reason, kind, res.Reason(), res.Message(), err, tc.want, tc.says)
				}
			}
		})
	}
}
