package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/reason"
)

// A panic anywhere ends the pass with an error.
func TestPanics(t *testing.T) {
	cases := map[string]struct {
		reason string
		set    func(*ops, *ext)
		want   place
	}{
		"Key":   {"without a key no token can be stored, so no operation starts", func(o *ops, _ *ext) { o.Key = func(*pool) string { panic(errBoom) } }, place{flow.StateFailed, flow.PointPass, ""}},
		"Token": {"the flow cannot know whether an operation is under way", func(o *ops, _ *ext) { o.Token = func(*pool) (string, int64) { panic(errBoom) } }, place{flow.StateFailed, flow.PointPass, ""}},
		"Check": {"a check panicked", func(_ *ops, e *ext) {
			e.PreCheck = chain.New(checks.Check("quota", func(context.Context, *checks.Request[*pool]) (checks.Result, error) { panic(errBoom) }))
		}, place{flow.StateFailed, flow.PointPreCheck, "quota"}},
		"AfterPass": {"a link panicked after the pass", func(_ *ops, e *ext) {
			e.Pass = on("lock", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
				_, _ = next(ctx, p)
				panic(errBoom)
			})
		}, place{flow.StateFailed, flow.PointPass, "lock"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, e := (&cloud{}).storing(), ext{}
			tc.set(&o, &e)
			for how, opts := range map[string][]flow.Option{"plain": nil, "explained": {flow.WithExplanations(1), flow.WithBackoff(flow.NewBackoff())}} {
				out := flow.New("Pool", o, e, opts...).Reconcile(t.Context(), &pool{})
				mustEqual(t, how+": "+tc.reason, tc.want, placeOf(out))
				mustBe(t, how+": errors.Is finds the error in a panic", errBoom, out.Err())
				var p *chain.PanicError
				if !errors.As(out.Err(), &p) || len(p.Stack) == 0 || p.Link != tc.want.Link {
					t.Errorf("%s: the error is %#v, not a panic of link %q with its stack", how, out.Err(), tc.want.Link)
				}
				mustEqual(t, how+": a panic is retried slowly", classify.Slow, out.Retry())
				mustEqual(t, how+": a panic has one reason, wherever it was", flow.ReasonPanic, out.Reason())
			}
		})
	}
}

// After Apply, Get runs again, so that PostCheck sees what Apply changed.
func TestGetAfterApply(t *testing.T) {
	cases := map[string]struct {
		reason string
		again  flow.Observation
		want   string
	}{
		"Absent": {"Apply and Get contradict each other, so nothing shows that the resource exists", flow.Observation{Presence: checks.Absent},
			"blocked at PostCheck: ResourceAbsent: Get did not find the resource in the cloud after Apply had succeeded"},
		"Remembered": {"a link that reads nothing cannot contradict Apply", flow.Observation{Presence: checks.Absent, Skip: "read a minute ago"},
			"blocked at PostCheck by sees: Sees: present"},
		"Unknown": {"nor can a Get that knows nothing", flow.Observation{}, "blocked at PostCheck by sees: Sees: present"},
	}
	for name, tc := range cases {
		get := link("get", func(_ context.Context, req *request, _ nextGet) (flow.Observation, error) {
			if req.Applied {
				return tc.again, nil
			}
			return flow.Observation{Presence: checks.Absent}, nil
		})
		sees := checks.Check("sees", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			return checks.Block("Sees", req.Presence.String()), nil
		})
		out := flow.New("Pool", (&cloud{}).operations(), ext{Get: chain.New(get), PostCheck: chain.New(sees)}).Reconcile(t.Context(), &pool{})
		mustEqual(t, name+": "+tc.reason, tc.want, out.String())
		mustEqual(t, name+": the resource may appear a moment later", classify.Slow, out.Retry())
	}
}

func TestOwner(t *testing.T) {
	byID := checks.Object{Ref: checks.Ref{ID: "/fleets/north"}}
	found := checks.Object{Ref: fleet, Value: &struct{}{}, Readiness: checks.Readiness{State: checks.Ready}}
	resolve := func(o checks.Object, err error) checks.Resolver {
		return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
			if ref != byID.Ref {
				return checks.Object{}, errors.New("the resolver got another reference")
			}
			return o, err
		}
	}
	cases := map[string]struct {
		reason   string
		owner    checks.Object
		resolver checks.Resolver
		want     place
		sees     checks.Object
		err      error
	}{
		"ByID":       {"the resolver finds an owner that has only an ID", byID, resolve(found, nil), place{State: flow.StateReady}, found, nil},
		"ByIDFails":  {"an error of the resolver fails the pass", byID, resolve(found, errBoom), place{flow.StateFailed, flow.PointOwner, ""}, checks.Object{}, errBoom},
		"ByIDNone":   {"an owner that the resolver does not find keeps its ID", byID, resolve(checks.Object{Ref: fleet}, nil), place{State: flow.StateReady}, byID, nil},
		"NoResolver": {"without a resolver, too", byID, nil, place{State: flow.StateReady}, byID, nil},
		"Named":      {"the resolver is not called for an owner with a name", checks.Object{Ref: fleet}, resolve(found, nil), place{flow.StateBlocked, flow.PointOwnerCheck, "OwnerReady"}, checks.Object{Ref: fleet}, nil},
		"Found":      {"nor for one that was found", checks.Object{Ref: byID.Ref, Value: 1, Readiness: found.Readiness}, resolve(checks.Object{}, errBoom), place{State: flow.StateReady}, checks.Object{Ref: byID.Ref, Value: 1, Readiness: found.Readiness}, nil},
		"SetFound":   {"nor is the lister for a set", checks.Object{Ref: checks.Query{Kind: "Fleet"}.Ref(), Value: 1, Readiness: found.Readiness}, nil, place{State: flow.StateReady}, checks.Object{Ref: checks.Query{Kind: "Fleet"}.Ref(), Value: 1, Readiness: found.Readiness}, nil},
		"ByIDPanics": {"a panic of the resolver fails the pass", byID, func(context.Context, checks.Ref) (checks.Object, error) { panic(errBoom) }, place{flow.StateFailed, flow.PointOwner, ""}, checks.Object{}, errBoom},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{owner: tc.owner}
			var sees checks.Object
			look := checks.Check("look", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
				sees = req.Owner
				return checks.Proceed(), nil
			})
			r := flow.New("Pool", c.operations(), ext{OwnerCheck: chain.New(look, checks.OwnerReady())}, flow.WithResolver(tc.resolver))
			out := r.Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, tc.sees, sees, allFields)
			mustBe(t, tc.reason, tc.err, out.Err())
			if name == "ByIDFails" {
				mustEqual(t, tc.reason, "the owner /fleets/north: boom", out.Err().Error())
			}
		})
	}
}

// Get runs before the first check of DeleteCheck that may need it.
func TestGetBeforeDeleteCheck(t *testing.T) {
	owned, seen := checks.OnOwner[*pool](checks.OwnerReady()), checks.ResourceIs("seen", func(*pool) string { return "" })
	releases := checks.ResourceIs("kept", func(*pool) string { return "it is kept" }, checks.WithVerdict(checks.Release("")))
	skips := checks.All(checks.OnOwner[*pool](returns[*checks.OwnerRequest]("skips", checks.Skip("by force"), nil)))
	down := errors.New("the cloud is down")
	type links = []checks.Middleware[*pool]
	cases := map[string]struct {
		reason string
		links  links
		fails  error // of Get
		want   place
		calls  []string
	}{
		"None":        {"without a check there is no Get", nil, nil, place{State: flow.StateGone}, []string{"owner", "delete"}},
		"OwnerOnly":   {"a stopped owner would refuse the request, and the check does not see the resource", links{checks.All(owned)}, nil, place{State: flow.StateGone}, []string{"owner", "delete"}},
		"AllBoth":     {"one check of a group sees the resource", links{checks.All(owned, seen)}, nil, place{State: flow.StateGone}, []string{"owner", "get", "delete"}},
		"Later":       {"the second check sees the resource", links{owned, seen}, nil, place{State: flow.StateGone}, []string{"owner", "get", "delete"}},
		"Skip":        {"a Skip leaves out the checks after Get, and Get", links{skips, seen}, down, place{State: flow.StateGone}, []string{"owner", "delete"}},
		"Release":     {"an error of Get does not hold a deletion that is released", links{releases, seen}, down, place{flow.StateGone, "DeleteCheck", "kept"}, []string{"owner"}},
		"ReleaseLast": {"a release after a check that needs Get waits for Get", links{seen, releases}, down, place{flow.StateFailed, "Get", ""}, []string{"owner", "get"}},
	}
	for name, tc := range cases {
		c := &cloud{getErr: tc.fails}
		out := flow.New("Pool", c.operations(), ext{DeleteCheck: chain.New(tc.links...)}).Reconcile(t.Context(), &pool{deleting: true})
		mustEqual(t, name+": "+tc.reason, tc.want, placeOf(out))
		mustEqual(t, name+": "+tc.reason, tc.calls, c.take())
	}
}

// Without Operations.Delete there is nothing to remove but the token of an
// earlier Delete.
func TestWithoutDelete(t *testing.T) {
	for token, want := range map[string][]string{"": {"owner", "get", "DeleteCheck"}, "delete:d1": {"owner", `store "" for 0`}} {
		c := &cloud{}
		o := c.storing()
		o.Delete = nil
		out := flow.New("Pool", o, ext{DeleteCheck: c.extensions().DeleteCheck}).Reconcile(t.Context(), &pool{deleting: true, token: token})
		mustEqual(t, "the resource is gone", flow.StateGone, out.State())
		mustEqual(t, "the token is dropped", want, c.take())
	}
}

// If a user takes a deletion back, the flow applies the resource and drops the
// token of the DELETE.
func TestDeletionTakenBack(t *testing.T) {
	c := &cloud{}
	out := flow.New("Pool", c.storing(), ext{}).Reconcile(t.Context(), &pool{token: "delete:d1"})
	mustEqual(t, "Apply does not get the token of the DELETE", []string{"owner", "get", "apply", `store "" for 0`}, c.take())
	mustBeReady(t, "the resource is Ready", out)
}

// A check may return a block together with an error, as All does. The pass
// fails, and lists the awaited objects of the block.
func TestErrorWithBlock(t *testing.T) {
	c := &cloud{}
	out := flow.New("Pool", c.operations(), ext{PreCheck: chain.New(checks.All(
		returns[*checks.Request[*pool]]("quota", checks.Block("NoQuota", "no quota", checks.WithWaitingFor(fleet)), nil),
		returns[*checks.Request[*pool]]("image", checks.Result{}, errBoom),
	))}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "the error wins", place{flow.StateFailed, flow.PointPreCheck, "All(quota, image)"}, placeOf(out))
	mustEqual(t, "the outcome has the awaited object", []checks.Ref{fleet}, out.WaitingFor())
	mustEqual(t, "the error has the text of the block", "image: boom; and blocked: no quota", out.Err().Error())
	mustEqual(t, "the message names the check", []string{flow.ReasonCheckFailed, "check All(quota, image) failed: image: boom; and blocked: no quota"}, []string{out.Reason(), out.Message()})
}

// The request of a check has the owner, the API version and the resolver.
func TestRequestOfChecks(t *testing.T) {
	c, p := &cloud{owner: checks.Object{Ref: fleet}}, &pool{name: "p"}
	var got []any
	r := flow.New("Pool", c.operations(), ext{PreCheck: chain.New(checks.Check("look", func(ctx context.Context, req *checks.Request[*pool]) (checks.Result, error) {
		o, err := req.Resolver(ctx, fleet)
		got = []any{req.Resource, req.Owner.Ref, req.APIVersion, req.Deleting, o.Ref, err}
		return checks.Proceed(), nil
	}))}, flow.WithAPIVersion("2024-05-01"), flow.WithResolver(func(_ context.Context, ref checks.Ref) (checks.Object, error) { return checks.Object{Ref: ref}, nil }))
	r.Reconcile(t.Context(), p)
	mustEqual(t, "the request has the values of the options", []any{p, fleet, "2024-05-01", false, fleet, error(nil)}, got, allFields)

	o := c.operations()
	o.Apply = func(_ context.Context, req *request) (flow.Progress, error) {
		req.Resource = &pool{name: "fresh"}
		return flow.Done(), nil
	}
	flow.New("Pool", o, ext{PostCheck: chain.New(checks.Check("look", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
		got = []any{req.Resource.name, req.Applied}
		return checks.Proceed(), nil
	}))}).Reconcile(t.Context(), p)
	mustEqual(t, "a check after Apply sees the resource that Apply returned, and that Apply has succeeded", []any{"fresh", true}, got)
}

// A rule sees the point and the link that failed, also for each cause of a
// joined error, and a function of Classify the resource.
func TestClassifyLink(t *testing.T) {
	fails := func(name string, err error) func(*cloud, *ext) {
		return func(_ *cloud, e *ext) {
			e.PreCheck = chain.New(returns[*checks.Request[*pool]](name, checks.Result{}, err))
		}
	}
	two := errors.Join(errBoom, errors.New("bang"))
	const own = 5 * time.Minute
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ext)
		points []string // of each cause
		link   string
	}{
		"Mine":   {"the errors of one check have a delay of their own", fails("mine", errBoom), []string{flow.PointPreCheck}, "mine"},
		"Other":  {"other checks have the default", fails("other", errBoom), []string{flow.PointPreCheck}, "other"},
		"Joined": {"a joined error has the link of each cause", fails("mine", two), []string{flow.PointPreCheck, flow.PointPreCheck}, "mine"},
		"Pass": {"a link around the pass", func(_ *cloud, e *ext) {
			e.Pass = on("around", instead[*pool](flow.Outcome{}, errBoom))
		}, []string{flow.PointPass}, "around"},
		"Owner": {"an error without a link has no name", func(c *cloud, _ *ext) { c.ownerErr = errBoom }, []string{flow.PointOwner}, ""},
		"Apply": {"two causes of an operation", func(c *cloud, _ *ext) { c.answers = []answer{{err: two}} }, []string{flow.PointApply, flow.PointApply}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var seen, want []any
			look := func(next classify.Handler) classify.Handler {
				return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
					seen = append(seen, f.Point, f.Link, f.Resource)
					return next(ctx, f)
				}
			}
			c, p := &cloud{}, &pool{name: "p"}
			e := ext{Classify: classify.Table{{Name: "mine", Link: "mine", Retry: classify.Slow, After: own}}.Chain().Prepend(look)}
			tc.set(c, &e)
			out := flow.New("Pool", c.operations(), e, flow.WithBackoff(plain())).Reconcile(t.Context(), p)
			for _, point := range tc.points {
				want = append(want, point, tc.link, p)
			}
			mustEqual(t, tc.reason, want, seen, allFields)
			delay, _ := out.Again()
			mustEqual(t, tc.reason, tc.link == "mine", delay == own)
		})
	}
}

// The API version belongs to the resource: rules, checks and the explanation see
// it, also if resources are never deleted.
func TestAPIVersionOfResources(t *testing.T) {
	c := &cloud{getErr: response(http.StatusConflict, "Odd")}
	o := c.operations()
	o.APIVersion = func(p *pool) string { return p.name }
	never := o
	never.Deleting, never.Delete = nil, nil
	asked := ""
	e := ext{
		Classify: classify.Table{{Name: "old API", Code: "Odd", APIVersions: "<2024-01-01", Retry: classify.VerySlow}}.Chain(),
		OwnerCheck: chain.New(checks.Check("look", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
			asked = req.APIVersion
			return checks.Proceed(), nil
		})),
	}
	for _, tc := range []struct {
		reason, name, version string
		retry                 classify.Retry
	}{
		{"a resource of an old version", "2023-05-01", "2023-05-01", classify.VerySlow},
		{"a resource of a newer version", "2024-05-01", "2024-05-01", classify.Slow},
		{"a resource without a version", "", "2025-01-01", classify.Slow},
	} {
		for _, o := range []ops{o, never} {
			got := explain(t, o, e, &pool{name: tc.name}, flow.WithAPIVersion("2025-01-01"))
			mustEqual(t, tc.reason, []string{tc.retry.String(), tc.version, tc.version}, []string{got.Retry, got.APIVersion, asked})
		}
	}
}

// The reconciler's clock turns a date in Retry-After into a delay.
func TestRetryAfterDate(t *testing.T) {
	header := http.Header{"Retry-After": {noon.Add(time.Minute).Format(http.TimeFormat)}}
	c := &cloud{getErr: &azcore.ResponseError{StatusCode: http.StatusServiceUnavailable, RawResponse: &http.Response{Header: header, Body: http.NoBody}}}
	out := flow.New("Pool", c.operations(), ext{}, flow.WithErrors(azure.Errors()), flow.WithClock((&clock{noon}).now)).Reconcile(t.Context(), &pool{})
	mustEqual(t, "a minute from noon", time.Minute, out.After())
}

// Key may be costly: a pass that stores nothing by key does not call it.
func TestKeyIsCalledIfNeeded(t *testing.T) {
	cases := map[string]struct {
		reason string
		opt    flow.Option
		passes int // that call Key, of two
	}{
		"Plain":       {"a pass in sync stores nothing", flow.WithoutBackoff(), 0},
		"Observed":    {"an observer that does not ask for the key needs none", flow.WithObserver(&recorder{}), 0},
		"Explanation": {"explanations are stored by key", flow.WithExplanations(1), 2},
	}
	for name, tc := range cases {
		c := &cloud{seen: flow.Observation{Presence: checks.Present, InSync: true}}
		o, calls := c.operations(), 0
		o.Key = func(*pool) string { calls++; return "p" }
		r := flow.New("Pool", o, ext{}, tc.opt)
		for range 2 {
			mustEqual(t, name, flow.StateReady, r.Reconcile(t.Context(), &pool{}).State())
		}
		mustEqual(t, name+": "+tc.reason, tc.passes, calls)
	}
}

// The stack of a panic begins at the function that panicked, however many links
// are around it.
func TestStackOfPanic(t *testing.T) {
	var e ext
	for range 100 {
		e.Apply = e.Apply.Append(link("through", hands[*request, flow.Progress]))
	}
	o := (&cloud{}).operations()
	o.Apply = culprit
	for name, opts := range map[string][]flow.Option{"plain": nil, "observed": {flow.WithObserver(&recorder{}), flow.WithExplanations(1)}} {
		t.Run(name, func(t *testing.T) {
			out := flow.New("Pool", o, e, opts...).Reconcile(t.Context(), &pool{})
			p, _ := out.Err().(*chain.PanicError)
			if p == nil {
				t.Fatalf("no panic: %v", out.Err())
			}
			lines := strings.Split(string(p.Stack), "\n")
			if i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "flow_test.culprit") }); i < 0 || i > 10 {
				t.Errorf("the function that panicked is not in the first lines of the stack:\n%s", p.Stack)
			}
		})
	}
}

func culprit(context.Context, *request) (flow.Progress, error) { panic("on purpose") }

// A link on Pass can return only the outcome of its pass, an error or Stop.
func TestPass(t *testing.T) {
	once := func(f func(context.Context, *pool, nextPass) (flow.Outcome, error)) flow.Outcome {
		return flow.New("Pool", (&cloud{}).operations(), ext{Pass: on("once", f)}).Reconcile(t.Context(), &pool{})
	}
	stop := flow.Stop(checks.Block("Locked", "the lock is held elsewhere")) // several passes return it
	stopped, another := once(instead[*pool](stop, nil)), blocked(t, checks.Block("No", "no"))
	var yesterday flow.Outcome
	once(func(ctx context.Context, p *pool, next nextPass) (out flow.Outcome, err error) {
		yesterday, err = next(ctx, p)
		return yesterday, err
	})
	atLink := func(s flow.State) place { return place{s, flow.PointPass, "link"} }
	blocks, fails := atLink(flow.StateBlocked), atLink(flow.StateFailed)
	const held = "the lock is held elsewhere"
	noOutcome, foreign := "flow: link link: "+flow.ErrNoOutcome.Error(), "flow: link link: "+flow.ErrForeignOutcome.Error()

	cases := map[string]struct {
		reason string
		link   func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error)
		want   place
		err    error
		text   string
		calls  int
	}{
		"Error":         {"an error before next fails the pass", instead[*pool](flow.Outcome{}, errBoom), fails, errBoom, "boom", 0},
		"Stop":          {"a Stop before next ends the pass", instead[*pool](stop, nil), blocks, nil, held, 0},
		"StopAfterNext": {"a Stop after next replaces the outcome", afterNext[*pool](stop, nil), blocks, nil, held, 3},
		"StopNoBlock":   {"Stop accepts only a block or an ignore", instead[*pool](flow.Stop(checks.Proceed()), nil), fails, flow.ErrNoOutcome, noOutcome, 0},
		"Zero":          {"the zero Outcome is not a result", afterNext[*pool](flow.Outcome{}, nil), fails, flow.ErrNoOutcome, noOutcome, 3},
		"Remembered":    {"the outcome of an earlier pass is refused", instead[*pool](yesterday, nil), fails, flow.ErrForeignOutcome, foreign, 0},
		"Stopped":       {"the outcome of a pass that Stop ended is refused, too", instead[*pool](stopped, nil), fails, flow.ErrForeignOutcome, foreign, 0},
		"Foreign":       {"the outcome of another reconciler is refused", afterNext[*pool](another, nil), fails, flow.ErrForeignOutcome, foreign, 3},
		"NoContext": {"the context of next must contain the pass", func(_ context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			return next(context.Background(), p)
		}, fails, flow.ErrForeignRequest, flow.ErrForeignRequest.Error(), 0},
		"Twice": {"the last call of next counts", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			_, _ = next(ctx, p)
			return next(ctx, p)
		}, place{State: flow.StateReady}, nil, "", 6},
		"Swallows": {"an outer link may ignore the error of an inner link", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			out, _ := chain.After(func(context.Context, *pool, flow.Outcome) error { return errBoom })(next)(ctx, p)
			return out, nil
		}, place{State: flow.StateReady}, nil, "", 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for how, e := range map[string]ext{
				"alone": {Pass: on("link", tc.link)},
				"outer": {Pass: on("link", tc.link).Append(link("other", hands[*pool, flow.Outcome]))},
				"inner": {Pass: on("before", hands).Append(link("link", tc.link))},
			} {
				c := &cloud{}
				out := flow.New("Pool", c.operations(), e).Reconcile(t.Context(), &pool{generation: 3})
				mustEqual(t, how+": "+tc.reason, tc.want, placeOf(out))
				mustEqual(t, how+": "+tc.reason, []any{tc.text, tc.calls}, []any{out.Message(), len(c.take())})
				mustBe(t, how+": "+tc.reason, tc.err, out.Err())
				if out.State() == flow.StateReady {
					continue
				}
				mustEqual(t, how+": the outcome has the generation of the spec", int64(3), out.Generation())
			}
		})
	}
}

// A link on Get may replace the GET. It must pass the request of the pass to
// next.
func TestGetLinks(t *testing.T) {
	inSync := flow.Observation{Presence: checks.Present, InSync: true}
	cached := inSync
	cached.Skip = "read a minute ago"
	refused := place{flow.StateFailed, flow.PointGet, "link"}
	cases := map[string]struct {
		reason string
		link   func(ctx context.Context, req *request, next nextGet) (flow.Observation, error)
		noGet  bool
		want   place
		calls  []string
	}{
		"InPlace":          {"a link with a reason may replace Get", instead[*request](cached, nil), false, place{State: flow.StateReady}, []string{"owner"}},
		"InSyncWithoutGet": {"InSync needs Get, or a reason", instead[*request](inSync, nil), false, refused, []string{"owner"}},
		"InSyncAfterError": {"InSync after an error of Get needs a reason", afterNext[*request](inSync, nil), false, refused, []string{"owner", "get"}},
		"Adjusts":          {"a link may change the observation of Get", afterNext[*request](inSync, nil), false, place{State: flow.StateReady}, []string{"owner", "get"}},
		"WithoutGet": {"an Observation that is not in sync needs no reason", instead[*request](flow.Observation{Presence: checks.Present}, nil),
			false, place{State: flow.StateReady}, []string{"owner", "apply"}},
		"NoGet": {"without Operations.Get, InSync needs no reason", afterNext[*request](inSync, nil), true, place{State: flow.StateReady}, []string{"owner"}},
		"Foreign": {"a request that the link made is refused", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
			return next(ctx, &request{Request: req.Request})
		}, false, refused, []string{"owner"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			o := c.operations()
			if tc.noGet {
				o.Get = nil
			}
			if name == "InSyncAfterError" {
				c.getErr = errBoom
			}
			out := flow.New("Pool", o, ext{Get: chain.New(link("link", tc.link))}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, tc.calls, c.take())
			if out.State() == flow.StateFailed && !errors.Is(out.Err(), flow.ErrForeignRequest) && !errors.Is(out.Err(), flow.ErrNotSeen) {
				t.Errorf("%s: the error is %v", tc.reason, out.Err())
			}
		})
	}
}

// hanging is a user's function that hangs in one of its calls.
type hanging struct {
	left             atomic.Int64 // the calls until the one that hangs
	entered, release chan struct{}
}

func (h *hanging) call() {
	if h.left.Add(-1) == 0 {
		close(h.entered)
		<-h.release
	}
}

// A user's function that hangs stops only its own pass, because the flow holds
// no lock while it calls one. If it held one, this test would not end.
func TestHangingFunctionStopsOneResource(t *testing.T) {
	for in, reason := range map[string]string{
		"Key":   "the key of the tokens in memory, the counts, the time-outs and the explanations",
		"Apply": "the operation of the resource",
		"Clock": "the clock of all resources",
	} {
		for n := int64(1); n <= 8; n++ {
			t.Run(fmt.Sprint(in, "/", n), func(t *testing.T) {
				h := &hanging{entered: make(chan struct{}), release: make(chan struct{})}
				call := func(function string, stuck bool) {
					if function == in && stuck {
						h.call()
					}
				}
				o := ops{
					Key: func(p *pool) string {
						call("Key", p.name == "stuck")
						return p.name
					},
					Apply: func(_ context.Context, req *request) (flow.Progress, error) {
						call("Apply", req.Resource.name == "stuck")
						return flow.InProgress("a", 0), nil
					},
				}
				now := func() time.Time {
					call("Clock", true)
					return time.Time{}
				}
				r := flow.New("Pool", o, ext{}, flow.WithClock(now), flow.WithBackoff(flow.NewBackoff(flow.WithBackoffClock(now))),
					flow.WithExplanations(5))
				stuck, other := &pool{name: "stuck"}, &pool{name: "other"}
				r.Reconcile(t.Context(), stuck) // its token is in memory now

				h.left.Store(n)
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					r.Reconcile(context.Background(), stuck)
				}()
				select {
				case <-h.entered:
				case <-ended: // a pass makes fewer calls
				}
				for range 2 {
					mustEqual(t, reason, flow.StateInProgress, r.Reconcile(t.Context(), other).State())
				}
				if _, ok := r.Explain("other"); !ok {
					t.Error("there is no explanation of the other resource")
				}
				close(h.release)
				<-ended
			})
		}
	}
}

// notingError is an error whose text makes a note.
type notingError struct{ ctx context.Context }

func (e notingError) Error() string {
	chain.Note(e.ctx, "read")
	return "boom"
}

// The trace holds no lock while it reads the text of an error. If it held one,
// this test would not end.
func TestTraceReadsErrorsWithoutLock(t *testing.T) {
	o := (&cloud{}).operations()
	o.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) { return flow.Progress{}, notingError{ctx} }
	if e := explain(t, o, ext{}, &pool{name: "p"}); e.Error != "boom" {
		t.Errorf("the trace has the error %q", e.Error)
	}
}

// hostileTexts holds texts that a service, an owner or a user may send. The
// secret in them is hunter2.
var hostileTexts = map[string]string{
	"Row":       "busy\n> Apply         deploy  proceed\r\n  Apply  proceed",
	"Rows":      "busy\u2028> Apply\u2029> Apply\u0085> Apply\v> Apply\f> Apply",
	"Terminal":  "\x1b[2J\x1b[1;1Hall is well\x07\x9b31m\x00",
	"Bidi":      "abc \u202e\u2066cba\u2069\u200f\u061c",
	"Invisible": "a\u200bb\u00ad\ufeff\u3164\U000e0061",
	"Invalid":   "a\xff\xc3(\xed\xa0\x80",
	"Long":      strings.Repeat("ü quota ", 100_000),
	"LongWord":  strings.Repeat("x", 700_000),
	"Markup":    "\"]\n  evil[\"<script>`#`&lt;%%{init}%% \\n",
	"SAS":       "GET https://a/c?sv=1&sig=hunter2: 403",
	"JSON":      "{\n  \"client_secret\": \"hunter2\"\n}",
	"Header":    "Authorization: Bearer hunter2",
	"Bearer":    "sent Bearer hunter2",
	"URL":       "dial https://user:hunter2@host",
	"Account":   "AccountName=a;AccountKey=hunter2;x=y",
}

// mustBeLine fails unless text is one line that is safe to show.
func mustBeLine(t *testing.T, place, text string, most int) {
	t.Helper()
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("%s has a character that is not visible: %q", place, text[i:min(len(text), i+40)])
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s is not valid UTF-8: %q", place, text[:min(len(text), 100)])
	}
	if len(text) > most {
		t.Errorf("%s has %d bytes", place, len(text))
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("%s has a secret: %s", place, text[:min(len(text), 200)])
	}
}

// mustBeLines fails unless text has as many lines as sound, each safe to show.
// sound is the same text for harmless names.
func mustBeLines(t *testing.T, place, text, sound string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if want := strings.Count(strings.TrimSuffix(sound, "\n"), "\n") + 1; len(lines) != want {
		t.Errorf("%s has %d lines, want %d:\n%.2000s", place, len(lines), want, text)
	}
	for _, line := range lines {
		mustBeLine(t, place, line, 40_000)
	}
}

// show shows passes in which text is the name, the key, the message and the
// error. texts holds all that the library prints of them.
func show(t *testing.T, text string) (texts map[string]string, outcomes []flow.Outcome, explained []flow.Explanation) {
	block := checks.Block("Waits", text, checks.WithWaitingFor(checks.Ref{Kind: text, Namespace: text, Name: text, ID: text}))
	noted := chain.Named(text, checks.Gate("noted", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
		chain.Note(ctx, text)
		return block, nil
	}))
	c := &cloud{owner: checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: text}, Value: &pool{}, Readiness: checks.Readiness{State: checks.NotReady, Reason: text, Message: text}}}
	failing := c.operations()
	failing.Key = func(p *pool) string { return p.name }
	failing.APIVersion = func(*pool) string { return text }
	failing.Apply = func(context.Context, *request) (flow.Progress, error) {
		return flow.Progress{}, errors.Join(errors.New(text), response(409, text))
	}
	panicking := failing
	panicking.Apply = func(context.Context, *request) (flow.Progress, error) { panic(text) }
	polling := failing
	polling.Owner, polling.Get = nil, nil
	polling.Token = func(*pool) (string, int64) { return text, 0 }
	polling.SetToken = func(context.Context, *pool, string, int64) error { return errors.New(text) }
	waiting := failing
	waiting.Apply = func(context.Context, *request) (flow.Progress, error) {
		return flow.InProgress("a", 0).WithMessage(text), nil
	}
	skipping := ext{PreCheck: chain.New(chain.Named(text, checks.Gate("skip", func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
		return checks.Skip(text), nil
	})))}
	texts = map[string]string{}
	for _, run := range []struct {
		o ops
		e ext
	}{
		{failing, ext{}}, {panicking, skipping}, {polling, ext{}}, {waiting, ext{}},
		{failing, ext{PreCheck: chain.New(noted)}},
		{failing, ext{OwnerCheck: chain.New(checks.OwnerReady())}},
		{failing, ext{OwnerCheck: chain.New(returns[*checks.OwnerRequest](text, checks.Result{}, errors.New(text)))}},
	} {
		r := flow.New(text, run.o, run.e, flow.WithExplanations(1))
		out := r.Reconcile(t.Context(), &pool{name: text})
		e, ok := r.Explain(text)
		if !ok {
			t.Error("there is no explanation under the raw key")
		}
		outcomes, explained = append(outcomes, out), append(explained, e)
		texts["Explanation.String"] += e.String()
		texts["Reconciler.String"] += r.String()
		texts["Mermaid"] += r.Mermaid()
	}
	texts["Chain.String"] = chain.New(noted).String()
	texts["Table.String"] = classify.Table{{Name: text, Code: "A", Retry: classify.Slow}}.String()
	step := flow.Step{Point: text, Link: text, Verdict: text, Error: text, Notes: []string{text}}
	texts["Explanation.String of a literal"] = flow.Explanation{Name: text, Key: text, Message: text, Steps: []flow.Step{step}}.String()
	return texts, outcomes, explained
}

// The library shows foreign text safely everywhere.
func TestHostileTexts(t *testing.T) {
	sound, _, _ := show(t, "sound")
	for name, text := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			texts, outcomes, explained := show(t, text)
			for what, lines := range texts {
				mustBeLines(t, what, lines, sound[what])
			}
			for _, line := range strings.Split(strings.TrimSuffix(texts["Mermaid"], "\n"), "\n") {
				if !mermaidLine.MatchString(line) {
					t.Errorf("this is no line of a Mermaid flowchart: %s", line)
				}
			}
			for _, e := range explained {
				data, err := json.Marshal(e)
				if err != nil {
					t.Error(err)
				}
				mustBeLine(t, "the JSON of an Explanation", string(data), 200_000)
				for d := json.NewDecoder(bytes.NewReader(data)); ; {
					token, err := d.Token()
					if text, ok := token.(string); ok {
						mustBeLine(t, "a text of the JSON", text, 32768)
					}
					if err != nil {
						mustEqual(t, "the end of the JSON", io.EOF.Error(), err.Error())
						break
					}
				}
			}
			for _, out := range outcomes {
				mustBeLine(t, "Outcome.String", out.String(), 32768)
				mustBeLine(t, "Outcome.Message", out.Message(), 32768)
				mustBeLine(t, "Outcome.Link", out.Link(), 200)
				mustBeLine(t, "Outcome.Rule", out.Rule(), 200)
				for _, c := range out.Conditions() {
					mustBeLine(t, "Outcome.Conditions", c.Message, 32768)
					mustBeLine(t, "Outcome.Conditions", c.Reason, 1024)
					if !reason.Valid(c.Reason) {
						t.Errorf("the reason %q is not valid", c.Reason)
					}
				}
			}
			block := checks.Block("Waits", text, checks.WithWaitingFor(checks.Ref{Kind: "Fleet", Name: text}))
			mustBeLine(t, "Result.String", block.String(), 4000)
			mustBeLine(t, "Result.String of a wrong reason", checks.Block(text, text).String(), 4000)
			mustBeLine(t, "Ref.String", checks.Ref{Kind: text, Name: text}.String(), 1000)
			mustEqual(t, "the message of a result is raw", text, block.Message())
			for _, err := range []error{errors.New(text), response(409, text)} {
				c, _ := classify.Compose(classify.Chain{})(t.Context(), classify.NewFailure(err, "", time.Time{}, classify.Errors{}))
				mustBeLine(t, "Classification.String", c.String(), 2000)
				mustBeLine(t, "Classification.Reason", c.Reason(), 1024)
			}
		})
	}
}

// endless unwraps to itself, more often than any reader of errors needs.
type endless struct{ left *int }

func (endless) Error() string { return "endless" }
func (e endless) Unwrap() error {
	if *e.left--; *e.left < 0 {
		panic("a search of the error does not end")
	}
	return e
}

// errors.Is and errors.As of an error that unwraps to itself never end, and
// those of one whose Unwrap panics panic. Observers and engines call them with
// the error of a pass.
func TestUnreadableErrors(t *testing.T) {
	for reason, make := range map[string]func() error{
		"it unwraps to itself": func() error { return endless{new(20 * errtree.Max)} },
		"its Unwrap panics":    func() error { return hostile{} },
	} {
		t.Run(reason, func(t *testing.T) {
			o := (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.Progress{}, make() }
			out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, reason, flow.StateFailed, out.State())
			if found := (*flow.FailedError)(nil); errors.Is(out.Err(), errBoom) || errors.As(out.Err(), &found) {
				t.Errorf("%s: the error of the pass is %v", reason, out.Err())
			}

			o = (&cloud{}).operations()
			o.Apply = func(context.Context, *request) (flow.Progress, error) { return flow.InProgress("a", 0), nil }
			o.Token = func(*pool) (string, int64) { return "", 0 }
			o.SetToken = func(context.Context, *pool, string, int64) error { return make() }
			out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, reason+", of SetToken", flow.StateFailed, out.State())
			if out.Point() != flow.PointApply {
				t.Errorf("%s: the pass failed at %s: %v", reason, out.Point(), out.Err())
			}
		})
	}
}
