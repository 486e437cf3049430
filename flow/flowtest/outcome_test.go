package flowtest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

var (
	errQuota = errors.New("no quota")
	lan      = checks.Ref{Kind: "Network", Name: "lan"}
)

// content has the results of all methods of an outcome.
type content struct {
	State                 flow.State
	Point, Link           string
	Reason, Message, Rule string
	Severity              classify.Severity
	Retry                 classify.Retry
	After                 time.Duration
	WaitingFor            []checks.Ref
	Generation            int64
	Err                   string
	Conditions            []string
	Again                 bool
}

func contentOf(o flow.Outcome) content {
	_, again := o.Again()
	t := content{o.State(), o.Point(), o.Link(), o.Reason(), o.Message(), o.Rule(), o.Severity(), o.Retry(), o.After(),
		o.WaitingFor(), o.Generation(), "", nil, again}
	if o.Err() != nil {
		t.Err = o.Err().Error()
	}
	for _, c := range o.Conditions() {
		t.Conditions = append(t.Conditions, c.Type+"="+c.Status)
	}
	return t
}

func TestOutcome(t *testing.T) {
	waits, stalls := []string{"Ready=False", "Reconciling=True"}, []string{"Ready=False", "Stalled=True"}
	cases := map[string]struct {
		reason string
		given  flowtest.Outcome
		want   content
	}{
		"Unknown": {"the zero Outcome makes the zero flow.Outcome", flowtest.Outcome{}, content{Again: true}},
		"Ready": {"ready has no point and no link", flowtest.Outcome{State: flow.StateReady},
			content{State: flow.StateReady, Reason: "Succeeded", Conditions: []string{"Ready=True"}, Again: true}},
		"Gone": {"gone has no conditions and no requeue", flowtest.Outcome{State: flow.StateGone}, content{State: flow.StateGone}},
		"Blocked": {"a block has defaults", flowtest.Outcome{State: flow.StateBlocked},
			content{State: flow.StateBlocked, Point: "PreCheck", Link: "link", Reason: "Blocked", Message: "it is blocked",
				Severity: classify.Warning, Retry: classify.Slow, Conditions: waits, Again: true}},
		"BlockedWhole": {"a block with all fields", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointOwnerCheck, Link: "OwnerReady", Generation: 7,
			Block: checks.Block("NotYet", "no owner", checks.WithRetry(classify.OnChange), checks.WithAfter(time.Minute), checks.WithWaitingFor(lan))},
			content{State: flow.StateBlocked, Point: "OwnerCheck", Link: "OwnerReady", Reason: "NotYet", Message: "no owner", Severity: classify.Error,
				Retry: classify.OnChange, After: time.Minute, WaitingFor: []checks.Ref{lan}, Generation: 7, Conditions: stalls, Again: true}},
		"Ignored": {"ignored has no conditions and no requeue", flowtest.Outcome{State: flow.StateIgnored},
			content{State: flow.StateIgnored, Point: "EntryCheck", Link: "link", Message: "it is ignored"}},
		"Finished": {"finished is ready and has no requeue", flowtest.Outcome{State: flow.StateFinished},
			content{State: flow.StateFinished, Point: "PreCheck", Link: "link", Reason: "Finished", Message: "it is finished",
				Conditions: []string{"Ready=True", "Finished=True"}}},
		"Stopped": {"a link around the pass may end it", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointPass, Link: "lock"},
			content{State: flow.StateBlocked, Point: "Pass", Link: "lock", Reason: "Blocked", Message: "it is blocked",
				Severity: classify.Warning, Retry: classify.Slow, Conditions: waits, Again: true}},
		"InProgress": {"Apply reports an operation under way", flowtest.Outcome{State: flow.StateInProgress, After: time.Minute, Generation: 3},
			content{State: flow.StateInProgress, Point: "Apply", Reason: "InProgress", Message: "the operation is under way in the cloud",
				Severity: classify.Info, After: time.Minute, Generation: 3, Conditions: waits, Again: true}},
		"Deleting": {"Delete reports an operation under way", flowtest.Outcome{State: flow.StateDeleting},
			content{State: flow.StateDeleting, Point: "Delete", Reason: "Deleting", Message: "the deletion is under way in the cloud",
				Severity: classify.Info, Conditions: waits, Again: true}},
		"FailedWhole": {"an error with all fields", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointPostCheck, Link: "quota", Err: errQuota,
			Rule: "a rule", Reason: "Quota", Message: "ask for more", Retry: classify.OnChange, After: time.Hour, WaitingFor: []checks.Ref{lan}, Generation: 2},
			content{State: flow.StateFailed, Point: "PostCheck", Link: "quota", Reason: "Quota", Message: "check quota failed: ask for more", Rule: "a rule",
				Severity: classify.Error, Retry: classify.OnChange, After: time.Hour, WaitingFor: []checks.Ref{lan}, Generation: 2, Err: "no quota",
				Conditions: stalls, Again: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, contentOf(tc.given.Make(t))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// The flow classifies an error without a classification.
func TestOutcomeFailed(t *testing.T) {
	for name, after := range map[string]time.Duration{"Plain": 0, "After": time.Hour} {
		t.Run(name, func(t *testing.T) {
			out := flowtest.Outcome{State: flow.StateFailed, Err: errQuota, After: after}.Make(t)
			if !errors.Is(out.Err(), errQuota) || out.After() != after || out.Reason() == "" || out.Rule() == "" {
				t.Errorf("got %s after %s, by rule %q", out, out.After(), out.Rule())
			}
		})
	}
}

// Make makes every drawn outcome, with all its fields. AnyOutcome draws every
// state.
func TestAnyOutcome(t *testing.T) {
	type place struct {
		state flow.State
		point string
	}
	seen := map[place]bool{}
	rapid.Check(t, func(t *rapid.T) {
		o := flowtest.AnyOutcome().Draw(t, "outcome")
		out := o.Make(t)
		seen[place{out.State(), out.Point()}] = true
		switch {
		case out.State() != o.State || out.Point() != o.Point || o.Link != "" && out.Link() != o.Link:
			t.Fatalf("got %s", out)
		case !slices.Equal(out.Following(), o.Following):
			t.Fatalf("it follows %v, want %v", out.Following(), o.Following)
		case out.State() == flow.StateFailed && !errors.Is(out.Err(), o.Err):
			t.Fatalf("got error %v, want %v", out.Err(), o.Err)
		case out.State() == flow.StateFailed && !slices.Equal(out.WaitingFor(), o.WaitingFor):
			t.Fatalf("got refs %v, want %v", out.WaitingFor(), o.WaitingFor)
		case !o.Block.IsZero() && (out.Reason() != o.Block.Reason() || out.After() != o.Block.After() ||
			out.KeepsStatus() != (o.Block.KeepsStatus() && !out.Final()) || out.WaitsForSelf() != o.Block.WaitsForSelf() || !slices.Equal(out.WaitingFor(), o.Block.WaitingFor())):
			t.Fatalf("got %s after %s, waiting for %v, want %s", out, out.After(), out.WaitingFor(), o.Block)
		case o.Block.IsZero() && out.After() != o.After || out.Generation() != o.Generation && out.State() != flow.StateCanceled:
			t.Fatalf("got delay %s and generation %d, want %s and %d", out.After(), out.Generation(), o.After, o.Generation)
		}
	})
	for state := flow.StateReady; state <= flow.StateFinished; state++ {
		made := false
		for p := range seen {
			made = made || p.state == state
		}
		if !made && !testing.Short() {
			t.Errorf("no drawn outcome has the state %s", state)
		}
	}
}

// Make makes each state at each of its points, with and without a link.
func TestOutcomeAtEachPoint(t *testing.T) {
	every := []string{flow.PointPass, flow.PointOwner, flow.PointOwnerCheck, flow.PointGet, flow.PointPreCheck, flow.PointApply,
		flow.PointPostCheck, flow.PointDeleteCheck, flow.PointDelete}
	for state, points := range map[flow.State][]string{
		flow.StateBlocked:  {flow.PointPass, flow.PointOwnerCheck, flow.PointPreCheck, flow.PointPostCheck, flow.PointDeleteCheck},
		flow.StateFailed:   every,
		flow.StateCanceled: every,
	} {
		for _, point := range points {
			for _, link := range []string{"", "quota"} {
				if point == flow.PointOwner && link != "" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", state, point, link), func(t *testing.T) {
					out := flowtest.Outcome{State: state, Point: point, Link: link}.Make(t)
					if canceled := state == flow.StateCanceled; canceled != (out.Conditions() == nil) || (state == flow.StateBlocked) != (out.Err() == nil) {
						t.Errorf("conditions %v, error %v", out.Conditions(), out.Err())
					}
				})
			}
		}
	}
}

// An outcome has the delay of the back-off that Make got.
func TestOutcomeOptions(t *testing.T) {
	backoff := flow.NewBackoff(flow.WithBackoffResync(5*time.Minute), flow.WithBackoffJitter(0, 0))
	if delay, again := (flowtest.Outcome{State: flow.StateReady}).Make(t, flow.WithBackoff(backoff)).Again(); delay != 5*time.Minute || !again {
		t.Errorf("got delay %s, %t, want 5m, true", delay, again)
	}
}

func TestOutcomeRefuses(t *testing.T) {
	block := checks.Block("NotYet", "not yet")
	cases := map[string]struct {
		reason string
		given  flowtest.Outcome
		want   string
	}{
		"State":      {"the state does not exist", flowtest.Outcome{State: 99}, "State(99): there is no such state"},
		"ReadyPoint": {"ready has no point", flowtest.Outcome{State: flow.StateReady, Point: flow.PointApply}, "ready at Apply: this state has no point"},
		"GoneLink":   {"gone has no link", flowtest.Outcome{State: flow.StateGone, Link: "l"}, "gone by l: this state has no point and no link"},
		"BlockAtGet": {"the point Get has no checks", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointGet, Block: block}, "a pass cannot end with this state at Get: give one of [PreCheck Pass"},
		"OwnerLink":  {"the point Owner has no links", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointOwner, Link: "l"}, "the point Owner has no links"},
		"Progress":   {"a link cannot be under way", flowtest.Outcome{State: flow.StateInProgress, Link: "l"}, "only an operation can be under way"},
		"BlockReady": {"ready has no Block", flowtest.Outcome{State: flow.StateReady, Block: block}, "Block is for StateBlocked"},
		"Proceed":    {"a result that proceeds is no block", flowtest.Outcome{State: flow.StateBlocked, Block: checks.Proceed()}, "Block does not match the state"},
		"Ignore":     {"a result that ignores does not match finished", flowtest.Outcome{State: flow.StateFinished, Block: checks.Ignore("")}, "Block does not match the state"},
		"ErrBlocked": {"a block has no error", flowtest.Outcome{State: flow.StateBlocked, Err: errQuota}, "Err is for StateFailed"},
		"RuleReady":  {"ready has no classification", flowtest.Outcome{State: flow.StateReady, Rule: "r"}, "Retry, Rule, Reason and Message are for StateFailed"},
		"RefsAtGet":  {"only checks return refs", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointGet, WaitingFor: []checks.Ref{lan}}, "WaitingFor is for StateFailed at a point with checks"},
		"Negative":   {"a delay is not negative", flowtest.Outcome{State: flow.StateInProgress, After: -1}, "After is a positive delay"},
		"Days":       {"the delay of an error is at most an hour", flowtest.Outcome{State: flow.StateFailed, After: 2 * time.Hour}, "After is at most an hour for an error"},
		"ReadyAfter": {"the delay of ready is the resync", flowtest.Outcome{State: flow.StateReady, After: 1}, "After is a positive delay"},
		"Generation": {"gone has no generation", flowtest.Outcome{State: flow.StateGone, Generation: 1}, "this state has no generation"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustFail(t, tc.reason, func(t rapid.TB) { tc.given.Make(t) }, "flowtest: Outcome: ", tc.want)
		})
	}
}
