package checks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	nilHere := nilHere("reference_test.go")
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
}

// TestReferenceIsObject: an objection to a whole Object learns which reference it
// is about.
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

// objects holds the objects that a Resolver finds.
type objects map[checks.Ref]checks.Object

var errDown = errors.New("the index is down")

// resolver records the refs in asked, and fails for the Kind "Broken".
func (m objects) resolver(asked *[]checks.Ref) checks.Resolver {
	return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		*asked = append(*asked, ref)
		if ref.Kind == "Broken" {
			return checks.Object{}, errDown
		}
		o := m[ref]
		if o.Ref == (checks.Ref{}) { // else the resolver has set the namespace in which it looked
			o.Ref = ref
		}
		return o, nil
	}
}

func TestReferenceReady(t *testing.T) {
	var (
		ready      = checks.Ref{Kind: "Network", Name: "ready"}
		creating   = checks.Ref{Kind: "Network", Name: "creating"}
		deleting   = checks.Ref{Kind: "Network", Name: "deleting"}
		stale      = checks.Ref{Kind: "Network", Name: "stale"}
		unreported = checks.Ref{Kind: "Network", Name: "unreported"}
		nothing    = checks.Ref{Kind: "Network", Name: "nothing"}
		typedNil   = checks.Ref{Kind: "Network", Name: "nil"}
		known      = checks.Ref{ID: "/networks/known"}
		broken     = checks.Ref{Kind: "Broken", Namespace: "team", Name: "one"}
		going      = checks.Ref{Kind: "Network", Name: "going"}
		elsewhere  = checks.Ref{Kind: "Network", Name: "elsewhere"}
		apps       = checks.Ref{Kind: "Network", Namespace: "apps", Name: "elsewhere"}
		stored     = objects{
			ready:      {Value: 1, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}},
			creating:   {Value: 1, Readiness: checks.Readiness{State: checks.NotReady, Reason: "Creating", Message: "takes a while"}},
			deleting:   {Value: 1, Readiness: checks.Readiness{State: checks.Ready}, Deleting: true},
			stale:      {Value: 1, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 1}},
			unreported: {Value: 1},
			typedNil:   {Value: (*Cluster)(nil), Readiness: checks.Readiness{State: checks.Ready}},
			known:      {Value: 1, Readiness: checks.Readiness{State: checks.Ready}},
			going:      {Value: 1, Readiness: checks.Readiness{State: checks.NotReady}, Deleting: true},
			elsewhere:  {Ref: apps, Value: 1, Readiness: checks.Readiness{State: checks.NotReady, Reason: "Busy"}},
		}
	)
	const notFound = " was not found: waiting until it is created"
	refs := func(r ...checks.Ref) []checks.Ref { return r }
	cases := map[string]struct {
		reason     string
		refs       []checks.Ref
		noResolver bool
		deletes    bool // a user deletes the resource
		opts       []checks.Option
		want       answer
		is         error
		asked      []checks.Ref
	}{
		"Ready":       {reason: "a ready object proceeds", refs: refs(ready), want: proceeding(), asked: refs(ready)},
		"NotFound":    {reason: "a missing object is awaited", refs: refs(nothing), want: blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound, nothing), asked: refs(nothing)},
		"TypedNil":    {reason: "a nil pointer is missing", refs: refs(typedNil), want: blocks("ReferenceNotFound", classify.Fast, "network Network nil"+notFound, typedNil), asked: refs(typedNil)},
		"NotReady":    {reason: "an existing object that is not ready is not missing", refs: refs(creating), want: blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while", creating), asked: refs(creating)},
		"Unknown":     {reason: "an unreported readiness is not ready", refs: refs(unreported), want: blocks("ReferenceNotReady", classify.Fast, "network Network unreported has not reported yet whether it is ready", unreported), asked: refs(unreported)},
		"Deleting":    {reason: "an object that is being deleted blocks", refs: refs(deleting), want: blocks("ReferenceNotReady", classify.Fast, "network Network deleting is being deleted", deleting), asked: refs(deleting)},
		"DeletesToo":  {reason: "a deletion may need an object that is being deleted, which may wait for this deletion", refs: refs(deleting, going), deletes: true, want: proceeding("network Network deleting is being deleted, so it does not block this deletion", "network Network going is being deleted, so it does not block this deletion"), asked: refs(deleting, going)},
		"DeletesLast": {reason: "in a namespace that is deleted, a missing object never returns", refs: refs(nothing), deletes: true, want: proceeding("network Network nothing does not exist, and may be missing"), asked: refs(nothing)},
		"DeletesBusy": {reason: "the deletion may need an object that is not ready", refs: refs(creating), deletes: true, want: blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while", creating), asked: refs(creating)},
		"Elsewhere":   {reason: "the block has the namespace in which the reference was looked up", refs: refs(elsewhere), want: blocks("ReferenceNotReady", classify.Fast, "network Network apps/elsewhere is not ready: Busy", apps), asked: refs(elsewhere)},
		"Several":     {reason: "each unready object is named and awaited", refs: refs(creating, ready, nothing), want: blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while; network Network nothing"+notFound, creating, nothing), asked: refs(creating, ready, nothing)},
		"ByID":        {reason: "the readiness of an object known by its ID only cannot be determined", refs: refs(arm), want: proceeding("network " + arm.ID + " is known by its ID only"), asked: refs(arm)},
		"MissingOK":   {reason: "a missing object that may be missing proceeds; one that exists must be ready", refs: refs(nothing, creating), opts: []checks.Option{checks.WithMissingAllowed()}, want: noting(blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while", creating), "network Network nothing does not exist, and may be missing"), asked: refs(nothing, creating)},
		"MissingFail": {reason: "an error is not a missing object", refs: refs(broken), opts: []checks.Option{checks.WithMissingAllowed()}, want: fails("network Broken team/one: the index is down"), is: errDown, asked: refs(broken)},
		"MissingName": {reason: "a reference without a name is not missing", refs: refs(checks.Ref{Kind: "Network"}), opts: []checks.Option{checks.WithMissingAllowed()}, want: blocks("ReferenceNotSet", classify.OnChange, "network Network: the reference has no name: set it", checks.Ref{Kind: "Network"}), asked: refs(checks.Ref{Kind: "Network"})},
		"ByIDBlocked": {reason: "WithByIDBlocked blocks an object known by its ID only", refs: refs(arm), opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("ReferenceKnownByIDOnly", classify.Slow, "network "+arm.ID+" is known by its ID only, so it cannot be looked up: refer to it by name", arm), asked: refs(arm)},
		"ByIDKnown":   {reason: "an object known by its ID only that the resolver finds is checked", refs: refs(known), opts: []checks.Option{checks.WithByIDBlocked()}, want: proceeding(), asked: refs(known)},
		"ByIDAlone":   {reason: "an object known by its ID only needs no resolver", refs: refs(arm), noResolver: true, want: proceeding("network " + arm.ID + " is known by its ID only")},
		"NoResolver":  {reason: "the error of a missing resolver names the remedy", refs: refs(ready), noResolver: true, want: fails("network Network ready: the request has no resolver: give the reconciler one with flow.WithResolver"), is: checks.ErrNoResolver},
		"Set":         {reason: "the check is for single objects", refs: refs(claims.Ref()), want: fails("network every Database with spec.host=a: it names a set, and this check is for single objects")},
		"ErrorAndMore": {
			reason: "an error of one reference does not hide the others", refs: refs(broken, nothing, ready),
			want: fails("network Broken team/one: the index is down; and blocked: network Network nothing" + notFound), is: errDown, asked: refs(broken, nothing, ready),
		},
		"Options": {reason: "options replace the reason and the retry", refs: refs(nothing), opts: []checks.Option{checks.WithReason("NoNetwork"), checks.WithRetry(classify.Slow)}, want: blocks("NoNetwork", classify.Slow, "network Network nothing"+notFound, nothing), asked: refs(nothing)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []checks.Ref
			req := &checks.Request[[]checks.Ref]{Resource: tc.refs, OwnerRequest: checks.OwnerRequest{Resolver: stored.resolver(&asked), Deleting: tc.deletes}}
			if tc.noResolver {
				req.Resolver = nil
			}
			got, err := ask(t, checks.ReferenceReady("network", func(r []checks.Ref) []checks.Ref { return r }, tc.opts...), req)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.asked, asked); diff != "" {
				t.Errorf("%s: asked for: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %v in %v", tc.reason, tc.is, err)
			}
		})
	}

	t.Run("NilOnTheWay", func(t *testing.T) {
		type pair struct{ a, b *checks.Ref }
		check := checks.ReferenceReady("network", func(p pair) []checks.Ref { return []checks.Ref{*p.a, *p.b} })
		_, err := ask(t, check, &checks.Request[pair]{Resource: pair{b: &nothing}})
		mustNameNil(t, err, "ReferenceReady(network)", "reference_test.go", "return checks.OptionalRefs(...) for references that may be nil")

		var asked []checks.Ref
		optional := checks.ReferenceReady("network", func(p pair) []checks.Ref { return checks.OptionalRefs(p.a, p.b) })
		mustAnswer(t, "a nil reference does not hide the others", blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound, nothing),
			optional, &checks.Request[pair]{Resource: pair{b: &nothing}, OwnerRequest: checks.OwnerRequest{Resolver: stored.resolver(&asked)}})
		if diff := cmp.Diff([]checks.Ref{nothing}, checks.OptionalRefs(nil, &nothing)); diff != "" {
			t.Errorf("OptionalRefs leaves out nil: -want, +got:\n%s", diff)
		}
		mustAnswer(t, "all references may be nil", proceeding(), optional, &checks.Request[pair]{})
	})
	t.Run("Many", func(t *testing.T) {
		many := make([]checks.Ref, 32_000)
		for i := range many {
			many[i] = checks.Ref{Kind: "Network", Name: strconv.Itoa(i)}
		}
		check := checks.ReferenceReady("network", func(*Database) []checks.Ref { return many }, checks.WithWaitingFor(many...), checks.WithWaitingFor(prod))
		finds := func(err error) answer {
			a, _ := ask(t, check, &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, err }}})
			return a
		}
		got := finds(nil)
		for text, end := range map[string]string{
			got.Result.Message(): "network Network 9" + notFound + "; and 31,990 more",
			finds(errDown).Err:   "network Network 9: the index is down; and 31,990 more",
		} {
			if len(text) > 2000 || !strings.HasSuffix(text, end) {
				t.Errorf("a text of %d bytes that ends with %q, want ten references and the number of the others", len(text), text[max(0, len(text)-80):])
			}
		}
		if refs := got.Result.WaitingFor(); !slices.Equal(refs, append(slices.Clone(many), prod)) {
			t.Errorf("it waits for %d objects, want the references and then the object of the option", len(refs))
		}
	})
}
