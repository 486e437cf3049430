package checks_test

import (
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// looking are the checks that look into the owner, each letting pass any owner that is a *Deep and can be looked into.
func looking(opts ...checks.Option) []checks.Middleware[*Database] {
	return []checks.Middleware[*Database]{
		checks.OnOwner[*Database](checks.OwnerProvisioningState(deepState, opts...)),
		checks.OnOwner[*Database](checks.OwnerIs("fits", func(d *Deep) string { _ = *deepState(d); return "" }, opts...)),
		checks.OwnerFits("suits", func(_ *Database, d *Deep) string { _ = *deepState(d); return "" }, opts...),
	}
}

// The names of these as they stand in messages.
var lookingNames = []string{"OwnerProvisioningState", "fits", "suits"}

// TestOwnerToLookInto is about owners that are not there, or not what they should be.
func TestOwnerToLookInto(t *testing.T) {
	value := deep(ptr(State("Succeeded")))
	const going = "the owner is gone or going, which does not hold up a deletion"
	notFound := func(string) answer {
		return blocks("OwnerNotFound", classify.Fast, "owner Cluster prod was not found: waiting until it is created", prod)
	}
	pass := func(notes ...string) func(string) answer { return func(string) answer { return passes(notes...) } }
	cases := map[string]struct {
		reason   string
		owner    checks.Object
		deleting bool
		opts     []checks.Option
		want     func(check string) answer
	}{
		"Found":    {reason: "an owner of the right kind is asked", owner: checks.Object{Ref: prod, Value: value}, want: pass()},
		"Unnamed":  {reason: "also if it has no Ref", owner: checks.Object{Value: value}, want: pass()},
		"NotFound": {reason: "one that is not there is waited for", owner: checks.Object{Ref: prod}, want: notFound},
		"TypedNil": {reason: "a nil pointer of the right kind is not there, and not handed on", owner: checks.Object{Ref: prod, Value: (*Deep)(nil)}, want: notFound},
		"OtherNil": {reason: "a nil pointer of another kind is not there either", owner: checks.Object{Ref: prod, Value: (*Cluster)(nil)}, want: notFound},
		"Root": {
			reason: "who asks something of the owner needs one",
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")
			},
		},
		"Unset": {
			reason: "an owner that no reference names yet is no root resource", owner: checks.Object{Ref: checks.Ref{Group: "cluster.x-k8s.io", Kind: "MachinePool"}},
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.OnChange, "the owner reference is not set yet: it must name a MachinePool")
			},
		},
		"UnsetTypedNil": {
			reason: "a nil pointer does not change that", owner: checks.Object{Ref: checks.Ref{Namespace: "shop"}, Value: (*Deep)(nil)},
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.OnChange, "the owner reference is not set yet")
			},
		},
		"ByID": {
			reason: "an owner known by its ID only is not said to be missing", owner: checks.Object{Ref: arm},
			want: func(check string) answer {
				return blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, and "+check+" has to look into it", arm)
			},
		},
		"ByIDProceeds": {
			reason: "the option lets it pass, as nothing more will ever be known", owner: checks.Object{Ref: arm},
			opts: []checks.Option{checks.WithUnknownAllowed()}, want: pass("owner " + arm.ID + " is known by its ID only"),
		},
		"WrongKind": {
			reason: "both kinds are named, so that a person sees which one is meant", owner: checks.Object{Ref: prod, Value: &Cluster{}},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},
		"WrongKindValue": {
			reason: "a struct is not the pointer to it", owner: checks.Object{Ref: prod, Value: Deep{}},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a checks_test.Deep, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},
		"WrongKindProceeds": {reason: "the option lets it pass, and the trace says so", owner: checks.Object{Ref: prod, Value: &Cluster{}}, opts: []checks.Option{checks.WithWrongKindAllowed()}, want: pass("owner Cluster prod is of another kind")},
		"WrongKindMissing":  {reason: "the option is about owners that are there", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithWrongKindAllowed(), checks.WithUnknownAllowed()}, want: notFound},
		"KeptNotFound": {
			reason: "WithReason is for the objection: a missing owner keeps its reason", owner: checks.Object{Ref: prod},
			opts: []checks.Option{checks.WithReason("Waiting")}, want: notFound,
		},
		"KeptUnset": {
			reason: "so does an owner that no reference names", opts: []checks.Option{checks.WithReason("Waiting")},
			want: func(string) answer {
				return blocks("OwnerNotSet", classify.OnChange, "there is no owner, and one is required: name an owner")
			},
		},
		"KeptByID": {
			reason: "and one known by its ID only", owner: checks.Object{Ref: arm}, opts: []checks.Option{checks.WithReason("Waiting")},
			want: func(check string) answer {
				return blocks("OwnerKnownByIDOnly", classify.Slow, "owner "+arm.ID+" is known by its ID only, and "+check+" has to look into it", arm)
			},
		},
		"KeptWrongKind": {
			reason: "and one of another kind", owner: checks.Object{Ref: prod, Value: &Cluster{}}, opts: []checks.Option{checks.WithReason("Waiting")},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},

		"DeleteGone":      {reason: "an owner that is gone does not hold up a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: pass(going)},
		"DeleteGoing":     {reason: "nor does one that is going", owner: checks.Object{Ref: prod, Value: &Deep{}, Deleting: true}, deleting: true, want: pass(going)},
		"DeleteWrongKind": {reason: "whatever kind it is of", owner: checks.Object{Ref: prod, Value: &Cluster{}, Deleting: true}, deleting: true, want: pass(going)},
		"DeleteUnset":     {reason: "nor does one that no reference names yet", owner: checks.Object{Ref: checks.Ref{Kind: "MachinePool"}}, deleting: true, want: pass()},
		"DeleteRoot":      {reason: "nor does there being none", deleting: true, want: pass()},
		"DeleteTypedNil":  {reason: "nor does a nil one", owner: checks.Object{Ref: prod, Value: (*Deep)(nil)}, deleting: true, want: pass(going)},
		"GoingOnly":       {reason: "an owner that is going is asked as long as the resource itself stays", owner: checks.Object{Ref: prod, Value: value, Deleting: true}, want: pass()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for i, link := range looking(tc.opts...) {
				req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting}}
				mustAnswer(t, nameOf(link)+": "+tc.reason, tc.want(lookingNames[i]), link, req)
			}
		})
	}

	t.Run("DeleteOfUnfit", func(t *testing.T) {
		req := &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Deep{}}, Deleting: true}
		mustAnswer(t, "an owner that is there and stays is asked, deletion or not", blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: no", prod),
			checks.OwnerIs("fits", func(*Deep) string { return "no" }), req)
	})
}

func TestObjections(t *testing.T) {
	const unknown = "owner Cluster prod has not reported what fits asks for yet"
	inSelector := nilHere("state_test.go")
	cases := map[string]struct {
		reason string
		owner  *Deep
		opts   []checks.Option
		want   answer
	}{
		"None":            {"no objection lets the work go on", deep(ptr(State(""))), nil, passes()},
		"One":             {"an objection is the message, behind the name of the owner", deep(ptr(State("too old"))), nil, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"NilStatus":       {"what the objection cannot look at is not reported", &Deep{}, nil, noting(blocks("OwnerStateUnknown", classify.Slow, unknown, prod), inSelector)},
		"NilProperties":   {"at each level", &Deep{Status: &DeepStatus{}}, nil, noting(blocks("OwnerStateUnknown", classify.Slow, unknown, prod), inSelector)},
		"NilState":        {"the last one included", deep(nil), nil, noting(blocks("OwnerStateUnknown", classify.Slow, unknown, prod), nilHere("owner_test.go"))},
		"UnknownProceeds": {"the option lets that pass, and the trace says so", &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, passes(inSelector, "not reported by owner Cluster prod")},
		"KnownObjection":  {"but no objection", deep(ptr(State("too old"))), []checks.Option{checks.WithUnknownAllowed()}, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"ReplacedUnknown": {"the reason of an unreported field is replaced, too", &Deep{}, []checks.Option{checks.WithReason("VersionAhead")}, noting(blocks("VersionAhead", classify.Slow, unknown, prod), inSelector)},
		"Replaced":        {"reason and wait can be replaced", deep(ptr(State("too old"))), []checks.Option{checks.WithReason("VersionAhead"), checks.WithRetry(classify.OnChange)}, blocks("VersionAhead", classify.OnChange, "owner Cluster prod: too old", prod)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: tc.owner}}, Resource: &Database{Version: 7}}
			mustAnswer(t, "OwnerIs: "+tc.reason, tc.want, checks.OwnerIs("fits", func(d *Deep) string { return string(*deepState(d)) }, tc.opts...), &req.OwnerRequest)
			mustAnswer(t, "OwnerFits: "+tc.reason, tc.want, checks.OwnerFits("fits", func(db *Database, d *Deep) string {
				if db.Version != 7 {
					t.Errorf("the objection was given another resource: %v", db)
				}
				return string(*deepState(d))
			}, tc.opts...), req)
		})
	}
}

// The owner may be asked for by what it can do.
func TestOwnerByInterface(t *testing.T) {
	check := checks.OwnerIs("named", func(s fmt.Stringer) string { return s.String() })
	mustAnswer(t, "an owner that implements the interface is of the right kind", blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: nothing", prod),
		check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: checks.Ref{}}})
	mustAnswer(t, "one that does not is not", blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and named is for a fmt.Stringer: name an owner of that kind", prod),
		check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Cluster{}}})
}

func TestObjectionsSetUp(t *testing.T) {
	no := func(*Deep) string { return "" }
	with := func(*Database, *Deep) string { return "" }
	mustPanic(t, map[string]setUp{
		"OwnerIsNil":     {"an objection is needed", func() { checks.OwnerIs[*Deep]("fits", nil) }, "checks: fits: the function is nil"},
		"OwnerFitsNil":   {"for both", func() { checks.OwnerFits[*Database, *Deep]("suits", nil) }, "checks: suits: the function is nil"},
		"OwnerIsAllow":   {"an objection is no state", func() { checks.OwnerIs("fits", no, checks.WithAllowed("a")) }, "checks: fits: the option WithAllowed is not for this check"},
		"OwnerFitsExact": {"nor is it compared", func() { checks.OwnerFits("suits", with, checks.WithExactStates()) }, "checks: suits: the option WithExactStates is not for this check"},
	})
}
