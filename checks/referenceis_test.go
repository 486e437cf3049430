package checks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestReferenceIs(t *testing.T) {
	whole := func(value any, err error) func(context.Context) (any, error) {
		return func(context.Context) (any, error) { return value, err }
	}
	var (
		good    = checks.Ref{Kind: "Cluster", Name: "good"}
		old     = checks.Ref{Kind: "Cluster", Name: "old"}
		older   = checks.Ref{Kind: "Cluster", Name: "older"}
		empty   = checks.Ref{Kind: "Cluster", Name: "empty"}
		odd     = checks.Ref{Kind: "Cluster", Name: "odd"}
		missing = checks.Ref{Kind: "Cluster", Name: "missing"}
		part    = checks.Ref{Kind: "Cluster", Name: "part"}
		nilled  = checks.Ref{Kind: "Cluster", Name: "nil"}
		lazy    = checks.Ref{Kind: "Cluster", Name: "lazy"}
		gone    = checks.Ref{Kind: "Cluster", Name: "gone"}
		unread  = checks.Ref{Kind: "Cluster", Name: "unread"}
		broken  = checks.Ref{Kind: "Broken", Name: "one"}
		stored  = objects{
			good:   {Value: &Cluster{Version: 12, Status: &ClusterStatus{ProvisioningState: &upgrading}}, Deleting: true},
			old:    {Value: &Cluster{Version: 11, Status: &ClusterStatus{ProvisioningState: &succeeded}}, Readiness: checks.Readiness{State: checks.Ready}},
			older:  {Value: &Cluster{Version: 10, Status: &ClusterStatus{ProvisioningState: &succeeded}}},
			empty:  {Value: &Cluster{}},
			odd:    {Value: &Deep{}},
			nilled: {Value: (*Cluster)(nil)},
			part:   {Value: &Deep{}, Partial: "only its labels are stored"},
			lazy:   {Value: &Deep{}, Partial: "only its labels are stored", Whole: whole(&Cluster{Version: 9, Status: &ClusterStatus{ProvisioningState: &succeeded}}, nil)},
			gone:   {Value: &Deep{}, Whole: whole(nil, nil)},
			unread: {Value: &Deep{}, Whole: whole(nil, errDown)},
		}
	)
	const notFound = "cluster Cluster missing was not found: waiting until it is created"
	const wrong = "cluster Cluster odd is a *checks_test.Deep, and ReferenceIs(cluster) is for a *checks_test.Cluster: name an object of that kind"
	const unknown = "cluster Cluster empty has not reported yet the field that ReferenceIs(cluster) reads"
	nilHere := nilHere("referenceis_test.go")
	refs := func(r ...checks.Ref) []checks.Ref { return r }
	with := func(o ...checks.Option) []checks.Option { return o }
	cases := map[string]struct {
		reason string
		refs   []checks.Ref
		opts   []checks.Option
		want   answer
		is     error
	}{
		"Zero":         {reason: "a zero Ref is not set", refs: refs(checks.Ref{}), want: proceeding()},
		"Good":         {reason: "readiness and deletion make no difference", refs: refs(good), want: proceeding()},
		"Objection":    {reason: "an objection blocks and waits for the object", refs: refs(old), want: blocks("ReferenceUnsuitable", classify.Slow, "cluster Cluster old: version 11 is not 12", old)},
		"Several":      {reason: "each unsuitable object is named and awaited", refs: refs(old, good, missing, older), want: blocks("ReferenceUnsuitable", classify.Slow, "cluster Cluster old: version 11 is not 12; "+notFound+"; cluster Cluster older: version 10 is not 12", old, missing, older)},
		"NotFound":     {reason: "a missing object is awaited", refs: refs(missing), want: blocks("ReferenceNotFound", classify.Fast, notFound, missing)},
		"NoName":       {reason: "no object can be created that fits", refs: refs(checks.Ref{Kind: "Cluster"}), want: blocks("ReferenceNotSet", classify.OnChange, "cluster Cluster: the reference has no name: set it", checks.Ref{Kind: "Cluster"})},
		"Verdict":      {reason: "an objection may end the work", refs: refs(old), opts: with(checks.WithVerdict(checks.Finished("Old", ""))), want: answer{Result: checks.Finished("Old", "cluster Cluster old: version 11 is not 12")}},
		"VerdictLost":  {reason: "an object that cannot be read is no objection", refs: refs(old, missing), opts: with(checks.WithVerdict(checks.Release(""))), want: blocks("ReferenceNotFound", classify.Fast, notFound, missing)},
		"VerdictOver":  {reason: "nor does an objection to another object end the work then", refs: refs(old, missing), opts: with(checks.WithVerdict(checks.Finished("Old", ""))), want: blocks("ReferenceNotFound", classify.Fast, notFound, missing)},
		"VerdictError": {reason: "an error is no objection either", refs: refs(broken, old), opts: with(checks.WithVerdict(checks.Ignore(""))), want: fails("cluster Broken one: the index is down"), is: errDown},
		"MissingOK":    {reason: "an object that may be missing is not awaited", refs: refs(missing, good), opts: with(checks.WithMissingAllowed()), want: proceeding("cluster Cluster missing does not exist, and may be missing")},
		"WrongKind":    {reason: "the message names both types", refs: refs(odd), want: blocks("ReferenceWrongKind", classify.OnChange, wrong, odd)},
		"Partial":      {reason: "a part of an object is not the object", refs: refs(part), want: blocks("ReferenceWrongKind", classify.OnChange, "cluster Cluster part was read in part: only its labels are stored", part)},
		"Whole":        {reason: "a part of an object is read as a whole", refs: refs(lazy), want: blocks("ReferenceUnsuitable", classify.Slow, "cluster Cluster lazy: version 9 is not 12", lazy)},
		"WholeGone":    {reason: "the object was deleted meanwhile", refs: refs(gone), want: blocks("ReferenceNotFound", classify.Fast, "cluster Cluster gone was not found: waiting until it is created", gone)},
		"WholeFails":   {reason: "an object that cannot be read is an error", refs: refs(unread), want: fails("cluster Cluster unread: the index is down"), is: errDown},
		"ByID":         {reason: "the check cannot read an object known by its ID only", refs: refs(arm), want: blocks("ReferenceKnownByIDOnly", classify.Slow, "cluster "+arm.ID+" is known by its ID only, so ReferenceIs(cluster) cannot read it: refer to it by name", arm)},
		"ByIDOK":       {reason: "WithUnknownAllowed proceeds by ID, and the trace shows it", refs: refs(arm), opts: with(checks.WithUnknownAllowed()), want: proceeding("cluster " + arm.ID + " is known by its ID only")},
		"Unknown":      {reason: "a nil dereference is an unreported field", refs: refs(empty), want: noting(blocks("ReferenceStateUnknown", classify.Slow, unknown, empty), nilHere)},
		"UnknownOK":    {reason: "WithUnknownAllowed proceeds for an unreported field, and the trace shows it", refs: refs(empty), opts: with(checks.WithUnknownAllowed()), want: proceeding(nilHere, "cluster Cluster empty has not reported the field that the check reads")},
		"Error":        {reason: "an error of the resolver is the error of the check", refs: refs(broken, old), want: fails("cluster Broken one: the index is down; and blocked: cluster Cluster old: version 11 is not 12"), is: errDown},
		"Replaced":     {reason: "WithReason replaces the reason of an objection", refs: refs(old), opts: with(checks.WithReason("TooOld"), checks.WithRetry(classify.OnChange), checks.WithWaitingFor(lan)), want: blocks("TooOld", classify.OnChange, "cluster Cluster old: version 11 is not 12", old, lan)},
		"KeptNotFound": {reason: "a missing object keeps its reason", refs: refs(missing), opts: with(checks.WithReason("TooOld")), want: blocks("ReferenceNotFound", classify.Fast, notFound, missing)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []checks.Ref
			req := &checks.Request[[]checks.Ref]{Resource: tc.refs, OwnerRequest: checks.OwnerRequest{Resolver: stored.resolver(&asked)}}
			check := checks.ReferenceIs("cluster", func(r []checks.Ref) []checks.Ref { return r }, func(r []checks.Ref, c *Cluster) string {
				if len(r) != len(tc.refs) {
					t.Errorf("the objection received another resource: %v", r)
				}
				if *c.Status.ProvisioningState == "" || c.Version < 12 {
					return fmt.Sprintf("version %d is not 12", c.Version)
				}
				return ""
			}, tc.opts...)
			got, err := ask(t, check, req)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %v in %v", tc.reason, tc.is, err)
			}
		})
	}

	t.Run("NilReference", func(t *testing.T) {
		check := checks.ReferenceIs("cluster", func(r *checks.Ref) []checks.Ref { return []checks.Ref{*r} }, func(*checks.Ref, *Cluster) string { return "" })
		_, err := ask(t, check, &checks.Request[*checks.Ref]{})
		mustNameNil(t, err, "ReferenceIs(cluster)", "referenceis_test.go", "return checks.OptionalRefs(...) for references that may be nil")
	})
	t.Run("NoResolver", func(t *testing.T) {
		check := checks.ReferenceIs("cluster", func(*Database) []checks.Ref { return refs(good) }, func(*Database, *Cluster) string { return "" })
		_, err := ask(t, check, &checks.Request[*Database]{})
		if !errors.Is(err, checks.ErrNoResolver) {
			t.Errorf("the error of a missing resolver is %v", err)
		}
	})
}

// TestReferenceIsObject verifies that an objection to a whole Object learns which
// reference it is about, and that a missing object still blocks.
func TestReferenceIsObject(t *testing.T) {
	stored := objects{
		{Kind: "Release", Namespace: "apps", Name: "db"}:  {Value: &Cluster{}, Readiness: checks.Readiness{State: checks.Ready, Reason: "Installed"}},
		{Kind: "Release", Namespace: "apps", Name: "web"}: {Value: &Deep{}, Partial: "only its labels are stored"},
	}
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		want   answer
	}{
		"Found":   {"the objection sees the Ref and the readiness", checks.Ref{Kind: "Release", Namespace: "apps", Name: "db"}, blocks("ReferenceUnsuitable", classify.Slow, "release Release apps/db: Release apps/db Installed \"\"", checks.Ref{Kind: "Release", Namespace: "apps", Name: "db"})},
		"Partial": {"Partial tells that Value is a part", checks.Ref{Kind: "Release", Namespace: "apps", Name: "web"}, blocks("ReferenceUnsuitable", classify.Slow, "release Release apps/web: Release apps/web  \"only its labels are stored\"", checks.Ref{Kind: "Release", Namespace: "apps", Name: "web"})},
		"Missing": {"an object without a Value is not found", checks.Ref{Kind: "Release", Name: "no"}, blocks("ReferenceNotFound", classify.Fast, "release Release no was not found: waiting until it is created", checks.Ref{Kind: "Release", Name: "no"})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[checks.Ref]{Resource: tc.ref, OwnerRequest: checks.OwnerRequest{Resolver: stored.resolver(new([]checks.Ref))}}
			check := checks.ReferenceIs("release", func(r checks.Ref) []checks.Ref { return []checks.Ref{r} }, func(_ checks.Ref, o checks.Object) string {
				return fmt.Sprintf("%s %s %q", o.Ref, o.Readiness.Reason, o.Partial)
			})
			got, _ := ask(t, check, req)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReferenceIsSetUp(t *testing.T) {
	refs := func(*Database) []checks.Ref { return nil }
	no := func(*Database, *Cluster) string { return "" }
	mustPanic(t, map[string]setUp{
		"NoName":      {"the name is required", func() { checks.ReferenceIs(" ", refs, no) }, "checks: ReferenceIs( ): the name is empty or the function is nil"},
		"NoRefs":      {"the check needs references", func() { checks.ReferenceIs("cluster", nil, no) }, "checks: ReferenceIs(cluster): the name is empty or the function is nil"},
		"NoObjection": {"the check needs an objection", func() { checks.ReferenceIs[*Database, *Cluster]("cluster", refs, nil) }, "checks: ReferenceIs(cluster): the objection is nil"},
		"ByIDBlocked": {"an object known by its ID only blocks without an option", func() { checks.ReferenceIs("cluster", refs, no, checks.WithByIDBlocked()) }, "checks: ReferenceIs(cluster): the option WithByIDBlocked is not for this check"},
	})
}
