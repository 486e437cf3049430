package checks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// readers returns the checks that read the owner. Each proceeds for a *Deep
// with a state.
func readers(opts ...checks.Option) []checks.Middleware[*Database] {
	return []checks.Middleware[*Database]{
		checks.OnOwner[*Database](checks.OwnerProvisioningState(deepState, opts...)),
		checks.OnOwner[*Database](checks.OwnerIs("fits", func(d *Deep) string { _ = *deepState(d); return "" }, opts...)),
		checks.OwnerFits("suits", func(_ *Database, d *Deep) string { _ = *deepState(d); return "" }, opts...),
	}
}

// readerNames holds the names of readers in messages.
var readerNames = []string{"OwnerProvisioningState", "fits", "suits"}

// TestUnusableOwner tests owners that are missing or of another type.
func TestUnusableOwner(t *testing.T) {
	value := deep(new(State("Succeeded")))
	notFound := func(string) answer {
		return blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)
	}
	pass := func(notes ...string) func(string) answer { return func(string) answer { return proceeding(notes...) } }
	cases := map[string]struct {
		reason   string
		owner    checks.Object
		deleting bool
		opts     []checks.Option
		want     func(check string) answer
	}{
		"Found":    {reason: "the check reads an owner of the right type", owner: checks.Object{Ref: prod, Value: value}, want: pass()},
		"NotFound": {reason: "a missing owner is awaited", owner: checks.Object{Ref: prod}, want: notFound},
		"TypedNil": {reason: "a nil pointer of the right type is missing", owner: checks.Object{Ref: prod, Value: (*Deep)(nil)}, want: notFound},
		"Root": {
			reason: "the check needs an owner",
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.VerySlow, "the owner reference is not set yet")
			},
		},
		"Unset": {
			reason: "an owner that no reference names yet blocks", owner: checks.Object{Ref: checks.Ref{Group: "cluster.x-k8s.io", Kind: "MachinePool"}},
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.VerySlow, "the owner reference is not set yet: it must name an object of kind MachinePool.cluster.x-k8s.io")
			},
		},
		"ByID": {
			reason: "an owner known by its ID only is not missing", owner: checks.Object{Ref: arm},
			want: func(check string) answer {
				return blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, so "+check+" cannot read it: refer to it by name", arm)
			},
		},
		"ByIDAllowed": {
			reason: "WithUnknownAllowed proceeds for an owner known by its ID only", owner: checks.Object{Ref: arm},
			opts: []checks.Option{checks.WithUnknownAllowed()}, want: pass("owner " + arm.ID + " is known by its ID only"),
		},
		"WrongKind": {
			reason:   "the message names both types, also before a deletion, and the block keeps its reason",
			deleting: true, owner: checks.Object{Ref: prod, Value: &Cluster{}}, opts: []checks.Option{checks.WithReason("Waiting")},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},
		"KeptNotFound": {
			reason: "no option allows a missing owner, and the block keeps its reason", owner: checks.Object{Ref: prod},
			opts: []checks.Option{checks.WithUnknownAllowed(), checks.WithReason("Waiting")}, want: notFound,
		},
		"Unread": {
			reason: "an owner that cannot be read is an error",
			owner:  checks.Object{Ref: prod, Value: 1, Whole: func(context.Context) (any, error) { return nil, errDown }},
			want: func(check string) answer {
				return fails(strings.TrimPrefix(check+": ", "suits: ") + "owner Cluster prod: the index is down") // OnOwner names its check
			},
		},
		"DeleteGone": {reason: "a missing owner does not block a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: pass("the owner is missing or being deleted, so it does not block this deletion")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for i, link := range readers(tc.opts...) {
				req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting}}
				mustAnswer(t, nameOf(link)+": "+tc.reason, tc.want(readerNames[i]), link, req)
			}
		})
	}
}

func TestObjections(t *testing.T) {
	const unknown = "owner Cluster prod has not reported yet the field that fits reads"
	inSelector := nilHere("resource_test.go")
	cases := map[string]struct {
		reason string
		owner  *Deep
		opts   []checks.Option
		want   answer
	}{
		"One":             {"the message is the name of the owner and the objection", deep(new(State("too old"))), nil, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"NilProperties":   {"nil properties are not reported", &Deep{Status: &DeepStatus{}}, nil, noting(blocks("OwnerStateUnknown", classify.Slow, unknown, prod), inSelector)},
		"UnknownAllowed":  {"WithUnknownAllowed proceeds, and the trace shows it", &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(inSelector, "owner Cluster prod has not reported the field that the check reads")},
		"KnownObjection":  {"WithUnknownAllowed does not allow an objection", deep(new(State("too old"))), []checks.Option{checks.WithUnknownAllowed()}, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"ReplacedUnknown": {"WithReason replaces the reason of an unreported field", &Deep{}, []checks.Option{checks.WithReason("VersionAhead")}, noting(blocks("VersionAhead", classify.Slow, unknown, prod), inSelector)},
		"Replaced":        {"options replace the reason and the retry", deep(new(State("too old"))), []checks.Option{checks.WithReason("VersionAhead"), checks.WithRetry(classify.OnChange)}, blocks("VersionAhead", classify.OnChange, "owner Cluster prod: too old", prod)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: tc.owner}}, Resource: &Database{Version: 7}}
			mustAnswer(t, "OwnerIs: "+tc.reason, tc.want, checks.OwnerIs("fits", func(d *Deep) string { return string(*deepState(d)) }, tc.opts...), &req.OwnerRequest)
			mustAnswer(t, "OwnerFits: "+tc.reason, tc.want, checks.OwnerFits("fits", func(db *Database, d *Deep) string {
				if db.Version != 7 {
					t.Errorf("the objection received another resource: %v", db)
				}
				return string(*deepState(d))
			}, tc.opts...), req)
		})
	}
}

// The type of the owner may be an interface.
func TestOwnerByInterface(t *testing.T) {
	check := checks.OwnerIs("named", func(s fmt.Stringer) string { return s.String() })
	mustAnswer(t, "an owner that does not implement it has another type", blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and named is for a fmt.Stringer: name an owner of that kind", prod),
		check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Cluster{}}})
}

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
		"Options":           {reason: "options change the block and keep the message", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithReason("WaitingForCluster"), checks.WithRetry(classify.VerySlow), checks.WithWaitingFor(lan)}, want: blocks("WaitingForCluster", classify.VerySlow, "owner Cluster prod was not found: waiting until it is created", prod, lan)},
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

// An owner that does not exist is as for TestOwnerReady.
func TestOwnerFound(t *testing.T) {
	for reason, owner := range map[string]checks.Object{
		"an owner that is not ready exists":           {Ref: prod, Value: &Cluster{}, Readiness: checks.Readiness{State: checks.NotReady}},
		"an owner that is being deleted still exists": {Ref: prod, Value: &Cluster{}, Deleting: true},
	} {
		mustAnswer(t, reason, proceeding(), checks.OwnerFound(), &checks.OwnerRequest{Owner: owner})
	}
}

// live is a LiveState that reads the state of d, or none at a nil pointer.
func live(d *Deep, opts ...checks.Option) checks.Middleware[*Deep] {
	return checks.LiveState(func(context.Context, *checks.Request[*Deep]) (State, error) {
		if d == nil || d.Status == nil || d.Status.Properties == nil || d.Status.Properties.State == nil {
			return "", nil
		}
		return *deepState(d), nil
	}, opts...)
}

const (
	settledWanted = ": it must be Succeeded, Failed or Canceled"
	notReported   = "the resource is in the cloud and has not reported a state yet" + settledWanted
	bothUnknown   = "no state is reported, and it is unknown whether the resource is in the cloud: give the reconciler a Get, or the check the option WithUnknownAllowed"
	missingAfter  = "the resource was not found in the cloud after Apply had succeeded: it must be Succeeded"
)

func TestOwnerProvisioningState(t *testing.T) {
	nilled := nilHere("resource_test.go")
	cases := map[string]struct {
		reason string
		owner  *Deep
		opts   []checks.Option
		want   answer
	}{
		"Creating":       {"any other state blocks", deep(new(State("Creating"))), nil, blocks("OwnerState", classify.Slow, `owner Cluster prod is in state "Creating"`+settledWanted, prod)},
		"NotAllowed":     {"Succeeded is not among the allowed states", deep(new(State("Succeeded"))), []checks.Option{checks.WithAllowed("Ready", "Stopped")}, blocks("OwnerState", classify.Slow, `owner Cluster prod is in state "Succeeded": it must be Ready or Stopped`, prod)},
		"NilStatus":      {"a nil status is an unreported state", &Deep{}, nil, noting(blocks("OwnerStateUnknown", classify.Slow, "owner Cluster prod has not reported a state yet"+settledWanted, prod), nilled)},
		"UnknownAllowed": {"WithUnknownAllowed proceeds, and the trace shows it", &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(nilled, "the owner has not reported a state")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.OwnerProvisioningState(deepState, tc.opts...), &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: tc.owner}})
		})
	}
}

func TestProvisioningState(t *testing.T) {
	state := func(s State) *Deep { return deep(&s) }
	busy := func(s string) answer {
		return blocks("ResourceState", classify.Slow, `the resource is in state "`+s+`"`+settledWanted)
	}
	cases := map[string]struct {
		reason   string
		presence checks.Presence
		applied  bool
		d        *Deep
		opts     []checks.Option
		want     answer
	}{
		"UnknownBusy": {"a reported state counts although the presence is unknown", checks.PresenceUnknown, false, state("Updating"), nil, busy("Updating")},
		"AbsentBusy": {
			"a reported state of an absent resource blocks", checks.Absent, false, state("Creating"), nil,
			blocks("ResourceState", classify.Slow, `the resource is in state "Creating"`+settledWanted+"; the resource was not found in the cloud, so Get should clear the reported state"),
		},
		"Absent":         {"an absent resource has no state", checks.Absent, false, deep(nil), nil, proceeding()},
		"Present":        {"an unreported state of a present resource is unknown", checks.Present, false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, notReported)},
		"Unknown":        {"unknown presence is not absent", checks.PresenceUnknown, false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, bothUnknown)},
		"Invalid":        {"an invalid presence is unknown", checks.Presence(9), false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, bothUnknown)},
		"NilResource":    {"a nil resource has no state", checks.Present, false, nil, nil, noting(blocks("ResourceStateUnknown", classify.Slow, notReported), nilHere("resource_test.go"))},
		"Blank":          {"white space is an unreported state", checks.Present, false, state(" \t\r\n"), nil, blocks("ResourceStateUnknown", classify.Slow, notReported)},
		"UnknownAllowed": {"WithUnknownAllowed proceeds, and the trace shows it", checks.Present, false, &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(nilHere("resource_test.go"), "no state is reported")},
		"AllowedTwice":   {"the states of several WithAllowed are combined", checks.Present, false, state("Stopped"), []checks.Option{checks.WithAllowed("Ready"), checks.WithAllowed("Stopped")}, proceeding()},
		"Control":        {"the message is one line", checks.Present, false, state("a\nb\"c\x1b"), nil, busy(`a; b\"c\x1b`)},
		"Reason":         {"WithReason replaces the reason", checks.Present, false, state("x"), []checks.Option{checks.WithAllowed("y"), checks.WithReason("Busy")}, blocks("Busy", classify.Slow, `the resource is in state "x": it must be y`)},
		"AppliedGood":    {"after Apply a final good state proceeds", checks.Present, true, state("Succeeded"), nil, proceeding()},
		"AppliedFailed":  {"a failed resource does not become Ready", checks.Present, true, state("Failed"), nil, blocks("ResourceState", classify.Slow, `the resource is in state "Failed": it must be Succeeded`)},
		"AppliedNone":    {"after Apply an unreported state blocks", checks.Present, true, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, "the resource is in the cloud and has not reported a state yet: it must be Succeeded")},
		"AppliedAbsent":  {"after Apply an absent resource blocks", checks.Absent, true, deep(nil), nil, blocks("ResourceAbsent", classify.Slow, missingAfter)},
		"AppliedMissing": {"after Apply an absent resource blocks in any state", checks.Absent, true, state("Succeeded"), nil, blocks("ResourceAbsent", classify.Slow, missingAfter)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Resource: tc.d, Presence: tc.presence, OwnerRequest: checks.OwnerRequest{Applied: tc.applied}}
			mustAnswer(t, tc.reason, tc.want, checks.ProvisioningState(deepState, tc.opts...), req)
			if tc.presence != checks.Absent && tc.want.Notes == nil { // LiveState does not ask then, and its function dereferences no nil
				mustAnswer(t, "LiveState: "+tc.reason, tc.want, live(tc.d, tc.opts...), req)
			}
		})
	}
}

func TestLiveState(t *testing.T) {
	gone := httpStatus(http.StatusNotFound)
	cases := map[string]struct {
		reason   string
		presence checks.Presence
		applied  bool
		state    string
		err      error
		want     answer
	}{
		"Unseen":      {"fetch runs if the presence is unknown", checks.PresenceUnknown, false, "Updating", nil, blocks("ResourceState", classify.Slow, `the resource is in state "Updating"`+settledWanted)},
		"UnseenGone":  {"fetch finds that the resource is absent", checks.PresenceUnknown, false, "", gone, proceeding("not found")},
		"AfterGone":   {"after Apply a resource that fetch does not find blocks", checks.Present, true, "", gone, noting(blocks("ResourceAbsent", classify.Slow, missingAfter), "not found")},
		"AfterAbsent": {"after Apply fetch does not run for an absent resource", checks.Absent, true, "", errDown, blocks("ResourceAbsent", classify.Slow, missingAfter)},
		"NotThere":    {"fetch does not run for an absent resource", checks.Absent, false, "", errDown, proceeding()},
		"GoneJoined":  {"404 with another error is an error, which is returned unchanged", checks.Present, false, "", errors.Join(errDown, gone), fails("the index is down\nNot Found")},
		"NoState":     {"an empty state is unknown", checks.Present, false, "", nil, blocks("ResourceStateUnknown", classify.Slow, notReported)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Presence: tc.presence, OwnerRequest: checks.OwnerRequest{Applied: tc.applied}}
			got, err := ask(t, checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (string, error) {
				if r != req {
					t.Errorf("fetch received another request")
				}
				return tc.state, tc.err
			}), req)
			if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != errors.Is(err, errDown) {
				t.Errorf("%s: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// httpStatus is the error of a service that no reader knows.
type httpStatus int

func (s httpStatus) Error() string   { return http.StatusText(int(s)) }
func (s httpStatus) StatusCode() int { return int(s) }

// Only selectors may dereference nil, fetch may not.
func TestLiveStatePanics(t *testing.T) {
	check := checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (State, error) { return *deepState(r.Resource), nil })
	mustAnswer(t, "a nil dereference in fetch is an error", fails("panic in link LiveState: runtime error: invalid memory address or nil pointer dereference"),
		check, &checks.Request[*Deep]{Presence: checks.Present})
}

func TestOnOwner(t *testing.T) {
	pass := returns[ownerRequest]("pass", checks.Proceed(), nil)
	block := checks.Block("A", "a", checks.WithRetry(classify.Fast), checks.WithWaitingFor(prod))
	cases := map[string]struct {
		reason string
		links  []ownerLink
		want   answer
		is     error
		by     string // the link that DecidedBy names
	}{
		"Block":   {"the block names the check inside", []ownerLink{pass, returns[ownerRequest]("b", block, nil), returns[ownerRequest]("c", checks.Block("C", "c"), nil)}, answer{Result: block}, nil, "b"},
		"Skip":    {"a skip is returned, and names the group", []ownerLink{returns[ownerRequest]("s", checks.Skip("why"), nil), returns[ownerRequest]("b", block, nil)}, answer{Result: checks.Skip("why")}, nil, "OnOwner(s, b)"},
		"Error":   {"the error names the check inside", []ownerLink{pass, returns[ownerRequest]("e", checks.Result{}, errTest)}, fails("e: a test error"), errTest, "OnOwner(pass, e)"},
		"Zero":    {"the zero Result of a check inside is an error", []ownerLink{pass, returns[ownerRequest]("z", checks.Result{}, nil)}, fails("z: checks: link z: the zero Result is no decision: return checks.Proceed, Skip or Block"), checks.ErrNoDecision, "OnOwner(pass, z)"},
		"Forgets": {"a raw link that forgets next is an error", []ownerLink{forgets, returns[ownerRequest]("b", block, nil)}, fails("forgets: checks: link forgets: it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip"), checks.ErrEndNotReached, "OnOwner(forgets, b)"},
		"Gate":    {"a gate may be inside", []ownerLink{checks.Gate("g", func(context.Context, ownerRequest) (checks.Result, error) { return block, nil })}, answer{Result: block}, nil, "Gate(g)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := ofDatabase(nil)
			got, err := ask(t, checks.OnOwner[*Database](tc.links...), req)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %v in %v", tc.reason, tc.is, err)
			}
			if at := decidedBy(req); at != tc.by {
				t.Errorf("%s: decided by %q, want %q", tc.reason, at, tc.by)
			}
		})
	}
}

var forgets = chain.Named("forgets", func(chain.Handler[*checks.OwnerRequest, checks.Result]) chain.Handler[*checks.OwnerRequest, checks.Result] {
	return func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil }
})
