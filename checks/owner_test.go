package checks_test

import (
	"fmt"
	"testing"

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
	value := deep(ptr(State("Succeeded")))
	const goneNote = "the owner is missing or being deleted, so it does not block this deletion"
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
			reason: "the message names both types", owner: checks.Object{Ref: prod, Value: &Cluster{}},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},
		"WrongKindMissing": {reason: "no option allows a missing owner", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithUnknownAllowed()}, want: notFound},
		"KeptNotFound":     {reason: "a missing owner keeps its reason", owner: checks.Object{Ref: prod}, opts: []checks.Option{checks.WithReason("Waiting")}, want: notFound},
		"KeptWrongKind": {
			reason: "an owner of another type keeps its reason", owner: checks.Object{Ref: prod, Value: &Cluster{}}, opts: []checks.Option{checks.WithReason("Waiting")},
			want: func(check string) answer {
				return blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and "+check+" is for a *checks_test.Deep: name an owner of that kind", prod)
			},
		},
		"DeleteGone":  {reason: "a missing owner does not block a deletion", owner: checks.Object{Ref: prod}, deleting: true, want: pass(goneNote)},
		"DeleteGoing": {reason: "an owner that is being deleted does not block a deletion", owner: checks.Object{Ref: prod, Value: &Deep{}, Deleting: true}, deleting: true, want: pass(goneNote)},
		"DeleteRoot":  {reason: "a root resource can be deleted", deleting: true, want: pass()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for i, link := range readers(tc.opts...) {
				req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: tc.owner, Deleting: tc.deleting}}
				mustAnswer(t, nameOf(link)+": "+tc.reason, tc.want(readerNames[i]), link, req)
			}
		})
	}

	t.Run("DeleteOfUnfit", func(t *testing.T) {
		req := &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Deep{}}, Deleting: true}
		mustAnswer(t, "the check reads an existing owner before a deletion", blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: no", prod),
			checks.OwnerIs("fits", func(*Deep) string { return "no" }), req)
	})
}

func TestObjections(t *testing.T) {
	const unknown = "owner Cluster prod has not reported yet the field that fits reads"
	inSelector := nilHere("state_test.go")
	cases := map[string]struct {
		reason string
		owner  *Deep
		opts   []checks.Option
		want   answer
	}{
		"One":             {"the message is the name of the owner and the objection", deep(ptr(State("too old"))), nil, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"NilProperties":   {"nil properties are not reported", &Deep{Status: &DeepStatus{}}, nil, noting(blocks("OwnerStateUnknown", classify.Slow, unknown, prod), inSelector)},
		"UnknownAllowed":  {"WithUnknownAllowed proceeds, and the trace shows it", &Deep{}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(inSelector, "owner Cluster prod has not reported the field that the check reads")},
		"KnownObjection":  {"WithUnknownAllowed does not allow an objection", deep(ptr(State("too old"))), []checks.Option{checks.WithUnknownAllowed()}, blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: too old", prod)},
		"ReplacedUnknown": {"WithReason replaces the reason of an unreported field", &Deep{}, []checks.Option{checks.WithReason("VersionAhead")}, noting(blocks("VersionAhead", classify.Slow, unknown, prod), inSelector)},
		"Replaced":        {"options replace the reason and the retry", deep(ptr(State("too old"))), []checks.Option{checks.WithReason("VersionAhead"), checks.WithRetry(classify.OnChange)}, blocks("VersionAhead", classify.OnChange, "owner Cluster prod: too old", prod)},
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
	mustAnswer(t, "an owner that implements the interface has the right type", blocks("OwnerUnsuitable", classify.Slow, "owner Cluster prod: nothing", prod),
		check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: checks.Ref{}}})
	mustAnswer(t, "an owner that does not implement it has another type", blocks("OwnerWrongKind", classify.OnChange, "owner Cluster prod is a *checks_test.Cluster, and named is for a fmt.Stringer: name an owner of that kind", prod),
		check, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Cluster{}}})
}

func TestObjectionsSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"OwnerIsNil":   {"OwnerIs requires an objection", func() { checks.OwnerIs[*Deep]("fits", nil) }, "checks: fits: the function is nil"},
		"OwnerFitsNil": {"OwnerFits requires an objection", func() { checks.OwnerFits[*Database, *Deep]("suits", nil) }, "checks: suits: the function is nil"},
	})
}
