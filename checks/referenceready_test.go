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

// world is what a Resolver finds.
type world map[checks.Ref]checks.Object

var errDown = errors.New("the index is down")

// resolver counts in asked, and fails for the Kind "Broken".
func (w world) resolver(asked *[]checks.Ref) checks.Resolver {
	return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		*asked = append(*asked, ref)
		if ref.Kind == "Broken" {
			return checks.Object{}, errDown
		}
		o := w[ref]
		o.Ref = ref
		return o, nil
	}
}

func TestReferenceReady(t *testing.T) {
	var (
		ready    = checks.Ref{Kind: "Network", Name: "ready"}
		creating = checks.Ref{Kind: "Network", Name: "creating"}
		going    = checks.Ref{Kind: "Network", Name: "going"}
		stale    = checks.Ref{Kind: "Network", Name: "stale"}
		silent   = checks.Ref{Kind: "Network", Name: "silent"}
		nothing  = checks.Ref{Kind: "Network", Name: "nothing"}
		typedNil = checks.Ref{Kind: "Network", Name: "nil"}
		known    = checks.Ref{ID: "/networks/known"}
		broken   = checks.Ref{Kind: "Broken", Name: "one"}
		w        = world{
			ready:    {Value: 1, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}},
			creating: {Value: 1, Readiness: checks.Readiness{State: checks.NotReady, Reason: "Creating", Message: "takes a while"}},
			going:    {Value: 1, Readiness: checks.Readiness{State: checks.Ready}, Deleting: true},
			stale:    {Value: 1, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 1}},
			silent:   {Value: 1},
			typedNil: {Value: (*Cluster)(nil), Readiness: checks.Readiness{State: checks.Ready}},
			known:    {Value: 1, Readiness: checks.Readiness{State: checks.Ready}},
		}
	)
	const notFound = " was not found: waiting until it is created"
	refs := func(r ...checks.Ref) []checks.Ref { return r }
	cases := map[string]struct {
		reason     string
		refs       []checks.Ref
		noResolver bool
		opts       []checks.Option
		want       answer
		is         error
		asked      []checks.Ref
	}{
		"None":      {reason: "what refers to nothing waits for nothing", want: passes()},
		"Zero":      {reason: "a reference that is not set is not looked for", refs: refs(checks.Ref{}), want: passes()},
		"Ready":     {reason: "a ready one lets the work go on", refs: refs(ready), want: passes(), asked: refs(ready)},
		"AllReady":  {reason: "all have to be", refs: refs(ready, known, checks.Ref{}, ready), want: passes(), asked: refs(ready, known, ready)},
		"NotFound":  {reason: "one that is not there is waited for", refs: refs(nothing), want: blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound, nothing), asked: refs(nothing)},
		"TypedNil":  {reason: "a nil pointer is not there", refs: refs(typedNil), want: blocks("ReferenceNotFound", classify.Fast, "network Network nil"+notFound, typedNil), asked: refs(typedNil)},
		"NotReady":  {reason: "one that is there is not said to be missing", refs: refs(creating), want: blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while", creating), asked: refs(creating)},
		"Unknown":   {reason: "an unreported readiness is not ready", refs: refs(silent), want: blocks("ReferenceNotReady", classify.Fast, "network Network silent has not reported yet whether it is ready", silent), asked: refs(silent)},
		"Stale":     {reason: "readiness of an older generation is none", refs: refs(stale), want: blocks("ReferenceNotReady", classify.Fast, "network Network stale was ready for generation 1 of its spec, which is at 2 now", stale), asked: refs(stale)},
		"Deleting":  {reason: "what goes away cannot be built on", refs: refs(going), want: blocks("ReferenceNotReady", classify.Fast, "network Network going is being deleted", going), asked: refs(going)},
		"EveryOne":  {reason: "each that is missing is named, and waited for", refs: refs(creating, ready, nothing), want: blocks("ReferenceNotReady", classify.Fast, "network Network creating is not ready: Creating: takes a while; network Network nothing"+notFound, creating, nothing), asked: refs(creating, ready, nothing)},
		"SameTwice": {reason: "one that is referred to twice is waited for once", refs: refs(nothing, nothing), want: blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound+"; network Network nothing"+notFound, nothing), asked: refs(nothing, nothing)},

		"ByID":       {reason: "of one known by its ID only nobody could ever say more", refs: refs(arm), want: passes("network " + arm.ID + " is known by its ID only"), asked: refs(arm)},
		"ByIDBlocks": {reason: "who wants to be sure can be", refs: refs(arm), opts: []checks.Option{checks.WithByIDBlocked()}, want: blocks("ReferenceKnownByIDOnly", classify.Slow, "network "+arm.ID+" is known by its ID only, so it cannot be looked up", arm), asked: refs(arm)},
		"ByIDKnown":  {reason: "one that the resolver knows all the same is asked", refs: refs(known), opts: []checks.Option{checks.WithByIDBlocked()}, want: passes(), asked: refs(known)},
		"ByIDAlone":  {reason: "it needs no resolver", refs: refs(arm), noResolver: true, want: passes("network " + arm.ID + " is known by its ID only")},

		"NoResolver":  {reason: "without a resolver nobody can tell: the error says what to do", refs: refs(ready), noResolver: true, want: fails("network Network ready: the request has no resolver: give the reconciler one with flow.WithResolver"), is: checks.ErrNoResolver},
		"NothingToDo": {reason: "who refers to nothing needs none", refs: refs(checks.Ref{}), noResolver: true, want: passes()},
		"Error":       {reason: "an error is no answer, and says which reference it is about", refs: refs(broken), want: fails("network Broken one: the index is down"), is: errDown, asked: refs(broken)},
		"ErrorAndMore": {
			reason: "the others are asked all the same, and told of", refs: refs(broken, nothing, ready),
			want: fails("network Broken one: the index is down; and blocked: network Network nothing" + notFound), is: errDown, asked: refs(broken, nothing, ready),
		},
		"OptionsError": {reason: "an error has no block for the options", refs: refs(broken), opts: []checks.Option{checks.WithRetry(classify.Slow)}, want: fails("network Broken one: the index is down"), is: errDown, asked: refs(broken)},
		"Options":      {reason: "reason and wait can be replaced, for each block", refs: refs(nothing), opts: []checks.Option{checks.WithReason("NoNetwork"), checks.WithRetry(classify.Slow)}, want: blocks("NoNetwork", classify.Slow, "network Network nothing"+notFound, nothing), asked: refs(nothing)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var asked []checks.Ref
			req := &checks.Request[[]checks.Ref]{Resource: tc.refs, OwnerRequest: checks.OwnerRequest{Resolver: w.resolver(&asked)}}
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
		mustAnswer(t, "one that is not set does not hide the others", blocks("ReferenceNotFound", classify.Fast, "network Network nothing"+notFound, nothing),
			optional, &checks.Request[pair]{Resource: pair{b: &nothing}, OwnerRequest: checks.OwnerRequest{Resolver: w.resolver(&asked)}})
		if diff := cmp.Diff([]checks.Ref{nothing}, checks.OptionalRefs(nil, &nothing)); diff != "" {
			t.Errorf("OptionalRefs leaves out nil: -want, +got:\n%s", diff)
		}
		mustAnswer(t, "none has to be set", passes(), optional, &checks.Request[pair]{})
	})
	many := make([]checks.Ref, 32_000)
	for i := range many {
		many[i] = checks.Ref{Kind: "Network", Name: strconv.Itoa(i)}
	}
	t.Run("ManyAwaited", func(t *testing.T) {
		var asked []checks.Ref
		check := checks.ReferenceReady("network", func(*Database) []checks.Ref { return many }, checks.WithWaitingFor(many...), checks.WithWaitingFor(prod))
		a, _ := ask(t, check, &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: world{}.resolver(&asked)}})
		if got := a.Result.WaitingFor(); !slices.Equal(got, append(slices.Clone(many), prod)) {
			t.Errorf("it waits for %d objects, want the references and then the other object of the options", len(got))
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
	t.Run("NilInResolver", func(t *testing.T) {
		check := checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{lan} })
		req := &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: func(context.Context, checks.Ref) (checks.Object, error) {
			var d *Deep
			return checks.Object{Value: d.Status}, nil
		}}}
		mustAnswer(t, "a nil pointer in the resolver is a fault", fails("panic in link ReferenceReady(network): runtime error: invalid memory address or nil pointer dereference"), check, req)
	})
	t.Run("Context", func(t *testing.T) {
		type key struct{}
		check := checks.Compose(checks.Chain[*Database]{}.Append(checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{lan} })))
		_, err := check(context.WithValue(t.Context(), key{}, "value"), &checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Resolver: func(ctx context.Context, _ checks.Ref) (checks.Object, error) {
			if ctx.Value(key{}) != "value" {
				t.Error("the resolver was given another context")
			}
			return checks.Object{}, nil
		}}})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestReferenceReadySetUp(t *testing.T) {
	refs := func(*Database) []checks.Ref { return nil }
	mustPanic(t, map[string]setUp{
		"NoName":          {"the name says what kind of reference it is", func() { checks.ReferenceReady(" ", refs) }, "checks: ReferenceReady( ): the name is empty or the function is nil"},
		"Nil":             {"a function is needed", func() { checks.ReferenceReady[*Database]("network", nil) }, "checks: ReferenceReady(network): the name is empty or the function is nil"},
		"UnknownProceeds": {"unknown readiness never passes", func() { checks.ReferenceReady("network", refs, checks.WithUnknownAllowed()) }, "checks: ReferenceReady(network): the option WithUnknownAllowed is not for this check"},
	})
}
