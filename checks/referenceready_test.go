package checks_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

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
		mustNameNil(t, err, "ReferenceReady(network)", "referenceready_test.go", "return checks.OptionalRefs(...) for references that may be nil")

		var asked []checks.Ref
		optional := checks.ReferenceReady("network", func(p pair) []checks.Ref { return checks.OptionalRefs(p.a, p.b) })
		mustAnswer(t, "a nil reference does not hide the others", blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound, nothing),
			optional, &checks.Request[pair]{Resource: pair{b: &nothing}, OwnerRequest: checks.OwnerRequest{Resolver: stored.resolver(&asked)}})
		if diff := cmp.Diff([]checks.Ref{nothing}, checks.OptionalRefs(nil, &nothing)); diff != "" {
			t.Errorf("OptionalRefs leaves out nil: -want, +got:\n%s", diff)
		}
		mustAnswer(t, "all references may be nil", proceeding(), optional, &checks.Request[pair]{})
	})
	many := make([]checks.Ref, 32_000)
	for i := range many {
		many[i] = checks.Ref{Kind: "Network", Name: strconv.Itoa(i)}
	}
	t.Run("ManyAwaited", func(t *testing.T) {
		var asked []checks.Ref
		check := checks.ReferenceReady("network", func(*Database) []checks.Ref { return many }, checks.WithWaitingFor(many...), checks.WithWaitingFor(prod))
		a, _ := ask(t, check, &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: objects{}.resolver(&asked)}})
		if got := a.Result.WaitingFor(); !slices.Equal(got, append(slices.Clone(many), prod)) {
			t.Errorf("it waits for %d objects, want the references and then the object of the option", len(got))
		}
	})
	t.Run("Many", func(t *testing.T) {
		check := checks.ReferenceReady("network", func(*Database) []checks.Ref { return many })
		finds := func(o checks.Object, err error) answer {
			a, _ := ask(t, check, &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: func(context.Context, checks.Ref) (checks.Object, error) { return o, err }}})
			return a
		}
		got := finds(checks.Object{}, nil)
		if message := got.Result.Message(); len(message) > 2000 || !strings.HasSuffix(message, "network Network 9"+notFound+"; and 31,990 more") {
			t.Errorf("a message of %d bytes that ends with %q, want ten references and the number of the others", len(message), message[max(0, len(message)-80):])
		}
		if n := len(got.Result.WaitingFor()); n != len(many) {
			t.Errorf("it waits for %d objects, want all %d", n, len(many))
		}
		if text := finds(checks.Object{}, errDown).Err; len(text) > 2000 || !strings.HasSuffix(text, "network Network 9: the index is down; and 31,990 more") {
			t.Errorf("an error of %d bytes that ends with %q, want ten references and the number of the others", len(text), text[max(0, len(text)-80):])
		}
	})
}

func TestReferenceReadySetUp(t *testing.T) {
	refs := func(*Database) []checks.Ref { return nil }
	mustPanic(t, map[string]setUp{
		"NoName":          {"the name is required", func() { checks.ReferenceReady(" ", refs) }, "checks: ReferenceReady( ): the name is empty or the function is nil"},
		"Nil":             {"the function is required", func() { checks.ReferenceReady[*Database]("network", nil) }, "checks: ReferenceReady(network): the name is empty or the function is nil"},
		"UnknownProceeds": {"unknown readiness never proceeds", func() { checks.ReferenceReady("network", refs, checks.WithUnknownAllowed()) }, "checks: ReferenceReady(network): the option WithUnknownAllowed is not for this check"},
	})
}
