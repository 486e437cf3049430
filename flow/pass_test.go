package flow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
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
			e.Pass = on("lock", func(ctx context.Context, p *pool, next chain.Handler[*pool, flow.Outcome]) (flow.Outcome, error) {
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
	const absentAfterApply = "blocked at PostCheck: ResourceAbsent: Get did not find the resource in the cloud after Apply had succeeded"
	sees := func(c *cloud) checks.Chain[*pool] {
		return chain.New(checks.Check("sees", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			c.add("PostCheck sees %s, %s", req.Presence, req.Resource.name)
			return checks.Proceed(), nil
		}))
	}
	remembers := chain.New(func(next flow.GetHandler[*pool]) flow.GetHandler[*pool] {
		return func(_ context.Context, _ *request) (flow.Observation, error) {
			return flow.Observation{Presence: checks.Absent, Skip: "read a minute ago"}, nil
		}
	})
	leavesOut := chain.New(func(next flow.Handler[*pool]) flow.Handler[*pool] {
		return func(context.Context, *request) (flow.Progress, error) { return flow.Skip("not wanted"), nil }
	})
	cases := map[string]struct {
		reason string
		seen   flow.Observation // by Get after Apply
		apply  flow.Progress
		set    func(*ops, *ext)
		calls  []string
		want   string
	}{
		"Absent": {reason: "Apply and Get contradict each other, so nothing shows that the resource exists", seen: flow.Observation{Presence: checks.Absent},
			calls: []string{"owner", "get before", "apply", "get after"}, want: absentAfterApply},
		"AbsentFinished": {reason: "there is no Get, because its error would run a complete task again", seen: flow.Observation{Presence: checks.Absent},
			apply: flow.Finished("Complete", "the backup is complete"),
			calls: []string{"owner", "get before", "apply", "PostCheck sees present, before"}, want: "finished at Apply: Complete: the backup is complete"},
		"AbsentSkipped": {reason: "Skip does not say that the resource exists; the checks decide", seen: flow.Observation{Presence: checks.Absent},
			set:   func(_ *ops, e *ext) { e.Apply = leavesOut },
			calls: []string{"owner", "get before", "get after", "PostCheck sees absent, after"}, want: "ready"},
		"Remembered": {reason: "a link that reads nothing cannot contradict Apply",
			set:   func(_ *ops, e *ext) { e.Get = remembers },
			calls: []string{"owner", "apply", "PostCheck sees present, created"}, want: "ready"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			if tc.apply != (flow.Progress{}) {
				c.answers = []answer{{progress: tc.apply}}
			}
			o, e := c.storing(), ext{PostCheck: sees(c)}
			o.Get = func(_ context.Context, req *request) (flow.Observation, error) {
				if !req.Applied {
					c.add("get before")
					req.Resource.name = "before"
					return flow.Observation{Presence: checks.Absent}, nil
				}
				c.add("get after")
				req.Resource.name = "after"
				return tc.seen, nil
			}
			if tc.set != nil {
				tc.set(&o, &e)
			}
			out := flow.New("Pool", o, e).Reconcile(t.Context(), &pool{name: "created"})
			mustEqual(t, tc.reason, tc.calls, c.take())
			mustEqual(t, tc.reason, tc.want, strings.TrimSuffix(out.String(), ": "+flow.ReasonSucceeded))
			if out.State() == flow.StateBlocked {
				mustEqual(t, "the resource may appear a moment later", classify.Slow, out.Retry())
			}
		})
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
			e.Pass = on("around", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return flow.Outcome{}, errBoom })
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
	for _, observed := range []bool{false, true} {
		t.Run(fmt.Sprintf("observed=%t", observed), func(t *testing.T) {
			var e ext
			for range 100 {
				e.Apply = e.Apply.Append(link("through", hands[*request, flow.Progress]))
			}
			c := &cloud{}
			o := c.operations()
			o.Apply = culprit
			opts := []flow.Option{}
			if observed {
				opts = append(opts, flow.WithObserver(&recorder{}), flow.WithExplanations(1))
			}
			out := flow.New("Pool", o, e, opts...).Reconcile(t.Context(), &pool{})
			p, _ := out.Err().(*chain.PanicError)
			if p == nil {
				t.Fatalf("no panic: %v", out.Err())
			}
			lines := strings.Split(string(p.Stack), "\n")
			for i, line := range lines {
				if strings.Contains(line, "flow_test.culprit") {
					if i > 10 {
						t.Errorf("%d lines come before the function that panicked:\n%s", i, strings.Join(lines[:i+1], "\n"))
					}
					return
				}
			}
			t.Errorf("the function that panicked is not in the stack:\n%s", p.Stack)
		})
	}
}

func culprit(context.Context, *request) (flow.Progress, error) { panic("on purpose") }

// hands passes its request to next.
func hands[Req, Res any](ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
	return next(ctx, req)
}
