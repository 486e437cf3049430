package checkstest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

// OwnerReady answers each object as its name says.
func TestObjects(t *testing.T) {
	ref := checks.Ref{Kind: "Cluster", Name: "prod"}
	owned := func(o checks.Object, parts ...checkstest.Part) *checks.OwnerRequest {
		return checkstest.OwnerRequest(append(parts, checkstest.OwnedBy(o))...)
	}
	checkstest.Run(t, checks.OwnerReady(checks.WithByIDBlocked()), checkstest.OwnerCases{
		"Ready":    {Reason: "the owner is ready", Request: owned(checkstest.Ready(ref, &Cluster{})), Want: checkstest.Proceeds()},
		"NotReady": {Reason: "the message has the reason", Request: owned(checkstest.NotReady(ref, &Cluster{}, "Creating")), Want: checkstest.Blocks(checks.ReasonOwnerNotReady).Saying("Creating")},
		"Stale":    {Reason: "the owner was ready for an older generation", Request: owned(checkstest.Stale(ref, &Cluster{})), Want: checkstest.Blocks(checks.ReasonOwnerStale)},
		"NotFound": {Reason: "the owner does not exist", Request: owned(checkstest.NotFound(ref)), Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.WithWaitingFor(ref))},
		"NotSet":   {Reason: "no reference names the owner", Request: owned(checkstest.NotFound(checks.Ref{Kind: "Cluster"})), Want: checkstest.Blocks(checks.ReasonOwnerNotSet).Saying("Cluster")},
		"ByID":     {Reason: "only the cloud ID is known", Request: owned(checkstest.NotFound(checks.Ref{ID: "/x"})), Want: checkstest.Blocks(checks.ReasonOwnerByID)},
		"Deleting": {Reason: "a missing owner does not block a deletion", Request: owned(checkstest.NotFound(ref), checkstest.Deleting()), Want: checkstest.Proceeds()},
	})
}

func TestResolving(t *testing.T) {
	a := checkstest.Ready(checks.Ref{Kind: "Network", Name: "a", ID: "/a"}, &Cluster{})
	resolve := checkstest.OwnerRequest(checkstest.Resolving(a, checkstest.NotFound(checks.Ref{Name: "b"}))).Resolver
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		want   checks.Object
	}{
		"Found":    {"the Ref is equal", a.Ref, a},
		"ByID":     {"the ID alone is equal", checks.Ref{ID: "/a"}, a},
		"ByName":   {"a Ref with fewer fields is another Ref", checks.Ref{Kind: "Network", Name: "a"}, checkstest.NotFound(checks.Ref{Kind: "Network", Name: "a"})},
		"NotFound": {"the object has no Value", checks.Ref{Name: "b"}, checkstest.NotFound(checks.Ref{Name: "b"})},
		"Zero":     {"the zero Ref is not found", checks.Ref{}, checks.Object{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := resolve(t.Context(), tc.ref)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := resolve(ctx, a.Ref); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
}

func TestListing(t *testing.T) {
	a := checkstest.Ready(checks.Ref{Kind: "Network", Namespace: "team", Name: "a"}, &Cluster{})
	b := checkstest.Ready(checks.Ref{Kind: "Network", Namespace: "other", Name: "b"}, &Cluster{})
	c := checkstest.Ready(checks.Ref{Group: "example.com", Kind: "Network", Namespace: "team", Name: "a"}, &Cluster{})
	list := checkstest.OwnerRequest(checkstest.Listing(a, b, c)).Lister
	cases := map[string]struct {
		reason string
		q      checks.Query
		want   []checks.Object
	}{
		"Kind":      {"every object of the kind, in the given order", checks.Query{Kind: "Network"}, []checks.Object{a, b}},
		"All":       {"the objects of all namespaces", checks.Query{Kind: "Network", Namespace: checks.AllNamespaces}, []checks.Object{a, b}},
		"Namespace": {"the objects of the namespace", checks.Query{Kind: "Network", Namespace: "team"}, []checks.Object{a}},
		"Group":     {"another group is another kind", checks.Query{Group: "example.com", Kind: "Network"}, []checks.Object{c}},
		"Selector":  {"conditions are not evaluated", checks.Query{Kind: "Network", Namespace: "other", Selector: "a=b", Field: "c", Value: "d"}, []checks.Object{b}},
		"None":      {"no object is of the kind", checks.Query{Kind: "Cluster"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := list(t.Context(), tc.q)
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list(ctx, checks.Query{Kind: "Network"}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
}

func TestRequests(t *testing.T) {
	d := &Database{Version: 16}
	if r := checkstest.Request(d); r.Resource != d || r.Presence != checks.Present || r.Deleting || r.Resolver != nil {
		t.Errorf("a request without parts: %+v", r)
	}
	if r := checkstest.Request(d, checkstest.NotInCloud(), checkstest.Deleting()); r.Presence != checks.Absent || !r.Deleting {
		t.Errorf("a request not in the cloud, about to be deleted: %+v", r)
	}
}
