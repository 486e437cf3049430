package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

var arm = checks.Ref{ID: "/subscriptions/1/clusters/prod"}

func TestOwnerReady(t *testing.T) {
	found := func(r checks.Readiness) checks.Object {
		return checks.Object{Ref: prod, Value: &Cluster{}, Readiness: r}
	}
	gone := found(checks.Readiness{State: checks.Ready})
	gone.Deleting = true

	cases := map[string]struct {
		reason   string
		owner    checks.Object
		deleting bool
		opts     []checks.Option
		want     answer
	}{
		"Root":              {reason: "a root resource has no owner", want: proceeding()},
		"Ready":             {reason: "a ready owner proceeds", owner: found(checks.Readiness{State: checks.Ready}), want: proceeding()},
		"Ahead":             {reason: "readiness for a newer generation than the cached one proceeds", owner: found(checks.Readiness{State: checks.Ready, Generation: 4, Observed: 5}), want: proceeding()},
		"Stale":             {reason: "readiness for an older generation is stale", owner: found(checks.Readiness{State: checks.Ready, Generation: 4, Observed: 3}), want: blocks("OwnerReadinessStale", classify.Fast, "owner Cluster prod was ready for generation 3 of its spec; it must be ready for generation 4", prod)},
		"Unnamed":           {reason: "a block does not wait for an object without a name", owner: checks.Object{Value: &Cluster{}}, want: blocks("OwnerReadinessUnknown", classify.Fast, "owner nothing has not reported yet whether it is ready")},
		"ByIDUnready":       {reason: "WithByIDBlocked does not matter to an owner that was found", owner: found(checks.Readiness{State: checks.NotReady}), opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready", prod)},
		"NeverSeen":         {reason: "readiness without an observed generation is stale", owner: found(checks.Readiness{State: checks.Ready, Generation: 1234567890123}), want: blocks("OwnerReadinessStale", classify.Fast, "owner Cluster prod was ready for generation 0 of its spec; it must be ready for generation 1234567890123", prod)},
		"Unknown":           {reason: "an unreported readiness does not count as ready", owner: found(checks.Readiness{}), want: blocks("OwnerReadinessUnknown", classify.Fast, "owner Cluster prod has not reported yet whether it is ready", prod)},
		"InvalidState":      {reason: "an invalid State is unknown", owner: found(checks.Readiness{State: 9}), want: blocks("OwnerReadinessUnknown", classify.Fast, "owner Cluster prod has not reported yet whether it is ready", prod)},
		"NotReadyWhy":       {reason: "the message repeats the owner's reason and message", owner: found(checks.Readiness{State: checks.NotReady, Reason: "Quota", Message: "ask for more"}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready: Quota: ask for more", prod)},
		"MessageOnly":       {reason: "one colon precedes a message without a reason", owner: found(checks.Readiness{State: checks.NotReady, Message: "ask for more"}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready: ask for more", prod)},
		"Deleting":          {reason: "a ready owner that is being deleted blocks", owner: gone, want: blocks("OwnerDeleting", classify.Fast, "owner Cluster prod is being deleted", prod)},
		"NotFound":          {reason: "a missing owner is awaited", owner: checks.Object{Ref: prod}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"TypedNil":          {reason: "a nil pointer in an interface is missing", owner: checks.Object{Ref: prod, Value: (*Cluster)(nil), Readiness: checks.Readiness{State: checks.Ready}}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"RootNil":           {reason: "a nil pointer without a name is no owner", owner: checks.Object{Value: (*Cluster)(nil)}, want: proceeding()},
		"ByID":              {reason: "the readiness of an owner known by its ID only cannot be determined", owner: checks.Object{Ref: arm}, want: proceeding("owner " + arm.ID + " is known by its ID only")},
		"ByIDFound":         {reason: "an owner with only an ID that was found is checked", owner: checks.Object{Ref: arm, Value: &Cluster{}}, want: blocks("OwnerReadinessUnknown", classify.Fast, "owner "+arm.ID+" has not reported yet whether it is ready", arm)},
		"Required":          {reason: "WithRequiredOwner blocks a root resource", opts: []checks.Option{checks.WithRequiredOwner()}, want: blocks("OwnerNotSet", classify.VerySlow, "the owner reference is not set yet")},
		"Unset":             {reason: "an owner that no reference names yet blocks", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}, Readiness: checks.Readiness{State: checks.Ready}}, want: blocks("OwnerNotSet", classify.VerySlow, "the owner reference is not set yet: it must name an object of kind MachinePool")},
		"ByIDBlocked":       {reason: "WithByIDBlocked blocks an owner known by its ID only", owner: checks.Object{Ref: arm}, opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, so it cannot be looked up: refer to it by name", arm)},
		"ReasonReplace":     {reason: "WithReason replaces the reason and keeps the message", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithReason("WaitingForCluster")}, want: blocks("WaitingForCluster", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"BlockOptions":      {reason: "block options apply to each block", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithRetry(classify.VerySlow), checks.WithWaitingFor(lan)}, want: blocks("OwnerNotFound", classify.VerySlow, "owner Cluster prod was not found: waiting until it is created", prod, lan)},
		"DeleteRoot":        {reason: "a root resource can be deleted without a note", deleting: true, want: proceeding()},
		"DeleteOwnerGone":   {reason: "a missing owner does not block a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: proceeding("the owner is missing or being deleted, so it does not block this deletion")},
		"DeleteOwnerGoing":  {reason: "an owner that is being deleted does not block a deletion", owner: gone, deleting: true, want: proceeding("the owner is missing or being deleted, so it does not block this deletion")},
		"DeleteUnnamed":     {reason: "an owner without a Ref that is being deleted does not block a deletion", owner: checks.Object{Value: &Cluster{}, Deleting: true}, deleting: true, want: proceeding("the owner is missing or being deleted, so it does not block this deletion")},
		"DeleteOwnerFailed": {reason: "an existing owner that is not ready blocks a deletion", owner: found(checks.Readiness{State: checks.NotReady}), deleting: true, want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready", prod)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.OwnerReady(tc.opts...), &checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting})
		})
	}
}

// TestOwnerReady has the owners that do not exist.
func TestOwnerFound(t *testing.T) {
	for name, owner := range map[string]checks.Object{
		"NotReady": {Ref: prod, Value: &Cluster{}, Readiness: checks.Readiness{State: checks.NotReady}},
		"Deleting": {Ref: prod, Value: &Cluster{}, Deleting: true},
	} {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, "an owner that is not ready, or is being deleted, exists", proceeding(), checks.OwnerFound(), &checks.OwnerRequest{Owner: owner})
		})
	}
}
