package status_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

var now = time.Date(2026, 11, 27, 8, 0, 0, 0, time.UTC)

// lines returns conditions as lines: "Ready=False Blocked: message".
func lines(all []metav1.Condition) (texts []string) {
	for _, c := range all {
		line := c.Type + "=" + string(c.Status) + " " + c.Reason
		if c.Message != "" {
			line += ": " + c.Message
		}
		texts = append(texts, line)
	}
	return texts
}

func has(kind, state, reason, message string) metav1.Condition {
	return metav1.Condition{
		Type: kind, Status: metav1.ConditionStatus(state), Reason: reason, Message: message, ObservedGeneration: 2,
		LastTransitionTime: metav1.NewTime(now.Add(-time.Hour)),
	}
}

func TestRender(t *testing.T) {
	block := func(reason, message string, retry classify.Retry) flow.Outcome {
		return status.Block(reason, message, retry)
	}
	subnet := checks.Ref{Kind: "Subnet", Namespace: "apps", Name: "a"}
	self := checks.Ref{Kind: "Database", Namespace: "apps", Name: "d"}
	root := &engine.RootCause{Ref: subnet, Text: "Subnet apps/a was not found"}
	const cut = "... (7,255 bytes more)"
	const missing = "; root cause: Subnet apps/a was not found"
	waits := block("OwnerNotReady", "the owner is not ready", classify.Slow)
	since := func(before time.Duration) *record.Record {
		return &record.Record{UID: "u", Kind: "K", Clock: &record.Clock{Self: "s", Since: metav1.NewTime(now.Add(-before))}}
	}
	limit := func(t status.Timeout) status.Timeout {
		t.After, t.Inputs = time.Minute, &record.Clock{Self: "s"}
		return t
	}
	const loop = "Subnet apps/a changes again and again, and each change causes a pass that does not change this verdict: " +
		"the passes for these changes are delayed by up to 10 minutes; if passes over Database apps/d cause the changes, correct that, " +
		"or name the kind in ctrlx.WithUnfollowedKinds"
	cases := map[string]struct {
		reason   string
		in       status.In
		want     []string
		over     bool
		due      time.Duration
		severity classify.Severity
	}{
		"Blocked": {
			reason: "an ordinary wait is no warning", in: status.In{Outcome: waits}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"OnChange": {
			reason: "only a change of the object ends it", in: status.In{Outcome: block("Invalid", "no", classify.OnChange)}, severity: classify.Error,
			want: []string{"Ready=False Invalid: no", "Stalled=True Invalid: no"},
		},
		"Paused": {
			reason: "a user asked for it, so the object is not stuck", in: status.In{Outcome: block(checks.ReasonPaused, "paused", classify.OnChange)},
			want: []string{"Ready=False Paused: paused", "Stalled=False Paused: paused", "Paused=True Paused: paused"}, severity: classify.Info,
		},
		"Continues": {
			reason: "the time of the transition stays visible", in: status.In{Outcome: waits, Old: []metav1.Condition{has(status.Paused, "True", "Suspended", "m")}},
			want:     []string{"Paused=False NotPaused", "Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
			severity: classify.Info,
		},
		"Suspended": {
			reason: "an outer link ended the pass before the link Suspended", in: status.In{Outcome: waits, Suspended: true}, severity: classify.Info,
			want: []string{
				"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready",
				"Paused=True Suspended: the object is suspended; resume it to continue",
			},
		},
		"Cycle": {
			reason: "the path replaces the message, which would grow with each turn", in: status.In{Outcome: waits, Cycle: []checks.Ref{self, subnet, self}},
			want: []string{
				"Ready=False DependencyCycle: " + engine.CycleText([]checks.Ref{self, subnet, self}),
				"Stalled=True DependencyCycle: " + engine.CycleText([]checks.Ref{self, subnet, self}),
			}, severity: classify.Warning,
		},
		"Root": {
			reason: "only Ready names the root cause", in: status.In{Outcome: waits, Root: root}, severity: classify.Info,
			want: []string{
				"Ready=False OwnerNotReady: the owner is not ready; root cause: Subnet apps/a was not found", "Reconciling=True OwnerNotReady: the owner is not ready",
			},
		},
		"RootNamed": {
			reason: "the message names the root cause already", in: status.In{Outcome: block("No", "Subnet apps/a is absent", classify.Slow), Root: root},
			want: []string{"Ready=False No: Subnet apps/a is absent", "Reconciling=True No: Subnet apps/a is absent"}, severity: classify.Info,
		},
		"RootOtherName": {
			reason: "the message names objects with longer names", in: status.In{Outcome: block("No", "Subnet apps/a-2, MySubnet apps/a2", classify.Slow), Root: root},
			want: []string{
				"Ready=False No: Subnet apps/a-2, MySubnet apps/a2; root cause: Subnet apps/a was not found", "Reconciling=True No: Subnet apps/a-2, MySubnet apps/a2",
			}, severity: classify.Info,
		},
		"RootLong": {
			reason: "the root cause stays whole", in: status.In{Outcome: block("No", strings.Repeat("x", 40_000), classify.Slow), Root: root},
			want: []string{
				"Ready=False No: " + strings.Repeat("x", 32_768-len(missing)) + missing, "Reconciling=True No: " + strings.Repeat("x", 32_767-len(cut)) + cut,
			}, severity: classify.Info,
		},
		"RootUnknown": {
			reason: "the root cause from before a restart may still hold", severity: classify.Info,
			in:   status.In{Outcome: waits, RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "the owner is not ready; root cause: X")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready; root cause: X", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootReplaced": {
			reason: "the message from before a restart is about something else", severity: classify.Info,
			in:   status.In{Outcome: waits, RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "Other", "other; root cause: X")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"Loop": {
			reason: "both objects are named", in: status.In{Outcome: waits, Self: self, Loop: subnet}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready; " + loop, "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"Reason": {
			reason: "the reason marks all conditions but Ready and Paused", in: status.In{Outcome: block(checks.ReasonPaused, "p", classify.OnChange), Reason: "X"},
			want: []string{"Ready=False Paused: p", "Stalled=False X: p", "Paused=True Paused: p"}, severity: classify.Info,
		},
		"Finished": {
			reason: "the message names the object, because a status can be copied", in: status.In{Outcome: finished(t), UID: "u"},
			want: []string{"Ready=True Done: done", "Finished=True Done: done (UID u)"},
		},
		"FinishedNameless": {
			reason: "Guards do not read it", in: status.In{Outcome: finished(t)},
			want: []string{"Ready=True Done: done", "Finished=True Done: done"},
		},
		"Others": {
			reason: "conditions of other controllers stay where they are, ours that do not apply go", severity: classify.Info,
			in:   status.In{Outcome: waits, Old: []metav1.Condition{has("X", "True", "R", "m"), has("Stalled", "True", "S", "m"), has("Y", "False", "R", "m")}},
			want: []string{"X=True R: m", "Y=False R: m", "Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"NoClock": {
			reason: "a wait before Apply starts no clock", in: status.In{Outcome: waits, Timeout: limit(status.Timeout{}), Next: &record.Record{UID: "u", Kind: "K"}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"}, severity: classify.Info,
		},
		"FromStart": {
			reason: "the option starts it", in: status.In{Outcome: waits, Timeout: limit(status.Timeout{FromStart: true}), Next: &record.Record{UID: "u", Kind: "K"}}, severity: classify.Info,
			want: []string{
				"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready",
				`windlass-go.github.io/Record=True Processing: the clock of the time-out runs; data of the operator, do not edit: uid=u; kind=K; clock.since=2026-11-27T08:00:00Z; clock.self=s`,
			},
		},
		"Deleted": {
			reason: "a deletion has no time-out", in: status.In{Outcome: waits, Timeout: limit(status.Timeout{FromStart: true, Deleted: true}), Next: since(time.Hour)}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.in.Now, tc.in.Generation = now, 3
			old := slices.Clone(tc.in.Old)
			out := status.Render(tc.in)
			if diff := cmp.Diff(tc.want, lines(out.Conditions)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if out.Over != tc.over || out.Due != tc.due || out.Severity != tc.severity {
				t.Errorf("%s: over %v, due %s, severity %q; want %v, %s, %q", tc.reason, out.Over, out.Due, out.Severity, tc.over, tc.due, tc.severity)
			}
			for _, c := range out.Conditions {
				generation, at := int64(3), now
				if c.Type == "X" || c.Type == "Y" { // of others
					generation = 2
				}
				if was := meta.FindStatusCondition(old, c.Type); was != nil && was.Status == c.Status {
					at = was.LastTransitionTime.Time
				}
				if c.ObservedGeneration != generation || !c.LastTransitionTime.Time.Equal(at) {
					t.Errorf("%s: generation %d, changed at %s; want %d, %s", c.Type, c.ObservedGeneration, c.LastTransitionTime, generation, at)
				}
			}
			if diff := cmp.Diff(old, tc.in.Old); diff != "" {
				t.Errorf("the old conditions are changed: -want, +got:\n%s", diff)
			}
			tc.in.Old = out.Conditions
			if in := tc.in; in.Next == nil {
				if again := status.Render(in); !tc.in.RootUnknown && cmp.Diff(out.Conditions, again.Conditions) != "" {
					t.Errorf("a second pass changes the conditions: %q", lines(again.Conditions))
				}
			}
		})
	}
}

// finished is a final outcome.
func finished(t *testing.T) flow.Outcome { return passed(t, checks.Finished("Done", "done"), nil) }

// passed returns the outcome of a pass with a result of EntryCheck, and an error of Apply.
func passed(t *testing.T, result checks.Result, err error) flow.Outcome {
	t.Helper()
	type thing struct{}
	r := flow.New("thing", flow.Operations[*thing]{
		Key: func(*thing) string { return "k" }, Deleting: func(*thing) bool { return false }, Generation: func(*thing) int64 { return 3 },
		Owner: func(context.Context, *thing) (checks.Object, error) { return checks.Object{}, nil },
		Apply: func(context.Context, *flow.Request[*thing]) (flow.Progress, error) { return flow.Progress{}, err },
	}, flow.Extensions[*thing]{EntryCheck: chain.New(checks.Gate("Entry", func(context.Context, *checks.Request[*thing]) (checks.Result, error) { return result, nil }))})
	return r.Reconcile(t.Context(), &thing{})
}

// The clock of a time-out runs from Apply until the object is ready.
func TestClock(t *testing.T) {
	at := func(before time.Duration) *record.Clock {
		return &record.Clock{Self: "s", Since: metav1.NewTime(now.Add(-before))}
	}
	cases := map[string]struct {
		reason string
		was    *record.Clock
		self   string // a digest of the object
		says   string
		over   bool
		delay  time.Duration // of an hour
	}{
		"None":    {reason: "a failure starts no clock", self: "s", says: "broken", delay: time.Hour},
		"Runs":    {reason: "the next pass comes when the time is over", was: at(20 * time.Second), self: "s", says: "broken", delay: 40 * time.Second},
		"Over":    {reason: "the time is over", was: at(time.Minute), self: "s", says: "not ready since 2026-11-27T07:59:00Z, for longer than the time-out of 1m0s: applying failed: broken", over: true, delay: time.Hour},
		"Changed": {reason: "the object changed, so the failure is a new one", was: at(time.Hour), self: "x", says: "broken", delay: time.Hour},
		"Ahead":   {reason: "the clock was set back meanwhile, so the time begins now", was: at(-time.Hour), self: "s", says: "broken", delay: time.Minute},
		"Rounded": {reason: "the time began within this second", was: at(-time.Second), self: "s", says: "broken", delay: time.Minute + time.Second},
	}
	out := passed(t, checks.Proceed(), errors.New("broken"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			next := &record.Record{UID: "u", Kind: "K", Clock: tc.was}
			got := status.Render(status.In{
				Outcome: out, Now: now, Next: next, Timeout: status.Timeout{After: time.Minute, Inputs: &record.Clock{Self: tc.self}},
			})
			ready := lines(got.Conditions)[0]
			if !strings.HasSuffix(ready, tc.says) || strings.Contains(ready, "Timeout") != tc.over {
				t.Errorf("%s: %q, want the end %q", tc.reason, ready, tc.says)
			}
			if diff := cmp.Diff([]any{tc.over, tc.delay}, []any{got.Over, got.In(time.Hour)}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			stalled := slices.ContainsFunc(lines(got.Conditions), func(line string) bool { return strings.HasPrefix(line, "Stalled=True Timeout") })
			if stalled != tc.over {
				t.Errorf("%s: a time-out that no retry ends is Stalled: %q", tc.reason, lines(got.Conditions))
			}
		})
	}
}

// Conditions are taken back if a pass of checks wrote them.
func TestTakenBack(t *testing.T) {
	ready, mine := has("Ready", "False", "OwnerNotReady", "no"), has("Reconciling", "True", "Checks", "no")
	cases := map[string]struct {
		reason string
		old    []metav1.Condition
		want   []string
	}{
		"None":   {"no check wrote them", []metav1.Condition{ready}, []string{"Ready=False OwnerNotReady: no"}},
		"Checks": {"Ready has the message of the checks", []metav1.Condition{ready, mine}, []string{"Ready=Unknown Passed: passed"}},
		"Caller": {"the caller has set Ready meanwhile", []metav1.Condition{has("Ready", "False", "Failed", "mine"), mine}, []string{"Ready=False Failed: mine"}},
		"Paused": {"the object continues", []metav1.Condition{ready, mine, has(status.Paused, "True", "Paused", "p")}, []string{"Ready=Unknown Passed: passed", "Paused=False NotPaused"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := status.TakenBack(tc.old, "Checks", "Passed", "passed", 3, now)
			if diff := cmp.Diff(tc.want, lines(got)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
