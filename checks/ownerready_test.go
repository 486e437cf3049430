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
		"Root":        {reason: "a root resource has no owner to wait for", want: passes()},
		"Ready":       {reason: "a ready owner lets the work go on", owner: found(checks.Readiness{State: checks.Ready}), want: passes()},
		"Observed":    {reason: "one that is ready for its own generation", owner: found(checks.Readiness{State: checks.Ready, Generation: 4, Observed: 4}), want: passes()},
		"Ahead":       {reason: "or for one that is newer than what was read", owner: found(checks.Readiness{State: checks.Ready, Generation: 4, Observed: 5}), want: passes()},
		"Struct":      {reason: "an owner need not be a pointer", owner: checks.Object{Ref: prod, Value: Cluster{}, Readiness: checks.Readiness{State: checks.Ready}}, want: passes()},
		"Stale":       {reason: "readiness of an older generation is none", owner: found(checks.Readiness{State: checks.Ready, Generation: 4, Observed: 3}), want: blocks("OwnerReadinessStale", classify.Fast, "owner Cluster prod was ready for generation 3 of its spec, which is at 4 now", prod)},
		"StaleLater":  {reason: "generations are decimal numbers", owner: found(checks.Readiness{State: checks.Ready, Generation: 14, Observed: 13}), want: blocks("OwnerReadinessStale", classify.Fast, "owner Cluster prod was ready for generation 13 of its spec, which is at 14 now", prod)},
		"Unnamed":     {reason: "a block does not wait for an object without a name", owner: checks.Object{Value: &Cluster{}}, want: blocks("OwnerReadinessUnknown", classify.Fast, "owner nothing has not reported yet whether it is ready")},
		"ByIDUnready": {reason: "WithByIDBlocked does not matter to an owner that was found", owner: found(checks.Readiness{State: checks.NotReady}), opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready", prod)},
		"NeverSeen":   {reason: "nor is one that no generation was reported for", owner: found(checks.Readiness{State: checks.Ready, Generation: 1234567890123}), want: blocks("OwnerReadinessStale", classify.Fast, "owner Cluster prod was ready for generation 0 of its spec, which is at 1234567890123 now", prod)},
		"Unknown":     {reason: "an unreported readiness does not count as ready", owner: found(checks.Readiness{}), want: blocks("OwnerReadinessUnknown", classify.Fast, "owner Cluster prod has not reported yet whether it is ready", prod)},
		"UnknownWhy":  {reason: "what it said instead is repeated", owner: found(checks.Readiness{Reason: "Reconciling", Message: "creating"}), want: blocks("OwnerReadinessUnknown", classify.Fast, "owner Cluster prod has not reported yet whether it is ready: Reconciling: creating", prod)},
		"Invented":    {reason: "a State that is none is not ready", owner: found(checks.Readiness{State: 9}), want: blocks("OwnerReadinessUnknown", classify.Fast, "owner Cluster prod has not reported yet whether it is ready", prod)},
		"NotReady":    {reason: "an owner that is there and not ready is not said to be missing", owner: found(checks.Readiness{State: checks.NotReady}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready", prod)},
		"NotReadyWhy": {reason: "its own words help the person who asks", owner: found(checks.Readiness{State: checks.NotReady, Reason: "Quota", Message: "ask for more"}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready: Quota: ask for more", prod)},
		"ReasonOnly":  {reason: "a reason alone has no colon behind it", owner: found(checks.Readiness{State: checks.NotReady, Reason: "Quota"}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready: Quota", prod)},
		"MessageOnly": {reason: "nor a message two in front of it", owner: found(checks.Readiness{State: checks.NotReady, Message: "ask for more"}), want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready: ask for more", prod)},
		"Deleting":    {reason: "an owner that goes away is no owner to build on, ready or not", owner: gone, want: blocks("OwnerDeleting", classify.Fast, "owner Cluster prod is being deleted", prod)},
		"NotFound":    {reason: "an owner that is not there is waited for", owner: checks.Object{Ref: prod}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"TypedNil":    {reason: "a nil pointer in an interface is not there, and does not panic", owner: checks.Object{Ref: prod, Value: (*Cluster)(nil), Readiness: checks.Readiness{State: checks.Ready}}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"ReadyNil":    {reason: "readiness of an owner that is not there proves nothing", owner: checks.Object{Ref: prod, Readiness: checks.Readiness{State: checks.Ready}}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"RootNil":     {reason: "a nil pointer without a name is no owner", owner: checks.Object{Value: (*Cluster)(nil)}, want: passes()},
		"ByID":        {reason: "of an owner known by its ID only nobody could ever say more", owner: checks.Object{Ref: arm}, want: passes("owner " + arm.ID + " is known by its ID only")},
		"ByIDFound":   {reason: "one that was found all the same is asked", owner: checks.Object{Ref: arm, Value: &Cluster{}}, want: blocks("OwnerReadinessUnknown", classify.Fast, "owner "+arm.ID+" has not reported yet whether it is ready", arm)},
		"KindAndID":   {reason: "with a name it is an object that can be looked for", owner: checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "prod", ID: arm.ID}}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", checks.Ref{Kind: "Cluster", Name: "prod", ID: arm.ID})},

		"Required":         {reason: "an owner can be demanded", opts: []checks.Option{checks.WithRequiredOwner()}, want: blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")},
		"RequiredNil":      {reason: "a nil pointer without a name is none", owner: checks.Object{Value: (*Cluster)(nil)}, opts: []checks.Option{checks.WithRequiredOwner()}, want: blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")},
		"RequiredReason":   {reason: "the reason of an owner that no reference names is kept", opts: []checks.Option{checks.WithRequiredOwner(), checks.WithReason("Waiting")}, want: blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")},
		"Unset":            {reason: "an owner that no reference names yet is no root resource", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}, Readiness: checks.Readiness{State: checks.Ready}}, want: blocks("OwnerNotSet", classify.OnChange, "the owner reference is not set yet: it must name a MachinePool")},
		"UnsetFound":       {reason: "one that was found is judged, whatever its Ref is", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}, Value: &Cluster{}}, want: blocks("OwnerReadinessUnknown", classify.Fast, "owner MachinePool has not reported yet whether it is ready", checks.Ref{Kind: "MachinePool"})},
		"RequiredReady":    {reason: "one that is there is asked as usual", owner: found(checks.Readiness{State: checks.Ready}), opts: []checks.Option{checks.WithRequiredOwner()}, want: passes()},
		"RequiredDeleting": {reason: "a deletion needs no owner", deleting: true, opts: []checks.Option{checks.WithRequiredOwner()}, want: passes()},

		"ByIDBlocks":    {reason: "who wants to be sure can be", owner: checks.Object{Ref: arm}, opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, so it cannot be looked up", arm)},
		"ReasonReplace": {reason: "the reason can be replaced, the message stays", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithReason("WaitingForCluster")}, want: blocks("WaitingForCluster", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"BlockOptions":  {reason: "so can what else a block says", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithRetry(classify.VerySlow), checks.WithWaitingFor(lan)}, want: blocks("OwnerNotFound", classify.VerySlow, "owner Cluster prod was not found: waiting until it is created", prod, lan)},

		"DeleteRoot":        {reason: "a root resource can be deleted, and there is nothing to tell", deleting: true, want: passes()},
		"DeleteUnset":       {reason: "a deletion does not wait for a reference", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}}, deleting: true, want: passes()},
		"DeleteOwnerGone":   {reason: "an owner that is gone does not hold up a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: passes("the owner is gone or going, which does not hold up a deletion")},
		"DeleteOwnerNil":    {reason: "in whatever way it is gone", owner: checks.Object{Ref: prod, Value: (*Cluster)(nil)}, deleting: true, want: passes("the owner is gone or going, which does not hold up a deletion")},
		"DeleteOwnerGoing":  {reason: "nor does one that is going", owner: gone, deleting: true, want: passes("the owner is gone or going, which does not hold up a deletion")},
		"DeleteUnnamed":     {reason: "or that has no Ref", owner: checks.Object{Value: &Cluster{}, Deleting: true}, deleting: true, want: passes("the owner is gone or going, which does not hold up a deletion")},
		"DeleteOwnerFailed": {reason: "one that is there and not ready does", owner: found(checks.Readiness{State: checks.NotReady}), deleting: true, want: blocks("OwnerNotReady", classify.Fast, "owner Cluster prod is not ready", prod)},
		"DeleteOwnerReady":  {reason: "one that is ready does not", owner: found(checks.Readiness{State: checks.Ready}), deleting: true, want: passes()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.OwnerReady(tc.opts...), &checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting})
		})
	}
}

func TestOwnerFound(t *testing.T) {
	found := func(r checks.Readiness, deleting bool) checks.Object {
		return checks.Object{Ref: prod, Value: &Cluster{}, Readiness: r, Deleting: deleting}
	}
	cases := map[string]struct {
		reason   string
		owner    checks.Object
		deleting bool
		opts     []checks.Option
		want     answer
	}{
		"Silent":      {reason: "an owner that reports nothing exists", owner: found(checks.Readiness{}, false), want: passes()},
		"NotReady":    {reason: "so does one that is not ready", owner: found(checks.Readiness{State: checks.NotReady}, false), want: passes()},
		"Stale":       {reason: "or was ready for an older generation", owner: found(checks.Readiness{State: checks.Ready, Generation: 1}, false), want: passes()},
		"Deleting":    {reason: "or is being deleted", owner: found(checks.Readiness{}, true), want: passes()},
		"NotFound":    {reason: "a missing owner blocks", owner: checks.Object{Ref: prod}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"TypedNil":    {reason: "a nil pointer is missing", owner: checks.Object{Ref: prod, Value: (*Cluster)(nil)}, want: blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"Reason":      {reason: "the reason can be replaced", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithReason("NoCluster")}, want: blocks("NoCluster", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)},
		"Unset":       {reason: "an owner that no reference names yet is no root resource", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}}, want: blocks("OwnerNotSet", classify.OnChange, "the owner reference is not set yet: it must name a MachinePool")},
		"Root":        {reason: "a root resource has no owner", want: passes()},
		"Required":    {reason: "unless it needs one", opts: []checks.Option{checks.WithRequiredOwner()}, want: blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")},
		"ByID":        {reason: "an owner known by its ID only proceeds", owner: checks.Object{Ref: arm}, want: passes("owner " + arm.ID + " is known by its ID only")},
		"ByIDBlocked": {reason: "unless an option blocks it", owner: checks.Object{Ref: arm}, opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, so it cannot be looked up", arm)},
		"DeleteGone":  {reason: "a missing owner does not delay a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: passes("the owner is gone or going, which does not hold up a deletion")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.OwnerFound(tc.opts...), &checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting})
		})
	}
}

func TestOwnerReadySetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"NilOption": {"a nil option is named by its place", func() { checks.OwnerReady(checks.WithByIDBlocked(), nil) }, "checks: OwnerReady: option 2 is nil"},
		"Allow":     {"readiness is no state to choose", func() { checks.OwnerReady(checks.WithAllowed("Ready")) }, "checks: OwnerReady: the option WithAllowed is not for this check"},
		"Unknown":   {"an unknown readiness never passes", func() { checks.OwnerReady(checks.WithUnknownAllowed()) }, "checks: OwnerReady: the option WithUnknownAllowed is not for this check"},
		"WrongKind": {"any kind of owner will do", func() { checks.OwnerReady(checks.WithWrongKindAllowed()) }, "checks: OwnerReady: the option WithWrongKindAllowed is not for this check"},
	})
}
