package flowtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Outcome describes a [flow.Outcome], for tests of engines: the code that
// writes conditions, requeues and reports. [Outcome.Make] makes it by a pass of
// a real flow, so no field contradicts another one.
//
// The state decides which fields may be set. The zero Outcome makes the zero
// flow.Outcome.
type Outcome struct {
	State flow.State
	// Point is the point at which the pass ends. The default depends on the
	// state: EntryCheck for an ignored resource, PreCheck for a blocked or
	// finished one, Delete for a deletion, and Apply otherwise. Ready and gone
	// have no point.
	Point string
	// Link is the link that ends the pass. If it is empty, the operation ends
	// the pass, or a link named "link" at a point without an operation.
	Link string
	// Block is the result of the link, with its reason, refs and delay. It is
	// for [flow.StateBlocked], [flow.StateIgnored] and [flow.StateFinished].
	// The default has the reason "Blocked" or "Finished".
	Block checks.Result
	// Err is the error, for [flow.StateFailed]. The default has the text
	// "failed". A canceled pass has the error of its context.
	Err error
	// Retry, Rule, Reason and Message are the classification of Err. If all are
	// empty, the flow classifies Err. Otherwise the default of Retry is Slow.
	// At a point with checks, the message of the outcome also names the check.
	Retry                 classify.Retry
	Rule, Reason, Message string
	// WaitingFor lists the refs that a check returned together with Err.
	WaitingFor []checks.Ref
	// Following lists the objects and sets that the pass follows
	// ([checks.Follow]). It is for outcomes that [flow.Outcome.Following] allows,
	// at any point but Pass.
	Following []checks.Ref
	// After is the delay that the operation under way or the server asks for.
	// For an error it is at most an hour.
	After time.Duration
	// Generation is the generation of the resource.
	Generation int64
}

// endsAt lists the points at which a pass can end with each state, the default
// first.
var endsAt = map[flow.State][]string{
	flow.StateBlocked:    {flow.PointPreCheck, flow.PointPass, flow.PointEntryCheck, flow.PointOwnerCheck, flow.PointPostCheck, flow.PointDeleteCheck},
	flow.StateIgnored:    {flow.PointEntryCheck, flow.PointPass, flow.PointOwnerCheck, flow.PointPreCheck, flow.PointDeleteCheck},
	flow.StateFinished:   {flow.PointPreCheck, flow.PointEntryCheck, flow.PointOwnerCheck, flow.PointPostCheck},
	flow.StateFailed:     everyPoint,
	flow.StateInProgress: {flow.PointApply},
	flow.StateDeleting:   {flow.PointDelete},
	flow.StateCanceled:   everyPoint,
}

var everyPoint = []string{
	flow.PointApply, flow.PointPass, flow.PointEntryCheck, flow.PointOwner, flow.PointOwnerCheck, flow.PointGet,
	flow.PointPreCheck, flow.PointPostCheck, flow.PointDeleteCheck, flow.PointDelete,
}

// onlyLinks lists the points without an operation.
var onlyLinks = []string{
	flow.PointPass, flow.PointEntryCheck, flow.PointOwnerCheck, flow.PointPreCheck, flow.PointPostCheck, flow.PointDeleteCheck,
}

// ofChecks lists the points whose links are checks.
var ofChecks = onlyLinks[1:]

// AnyOutcome draws an outcome of any state at any point, with random optional
// fields: AnyOutcome().Draw(t, "outcome").Make(t).
func AnyOutcome() *rapid.Generator[Outcome] {
	return rapid.Custom(func(t *rapid.T) Outcome {
		o := Outcome{State: flow.State(rapid.IntRange(int(flow.StateReady), int(flow.StateFinished)).Draw(t, "state"))}
		refs := rapid.SliceOfNDistinct(rapid.SampledFrom([]checks.Ref{
			{Kind: "Cluster", Name: "prod"}, {Group: "net", Kind: "Network", Namespace: "ns", Name: "lan"}, {ID: "/subscriptions/s"},
		}), 0, 3, func(r checks.Ref) checks.Ref { return r })
		delay := rapid.SampledFrom([]time.Duration{0, time.Second, 90 * time.Second, time.Hour})
		retry := rapid.SampledFrom([]classify.Retry{classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange, classify.Never})
		more := rapid.SampledFrom([][]checks.BlockOption{nil, {checks.WithStatusKept()}, {checks.WithWaitingForSelf()}})
		text := rapid.SampledFrom([]string{"not yet", "a\nb", "\xff", "é"})
		if points := endsAt[o.State]; len(points) > 0 {
			o.Point = rapid.SampledFrom(points).Draw(t, "point")
			o.Generation = rapid.Int64Range(0, 3).Draw(t, "generation")
		}
		if o.Point != flow.PointOwner && o.Point != "" {
			o.Link = rapid.SampledFrom([]string{"", "quota"}).Draw(t, "link")
		}
		switch o.State {
		case flow.StateBlocked:
			o.Block = checks.Block(rapid.SampledFrom([]string{"NoQuota", "Paused"}).Draw(t, "reason"), text.Draw(t, "message"),
				append(more.Draw(t, "more"), checks.WithRetry(retry.Draw(t, "retry")), checks.WithAfter(delay.Draw(t, "delay")), checks.WithWaitingFor(refs.Draw(t, "refs")...))...)
		case flow.StateIgnored:
			o.Block = checks.Ignore(text.Draw(t, "message"),
				append(more.Draw(t, "more"), checks.WithAfter(delay.Draw(t, "delay")), checks.WithWaitingFor(refs.Draw(t, "refs")...))...)
		case flow.StateFinished:
			o.Block = checks.Finished(rapid.SampledFrom([]string{"Complete", "Denied"}).Draw(t, "reason"), text.Draw(t, "message"))
		case flow.StateFailed:
			o.Err = errors.New(text.Draw(t, "error"))
			if rapid.Bool().Draw(t, "classified") {
				o.Rule, o.Reason, o.Message = "a rule", "Conflict", text.Draw(t, "message")
				o.Retry, o.After = retry.Draw(t, "retry"), delay.Draw(t, "delay")
			}
			if slices.Contains(ofChecks, o.Point) {
				o.WaitingFor = refs.Draw(t, "refs")
			}
		case flow.StateInProgress, flow.StateDeleting:
			o.Link, o.After = "", delay.Draw(t, "delay")
		}
		if o.wakes() {
			o.Following = refs.Draw(t, "following")
		}
		return o
	})
}

// wakes reports whether a followed object can cause a pass after the outcome.
func (o *Outcome) wakes() bool {
	switch o.State {
	case flow.StateReady, flow.StateInProgress, flow.StateDeleting, flow.StateBlocked, flow.StateFailed:
		return o.Point != flow.PointPass && o.Retry != classify.Never && o.Block.Retry() != classify.Never
	}
	return false
}

// String returns the state, point, link and cause, as failures print them.
func (o Outcome) String() string {
	text := o.State.String()
	if o.Point != "" {
		text += " at " + o.Point
	}
	if o.Link != "" {
		text += " by " + o.Link
	}
	switch {
	case o.decided():
		text += ": " + o.Block.String()
	case o.Err != nil:
		text += ": " + fmt.Sprint(o.Err)
	}
	return text
}

// GoString returns the same as String, for the log of rapid.
func (o Outcome) GoString() string { return o.String() }

// Make makes the outcome. opts are options of the reconciler, such as
// [flow.WithBackoff]. An Outcome that no flow can have fails the test. The zero
// Outcome makes the zero flow.Outcome.
func (o Outcome) Make(t rapid.TB, opts ...flow.Option) flow.Outcome {
	t.Helper()
	if o.State == flow.StateUnknown {
		return flow.Outcome{}
	}
	if fault := o.complete(); fault != "" {
		t.Fatalf("flowtest: Outcome: %s: %s", o, fault)
		return flow.Outcome{}
	}
	out := o.pass(opts)
	if out.State() != o.State || out.Point() != o.Point || out.Link() != o.Link {
		t.Fatalf("flowtest: Outcome: %s: with these options the flow has another outcome: %s", o, out)
	}
	return out
}

// complete sets the defaults. It describes a field that contradicts the state,
// or returns "".
func (o *Outcome) complete() (fault string) {
	points := endsAt[o.State]
	switch {
	case o.State > flow.StateFinished:
		return "there is no such state"
	case len(points) == 0 && (o.Point != "" || o.Link != ""):
		return "this state has no point and no link"
	case len(points) > 0 && o.Point == "":
		o.Point = points[0]
	}
	failed := o.State == flow.StateFailed
	switch {
	case len(points) > 0 && !slices.Contains(points, o.Point):
		return fmt.Sprintf("a pass cannot end with this state at %s: give one of %v", o.Point, points)
	case o.Point == flow.PointOwner && o.Link != "":
		return "the point Owner has no links"
	case (o.State == flow.StateInProgress || o.State == flow.StateDeleting) && o.Link != "":
		return "only an operation can be under way: leave Link empty"
	case !o.decided() && !o.Block.IsZero():
		return "Block is for StateBlocked, StateIgnored and StateFinished"
	case o.decided() && !o.Block.IsZero() && stateOf(o.Block) != o.State:
		return "Block does not match the state: make it by checks.Block, checks.Ignore or checks.Finished"
	case !failed && o.Err != nil:
		return "Err is for StateFailed"
	case !failed && o.classified():
		return "Retry, Rule, Reason and Message are for StateFailed; a block has its own"
	case len(o.WaitingFor) > 0 && !(failed && slices.Contains(ofChecks, o.Point)):
		return "WaitingFor is for StateFailed at a point with checks; a block has its own refs"
	case len(o.Following) > 0 && !o.wakes():
		return "Following is for an outcome after which an object can cause a pass, at any point but Pass"
	case o.After < 0 || o.After > 0 && !failed && o.State != flow.StateInProgress && o.State != flow.StateDeleting:
		return "After is a positive delay, for StateFailed, StateInProgress and StateDeleting; a block has its own"
	case failed && o.After > time.Hour:
		return "After is at most an hour for an error"
	case len(points) == 0 && o.Generation != 0:
		return "this state has no generation"
	}
	if o.Link == "" && slices.Contains(onlyLinks, o.Point) {
		o.Link = "link"
	}
	if o.Block.IsZero() {
		switch o.State {
		case flow.StateBlocked:
			o.Block = checks.Block("Blocked", "it is blocked")
		case flow.StateIgnored:
			o.Block = checks.Ignore("it is ignored")
		case flow.StateFinished:
			o.Block = checks.Finished("Finished", "it is finished")
		}
	}
	if failed && o.Err == nil {
		o.Err = errors.New("failed")
	}
	return ""
}

// decided reports whether the result of a check ends the pass.
func (o *Outcome) decided() bool {
	return o.State == flow.StateBlocked || o.State == flow.StateIgnored || o.State == flow.StateFinished
}

// stateOf returns the state of a pass that res ends.
func stateOf(res checks.Result) flow.State {
	switch {
	case res.Blocked():
		return flow.StateBlocked
	case res.Ignored():
		return flow.StateIgnored
	case res.IsFinished():
		return flow.StateFinished
	}
	return flow.StateUnknown
}

func (o *Outcome) classified() bool {
	return o.Retry != classify.Unset || o.Rule != "" || o.Reason != "" || o.Message != ""
}

// made is the resource of the flow that makes outcomes.
type made struct{}

// pass makes the outcome by a pass of a flow.
func (o *Outcome) pass(opts []flow.Option) flow.Outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fails := func() error { // ends the pass
		if o.State == flow.StateCanceled {
			cancel()
			return ctx.Err()
		}
		return o.Err
	}
	ends := func(point string, byLink bool) bool { return o.Point == point && (o.Link != "") == byLink }
	underWay := o.State == flow.StateInProgress || o.State == flow.StateDeleting

	operation := func(point string) func(context.Context, *flow.Request[made]) (flow.Progress, error) {
		return func(context.Context, *flow.Request[made]) (flow.Progress, error) {
			switch {
			case !ends(point, false):
				return flow.Done(), nil
			case underWay:
				return flow.InProgress("token", o.After), nil
			}
			return flow.Progress{}, fails()
		}
	}
	ops := flow.Operations[made]{
		Key:        func(made) string { return "made" },
		Apply:      operation(flow.PointApply),
		Delete:     operation(flow.PointDelete),
		Generation: func(made) int64 { return o.Generation },
		Deleting: func(made) bool {
			return o.State == flow.StateGone || o.Point == flow.PointDelete || o.Point == flow.PointDeleteCheck
		},
		Get: func(context.Context, *flow.Request[made]) (flow.Observation, error) {
			if ends(flow.PointGet, false) {
				return flow.Observation{}, fails()
			}
			return flow.Observation{}, nil
		},
		Owner: func(context.Context, made) (checks.Object, error) {
			if ends(flow.PointOwner, false) {
				return checks.Object{}, fails()
			}
			return checks.Object{}, nil
		},
	}
	var ext flow.Extensions[made]
	switch {
	case o.Link == "":
	case o.Point == flow.PointPass:
		ext.Pass = stops[made](o, func() (flow.Outcome, error) {
			if o.decided() {
				return flow.Stop(o.Block), nil
			}
			return flow.Outcome{}, fails()
		})
	case o.Point == flow.PointEntryCheck:
		ext.EntryCheck = decides[*checks.Request[made]](o, fails)
	case o.Point == flow.PointOwnerCheck:
		ext.OwnerCheck = decides[*checks.OwnerRequest](o, fails)
	case o.Point == flow.PointGet:
		ext.Get = stops[*flow.Request[made]](o, func() (flow.Observation, error) { return flow.Observation{}, fails() })
	case o.Point == flow.PointPreCheck:
		ext.PreCheck = decides[*checks.Request[made]](o, fails)
	case o.Point == flow.PointApply:
		ext.Apply = stops[*flow.Request[made]](o, func() (flow.Progress, error) { return flow.Progress{}, fails() })
	case o.Point == flow.PointPostCheck:
		ext.PostCheck = decides[*checks.Request[made]](o, fails)
	case o.Point == flow.PointDeleteCheck:
		ext.DeleteCheck = decides[*checks.Request[made]](o, fails)
	case o.Point == flow.PointDelete:
		ext.Delete = stops[*flow.Request[made]](o, func() (flow.Progress, error) { return flow.Progress{}, fails() })
	}
	if len(o.Following) > 0 {
		ext.EntryCheck = ext.EntryCheck.Prepend(checks.Check("follows", func(ctx context.Context, req *checks.Request[made]) (checks.Result, error) {
			checks.Follow(ctx, req, o.Following...)
			return checks.Proceed(), nil
		}))
	}
	if o.classified() || o.After > 0 && o.State == flow.StateFailed {
		ext.Classify = chain.New(chain.Named("classified", func(next classify.Handler) classify.Handler {
			return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
				if !o.classified() {
					c, err := next(ctx, f)
					return c.WithAfter(o.After), err
				}
				changed := *f
				changed.Code, changed.Message = cmp.Or(o.Reason, f.Code), cmp.Or(o.Message, f.Message)
				c := changed.As(cmp.Or(o.Rule, "made"), cmp.Or(o.Retry, classify.Slow))
				if o.After > 0 {
					c = c.WithAfter(o.After)
				}
				return c, nil
			}
		}))
	}
	return flow.New("Made", ops, ext, append([]flow.Option{flow.WithoutBackoff()}, opts...)...).Reconcile(ctx, made{})
}

// decides makes a chain of one check that ends the pass.
func decides[R any](o *Outcome, fails func() error) chain.Chain[R, checks.Result] {
	return chain.New(checks.Check(o.Link, func(context.Context, R) (checks.Result, error) {
		switch {
		case o.decided():
			return o.Block, nil
		case len(o.WaitingFor) > 0:
			return checks.Block("Blocked", "the check also returned an error", checks.WithWaitingFor(o.WaitingFor...)), fails()
		}
		return checks.Result{}, fails()
	}))
}

// stops makes a chain of one link that ends the pass.
func stops[Req, Res any](o *Outcome, end func() (Res, error)) chain.Chain[Req, Res] {
	return chain.New(chain.Named(o.Link, func(chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(context.Context, Req) (Res, error) { return end() }
	}))
}
