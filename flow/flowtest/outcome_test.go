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

// told is everything that an outcome says.
type told struct {
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

func tell(o flow.Outcome) told {
	_, again := o.Again()
	t := told{o.State(), o.Point(), o.Link(), o.Reason(), o.Message(), o.Rule(), o.Severity(), o.Retry(), o.After(),
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
		want   told
	}{
		"Unknown": {"the zero outcome is that of no pass", flowtest.Outcome{}, told{Again: true}},
		"Ready": {"it passed everything", flowtest.Outcome{State: flow.StateReady},
			told{State: flow.StateReady, Reason: "Succeeded", Conditions: []string{"Ready=True"}, Again: true}},
		"Gone": {"it was deleted", flowtest.Outcome{State: flow.StateGone}, told{State: flow.StateGone}},
		"Blocked": {"the defaults of a block", flowtest.Outcome{State: flow.StateBlocked},
			told{State: flow.StateBlocked, Point: "PreCheck", Link: "link", Reason: "Blocked", Message: "it is blocked",
				Severity: classify.Warning, Retry: classify.Slow, Conditions: waits, Again: true}},
		"BlockedWhole": {"all that a block can have", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointOwnerCheck, Link: "OwnerReady", Generation: 7,
			Block: checks.Block("NotYet", "no owner", checks.WithRetry(classify.OnChange), checks.WithAfter(time.Minute), checks.WithWaitingFor(lan))},
			told{State: flow.StateBlocked, Point: "OwnerCheck", Link: "OwnerReady", Reason: "NotYet", Message: "no owner", Severity: classify.Error,
				Retry: classify.OnChange, After: time.Minute, WaitingFor: []checks.Ref{lan}, Generation: 7, Conditions: stalls, Again: true}},
		"Ignored": {"nothing is written, and nothing asks for another pass", flowtest.Outcome{State: flow.StateIgnored},
			told{State: flow.StateIgnored, Point: "EntryCheck", Link: "link", Message: "it is ignored"}},
		"Finished": {"it is Ready for good", flowtest.Outcome{State: flow.StateFinished},
			told{State: flow.StateFinished, Point: "PreCheck", Link: "link", Reason: "Finished", Message: "it is finished",
				Conditions: []string{"Ready=True", "Finished=True"}}},
		"Stopped": {"by a link around the pass", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointPass, Link: "lock"},
			told{State: flow.StateBlocked, Point: "Pass", Link: "lock", Reason: "Blocked", Message: "it is blocked",
				Severity: classify.Warning, Retry: classify.Slow, Conditions: waits, Again: true}},
		"InProgress": {"an operation is under way", flowtest.Outcome{State: flow.StateInProgress, After: time.Minute, Generation: 3},
			told{State: flow.StateInProgress, Point: "Apply", Reason: "InProgress", Message: "the operation is under way in the cloud",
				Severity: classify.Info, After: time.Minute, Generation: 3, Conditions: waits, Again: true}},
		"Deleting": {"so does a deletion", flowtest.Outcome{State: flow.StateDeleting},
			told{State: flow.StateDeleting, Point: "Delete", Reason: "Deleting", Message: "the deletion is under way in the cloud",
				Severity: classify.Info, Conditions: waits, Again: true}},
		"FailedWhole": {"all that an error can have", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointPostCheck, Link: "quota", Err: errQuota,
			Rule: "a rule", Reason: "Quota", Message: "ask for more", Retry: classify.OnChange, After: time.Hour, WaitingFor: []checks.Ref{lan}, Generation: 2},
			told{State: flow.StateFailed, Point: "PostCheck", Link: "quota", Reason: "Quota", Message: "check quota failed: ask for more", Rule: "a rule",
				Severity: classify.Error, Retry: classify.OnChange, After: time.Hour, WaitingFor: []checks.Ref{lan}, Generation: 2, Err: "no quota",
				Conditions: stalls, Again: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tell(tc.given.Make(t))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An error that is not classified here is classified by the flow.
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

// Whatever is drawn is made, and has all that was asked for. Every state comes
// at every point at which it can.
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
			t.Fatalf("it came to %s", out)
		case out.State() == flow.StateFailed && !errors.Is(out.Err(), o.Err):
			t.Fatalf("the error is %v", out.Err())
		case out.State() == flow.StateFailed && !slices.Equal(out.WaitingFor(), o.WaitingFor):
			t.Fatalf("it waits for %v, not %v", out.WaitingFor(), o.WaitingFor)
		case !o.Block.IsZero() && (out.Reason() != o.Block.Reason() || out.After() != o.Block.After() ||
			out.KeepsStatus() != (o.Block.KeepsStatus() && !out.Final()) || out.WaitsForSelf() != o.Block.WaitsForSelf() || !slices.Equal(out.WaitingFor(), o.Block.WaitingFor())):
			t.Fatalf("it is %s after %s, for %v, and not %s", out, out.After(), out.WaitingFor(), o.Block)
		case o.Block.IsZero() && out.After() != o.After || out.Generation() != o.Generation && out.State() != flow.StateCanceled:
			t.Fatalf("it comes back after %s, for generation %d", out.After(), out.Generation())
		}
	})
	for state := flow.StateReady; state <= flow.StateFinished; state++ {
		made := false
		for p := range seen {
			made = made || p.state == state
		}
		if !made && !testing.Short() {
			t.Errorf("no outcome is %s", state)
		}
	}
}

// Each state is made at each of its points, with a link and without.
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

// An outcome that is made with a back-off has its delay.
func TestOutcomeOptions(t *testing.T) {
	backoff := flow.NewBackoff(flow.WithBackoffResync(5*time.Minute), flow.WithBackoffJitter(0, 0))
	if delay, again := (flowtest.Outcome{State: flow.StateReady}).Make(t, flow.WithBackoff(backoff)).Again(); delay != 5*time.Minute || !again {
		t.Errorf("it comes back after %s, %t", delay, again)
	}
}

func TestOutcomeRefuses(t *testing.T) {
	block := checks.Block("NotYet", "not yet")
	cases := map[string]struct {
		reason string
		given  flowtest.Outcome
		want   string
	}{
		"State":      {"no such state", flowtest.Outcome{State: 99}, "State(99): there is no such state"},
		"ReadyPoint": {"nothing ended it", flowtest.Outcome{State: flow.StateReady, Point: flow.PointApply}, "ready at Apply: it ends at no point"},
		"GoneLink":   {"nor here", flowtest.Outcome{State: flow.StateGone, Link: "l"}, "gone by l: it ends at no point, and at no link"},
		"BlockAtGet": {"no check is asked there", flowtest.Outcome{State: flow.StateBlocked, Point: flow.PointGet, Block: block}, "a pass cannot end with this state at Get: give one of [PreCheck Pass"},
		"OwnerLink":  {"it has none", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointOwner, Link: "l"}, "the point Owner has no links"},
		"Progress":   {"links are not under way", flowtest.Outcome{State: flow.StateInProgress, Link: "l"}, "only an operation can be under way"},
		"BlockReady": {"it is not blocked", flowtest.Outcome{State: flow.StateReady, Block: block}, "Block is for StateBlocked"},
		"Proceed":    {"nor is this", flowtest.Outcome{State: flow.StateBlocked, Block: checks.Proceed()}, "Block is another result"},
		"Ignore":     {"the state is another", flowtest.Outcome{State: flow.StateFinished, Block: checks.Ignore("")}, "Block is another result"},
		"ErrBlocked": {"it is no error", flowtest.Outcome{State: flow.StateBlocked, Err: errQuota}, "Err is for StateFailed"},
		"RuleReady":  {"nothing was classified", flowtest.Outcome{State: flow.StateReady, Rule: "r"}, "Retry, Rule, Reason and Message are for StateFailed"},
		"RefsAtGet":  {"only checks name refs", flowtest.Outcome{State: flow.StateFailed, Point: flow.PointGet, WaitingFor: []checks.Ref{lan}}, "WaitingFor is for StateFailed at a point with checks"},
		"Negative":   {"no delay", flowtest.Outcome{State: flow.StateInProgress, After: -1}, "After is a positive delay"},
		"Days":       {"an error waits an hour at most", flowtest.Outcome{State: flow.StateFailed, After: 2 * time.Hour}, "After is at most an hour for an error"},
		"ReadyAfter": {"the resync says when", flowtest.Outcome{State: flow.StateReady, After: 1}, "After is a positive delay"},
		"Generation": {"it says none", flowtest.Outcome{State: flow.StateGone, Generation: 1}, "it has no generation"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustFail(t, tc.reason, func(t rapid.TB) { tc.given.Make(t) }, "flowtest: Outcome: ", tc.want)
		})
	}
}
