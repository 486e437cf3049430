package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// verdicts holds the fields of an outcome that an engine reads.
type verdicts struct {
	State        flow.State
	Point, Link  string
	Reason       string
	Message      string
	Conditions   string
	Again        time.Duration // 0: no pass follows
	KeepsStatus  bool
	Final        bool
	WaitsForSelf bool
	WaitingFor   []checks.Ref
	Generation   int64
}

func verdictsOf(out flow.Outcome) verdicts {
	v := verdicts{
		State: out.State(), Point: out.Point(), Link: out.Link(), Reason: out.Reason(), Message: out.Message(),
		KeepsStatus: out.KeepsStatus(), Final: out.Final(), WaitsForSelf: out.WaitsForSelf(), WaitingFor: out.WaitingFor(), Generation: out.Generation(),
	}
	for _, c := range out.Conditions() {
		v.Conditions += fmt.Sprintf("%s=%s ", c.Type, c.Status)
	}
	v.Again, _ = out.Again()
	return v
}

// Each decision that ends a pass without an error or a plain block.
func TestDecisions(t *testing.T) {
	on := func(point string, res checks.Result) ext {
		c := chain.New(returns[*checks.Request[*pool]]("decides", res, nil))
		switch point {
		case flow.PointPass:
			return ext{Pass: chain.New(link("decides", func(context.Context, *pool, nextPass) (flow.Outcome, error) { return flow.Stop(res), nil }))}
		case flow.PointEntryCheck:
			return ext{EntryCheck: c}
		case flow.PointOwnerCheck:
			return ext{OwnerCheck: chain.New(returns[*checks.OwnerRequest]("decides", res, nil))}
		case flow.PointPreCheck:
			return ext{PreCheck: c}
		case flow.PointPostCheck:
			return ext{PostCheck: c}
		}
		return ext{DeleteCheck: c}
	}
	const complete = "the backup is complete"
	cases := map[string]struct {
		reason   string
		point    string
		res      checks.Result
		deleting bool
		calls    []string
		want     verdicts
	}{
		"Ignore": {
			reason: "the resource of another controller gets no call and no condition",
			point:  flow.PointEntryCheck, res: checks.Ignore("the issuer is of another group"),
			want: verdicts{State: flow.StateIgnored, Message: "the issuer is of another group", KeepsStatus: true},
		},
		"IgnoreForNow": {
			reason: "an instance that may become responsible waits for an object, and is requeued",
			point:  flow.PointOwnerCheck, res: checks.Ignore("the cluster is a replica", checks.WithWaitingFor(fleet), checks.WithAfter(time.Minute)),
			calls: []string{"owner"},
			want: verdicts{State: flow.StateIgnored, Message: "the cluster is a replica", Again: time.Minute, KeepsStatus: true,
				WaitingFor: []checks.Ref{fleet}},
		},
		"StopForNow": {
			reason: "a link on Pass leaves the resource to another instance, with all that Ignore was given",
			point:  flow.PointPass, res: checks.Ignore("the shard is another one", checks.WithAfter(1), checks.WithWaitingFor(fleet), checks.WithWaitingForSelf()),
			want: verdicts{State: flow.StateIgnored, Message: "the shard is another one", Again: time.Second, KeepsStatus: true,
				WaitingFor: []checks.Ref{fleet}, WaitsForSelf: true},
		},
		"Finished": {
			reason: "a finished resource is Ready until its spec changes",
			point:  flow.PointPreCheck, res: checks.Finished("Complete", complete), calls: []string{"owner", "get"},
			want: verdicts{State: flow.StateFinished, Reason: "Complete", Message: complete, Conditions: "Ready=True Finished=True ", Final: true},
		},
		"FailedFinally": {
			reason: "a denied request is not retried",
			point:  flow.PointEntryCheck, res: checks.Block("Denied", "the approver denied the request", checks.WithRetry(classify.Never)),
			want: verdicts{State: flow.StateBlocked, Reason: "Denied", Message: "the approver denied the request",
				Conditions: "Ready=False Stalled=True Finished=True ", Final: true},
		},
		"NeverWhileDeleting": {
			reason: "no user changes the spec of a resource that is being deleted, so it is retried at the resync",
			point:  flow.PointDeleteCheck, res: checks.Block("InUse", "still in use", checks.WithRetry(classify.Never)), deleting: true,
			calls: []string{"owner", "get"},
			want: verdicts{State: flow.StateBlocked, Reason: "InUse", Message: "still in use", Conditions: "Ready=False Stalled=True ",
				Again: time.Hour},
		},
		"StopWhileDeleting": {
			reason: "a link on Pass ends no deletion for good either",
			point:  flow.PointPass, res: checks.Block("Locked", "held for good", checks.WithRetry(classify.Never)), deleting: true,
			want: verdicts{State: flow.StateBlocked, Reason: "Locked", Message: "held for good", Conditions: "Ready=False Stalled=True ",
				Again: time.Hour},
		},
		"Release": {
			reason: "a retained resource is forgotten without DELETE",
			point:  flow.PointDeleteCheck, res: checks.Release("the reclaim policy is retain"), deleting: true,
			calls: []string{"owner", "get"},
			want:  verdicts{State: flow.StateGone, Message: "the reclaim policy is retain"},
		},
		"StatusKept": {
			reason: "a short block leaves the conditions as they are, and is requeued",
			point:  flow.PointPreCheck, res: checks.Block("Locked", "another write runs", checks.WithStatusKept(), checks.WithRetry(classify.Fast)),
			calls: []string{"owner", "get"},
			want:  verdicts{State: flow.StateBlocked, Reason: "Locked", Message: "another write runs", Again: time.Second, KeepsStatus: true},
		},
		"StatusKeptFinally": {
			reason: "a final outcome has conditions, because the engine stores it there",
			point:  flow.PointPreCheck, res: checks.Block("Denied", "no", checks.WithStatusKept(), checks.WithRetry(classify.Never)),
			calls: []string{"owner", "get"},
			want:  verdicts{State: flow.StateBlocked, Reason: "Denied", Message: "no", Conditions: "Ready=False Stalled=True Finished=True ", Final: true},
		},
		"WaitsForSelf": {
			reason: "an approver writes the status of the same resource",
			point:  flow.PointPreCheck, res: checks.Block("ApprovalPending", "not approved", checks.WithWaitingForSelf()),
			calls: []string{"owner", "get"},
			want: verdicts{State: flow.StateBlocked, Reason: "ApprovalPending", Message: "not approved", Again: time.Second, WaitsForSelf: true,
				Conditions: "Ready=False Reconciling=True "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			out := flow.New("Pool", c.operations(), on(tc.point, tc.res), flow.WithBackoff(plain())).
				Reconcile(t.Context(), &pool{generation: 7, deleting: tc.deleting})
			tc.want.Point, tc.want.Link, tc.want.Generation = tc.point, "decides", 7
			mustEqual(t, tc.reason, tc.want, verdictsOf(out))
			mustEqual(t, tc.reason, tc.calls, c.take())
			mustEqual(t, "no decision is an error", nil, out.Err())
		})
	}
}

// A result that a point does not accept is an error that names the link and the
// point.
func TestMisplaced(t *testing.T) {
	raw := func(res checks.Result) checks.Chain[*pool] {
		return chain.New(link("raw", func(context.Context, *checks.Request[*pool], checks.Handler[*pool]) (checks.Result, error) {
			return res, nil
		}))
	}
	cases := map[string]struct {
		reason   string
		ext      ext
		deleting bool
		want     string
	}{
		"IgnoreAfterApply":  {"the resource is applied, so this controller manages it", ext{PostCheck: raw(checks.Ignore("not mine"))}, false, "flow: ignore at PostCheck: "},
		"ReleaseNotDeleted": {"no user deletes the resource", ext{PreCheck: raw(checks.Release("retained"))}, false, "flow: release at PreCheck: "},
		"FinishDeletion":    {"the resource would never be deleted", ext{DeleteCheck: raw(checks.Finished("Complete", ""))}, true, "flow: finish at DeleteCheck: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{}
			out := flow.New("Pool", c.operations(), tc.ext).Reconcile(t.Context(), &pool{deleting: tc.deleting})
			if !errors.Is(out.Err(), flow.ErrMisplaced) || out.State() != flow.StateFailed || out.Link() != "raw" {
				t.Errorf("%s: %v", tc.reason, out)
			}
			mustEqual(t, tc.reason, tc.want+flow.ErrMisplaced.Error(), out.Err().Error())
		})
	}
}

// PostCheck runs after a Finished of an operation. The Finished of an operation
// for an older spec has no effect.
func TestFinishedOperation(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.Finished("Complete", "42 objects")}, {progress: flow.Finished("Complete", "42 objects")}}}
	wait := true
	r := flow.New("Pool", c.operations(), ext{PostCheck: chain.New(checks.Check("copied", func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
		if wait {
			return checks.Block("NotCopied", "the copy is missing"), nil
		}
		return checks.Proceed(), nil
	}))})
	mustEqual(t, "PostCheck guards it", "NotCopied", r.Reconcile(t.Context(), &pool{}).Reason())
	wait = false
	mustEqual(t, "then it is finished", verdicts{
		State: flow.StateFinished, Point: flow.PointApply, Reason: "Complete", Message: "42 objects", Conditions: "Ready=True Finished=True ", Final: true,
		Generation: 7,
	}, verdictsOf(r.Reconcile(t.Context(), &pool{generation: 7})))

	c = &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.Finished("Complete", "old")}}}
	r = flow.New("Pool", c.operations(), ext{})
	r.Reconcile(t.Context(), &pool{generation: 1})
	c.seen = flow.Observation{Presence: checks.Present, InSync: true}
	mustEqual(t, "an operation for an older spec does not finish the resource", flow.StateReady, r.Reconcile(t.Context(), &pool{generation: 2}).State())

	link := ext{Apply: chain.New(link("early", func(context.Context, *request, flow.Handler[*pool]) (flow.Progress, error) {
		return flow.Finished("Complete", ""), nil
	}))}
	out := flow.New("Pool", (&cloud{}).operations(), link).Reconcile(t.Context(), &pool{})
	if !errors.Is(out.Err(), flow.ErrNotDone) {
		t.Errorf("a link returned Finished without the operation: %v", out)
	}
}

// The outcome lists the awaited objects of operations and errors, each once.
func TestAwaited(t *testing.T) {
	subnet := checks.Ref{Kind: "Subnet", Name: "s"}
	cases := map[string]struct {
		reason string
		answer answer
		want   []checks.Ref
	}{
		"InProgress": {"an operation waits for children", answer{progress: flow.InProgress("a", time.Second, fleet, subnet)}, []checks.Ref{fleet, subnet}},
		"Joined": {"a tree of errors names objects more than once",
			answer{err: fmt.Errorf("put: %w", errors.Join(flow.WaitFor(errBoom, subnet, checks.Ref{}), flow.WaitFor(flow.WaitFor(errBoom, fleet), subnet)))},
			[]checks.Ref{subnet, fleet}},
		"Literal": {"an error without a cause", answer{err: &flow.WaitError{Refs: []checks.Ref{subnet}}}, []checks.Ref{subnet}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{tc.answer}}
			out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
			mustEqual(t, tc.reason, tc.want, out.WaitingFor())
		})
	}
	mustEqual(t, "a nil error stays nil", nil, flow.WaitFor(nil, subnet))
	c := &cloud{answers: []answer{{err: flow.WaitFor(errBoom, subnet)}}}
	out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
	if !errors.Is(out.Err(), errBoom) || out.Message() != "applying failed: "+errBoom.Error() {
		t.Errorf("the cause is lost: %v", out)
	}
}

// A rule can make a failure final, or keep the status.
func TestRulesThatDecide(t *testing.T) {
	rules := classify.Table{
		{Name: "quota", Message: classify.Contains("quota"), Retry: classify.Never},
		{Name: "busy", Message: classify.Contains("busy"), Retry: classify.Fast, KeepStatus: true},
		{Name: "hopeless", Message: classify.Contains("hopeless"), Retry: classify.OnChange},
	}.Chain()
	fail := func(text string, deleting bool) verdicts {
		c := &cloud{answers: []answer{{err: errors.New(text)}}}
		v := verdictsOf(flow.New("Pool", c.operations(), ext{Classify: rules}, flow.WithBackoff(plain())).Reconcile(t.Context(), &pool{deleting: deleting}))
		v.Message = ""
		return v
	}
	mustEqual(t, "the failure is final", verdicts{
		State: flow.StateFailed, Point: flow.PointApply, Reason: "Quota", Conditions: "Ready=False Stalled=True Finished=True ", Final: true,
	}, fail("no quota", false))
	mustEqual(t, "the failure of a deletion is never final", verdicts{
		State: flow.StateFailed, Point: flow.PointDelete, Reason: "Quota", Conditions: "Ready=False Reconciling=True ", Again: time.Hour,
	}, fail("no quota", true))
	mustEqual(t, "a failure waits for the spec", verdicts{
		State: flow.StateFailed, Point: flow.PointApply, Reason: "Hopeless", Conditions: "Ready=False Stalled=True ", Again: time.Hour,
	}, fail("hopeless", false))
	mustEqual(t, "no user changes the spec of a deleted resource, so its failure does not wait for the spec", verdicts{
		State: flow.StateFailed, Point: flow.PointDelete, Reason: "Hopeless", Conditions: "Ready=False Reconciling=True ", Again: time.Hour,
	}, fail("hopeless", true))
	mustEqual(t, "the conditions stay as they are", verdicts{
		State: flow.StateFailed, Point: flow.PointApply, Reason: "Busy", Again: time.Second, KeepsStatus: true,
	}, fail("busy", false))
}

// A release that cannot remove the token of the resource fails the pass.
func TestReleaseRemovesTheToken(t *testing.T) {
	c := &cloud{}
	o := c.storing()
	o.SetToken = func(context.Context, *pool, string, int64) error { return errBoom }
	out := flow.New("Pool", o, ext{DeleteCheck: chain.New(returns[*checks.Request[*pool]]("gone", checks.Release("the fleet is gone"), nil))}).Reconcile(t.Context(), &pool{token: "a", deleting: true})
	mustEqual(t, "the pass fails if the token cannot be removed", place{flow.StateFailed, flow.PointDelete, ""}, placeOf(out))
	mustBe(t, "the pass fails if the token cannot be removed", errBoom, out.Err())
}
