package checkstest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

// What OwnerReady says of an object is what its name says.
func TestObjects(t *testing.T) {
	ref := checks.Ref{Kind: "Cluster", Name: "prod"}
	owned := func(o checks.Object, parts ...checkstest.Part) *checks.OwnerRequest {
		return checkstest.OwnerRequest(append(parts, checkstest.OwnedBy(o))...)
	}
	checkstest.Run(t, checks.OwnerReady(checks.WithByIDBlocked()), checkstest.OwnerCases{
		"None":     {Reason: "a root resource", Request: checkstest.OwnerRequest(), Want: checkstest.Proceeds()},
		"Ready":    {Reason: "it is", Request: owned(checkstest.Ready(ref, &Cluster{})), Want: checkstest.Proceeds()},
		"NotReady": {Reason: "and says why", Request: owned(checkstest.NotReady(ref, &Cluster{}, "Creating")), Want: checkstest.Blocks(checks.ReasonOwnerNotReady).Saying("Creating")},
		"Stale":    {Reason: "it was", Request: owned(checkstest.Stale(ref, &Cluster{})), Want: checkstest.Blocks(checks.ReasonOwnerStale)},
		"Unknown":  {Reason: "nobody said", Request: owned(checkstest.Unknown(ref, &Cluster{})), Want: checkstest.Blocks(checks.ReasonOwnerUnknown)},
		"NotFound": {Reason: "it is not there", Request: owned(checkstest.NotFound(ref)), Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.WithWaitingFor(ref))},
		"NotSet":   {Reason: "no reference names it", Request: owned(checkstest.NotSet("Cluster")), Want: checkstest.Blocks(checks.ReasonOwnerNotSet).Saying("Cluster")},
		"ByID":     {Reason: "only the cloud knows", Request: owned(checkstest.ByID("/x")), Want: checkstest.Blocks(checks.ReasonOwnerByID)},
		"Deleting": {Reason: "nobody holds up a deletion", Request: owned(checkstest.NotFound(ref), checkstest.Deleting()), Want: checkstest.Proceeds()},
	})
}

func TestResolverOf(t *testing.T) {
	a := checkstest.Ready(checks.Ref{Kind: "Network", Name: "a", ID: "/a"}, &Cluster{})
	resolve := checkstest.ResolverOf(a, checkstest.NotFound(checks.Ref{Name: "b"}))
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		want   checks.Object
	}{
		"Found":    {"by its ref", a.Ref, a},
		"ByID":     {"or by its ID alone", checks.Ref{ID: "/a"}, a},
		"ByName":   {"a ref that says less is another one", checks.Ref{Kind: "Network", Name: "a"}, checkstest.NotFound(checks.Ref{Kind: "Network", Name: "a"})},
		"NotFound": {"what is known not to be there", checks.Ref{Name: "b"}, checkstest.NotFound(checks.Ref{Name: "b"})},
		"Zero":     {"nothing is not found", checks.Ref{}, checks.Object{}},
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

func TestRequests(t *testing.T) {
	d := &Database{Version: 16}
	if r := checkstest.Request(d); r.Resource != d || r.Presence != checks.Present || r.Deleting || r.Resolver != nil {
		t.Errorf("a request without parts: %+v", r)
	}
	if r := checkstest.Request(d, checkstest.NotInCloud(), checkstest.Deleting()); r.Presence != checks.Absent || !r.Deleting {
		t.Errorf("a request not in the cloud, about to be deleted: %+v", r)
	}
}
