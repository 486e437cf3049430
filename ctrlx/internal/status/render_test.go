package status_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

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
	const missing = "; root cause: Subnet apps/a was not found"
	long := strings.Repeat("x", 32_000) + strings.Repeat("ä", 380)
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
	stored := has(record.Condition, "True", record.Settled, "data")
	fits := strings.Repeat("x", 32_768-len("; ")-len(loop))
	cases := map[string]struct {
		reason   string
		in       status.In
		want     []string
		severity classify.Severity
	}{
		"Blocked": {
			reason: "an ordinary wait is no warning", in: status.In{Outcome: waits, UID: "u"}, severity: classify.Info,
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
		"PausedForNow": {
			reason: "no user has to resume it", in: status.In{Outcome: block(checks.ReasonPaused, "p", classify.Slow)}, severity: classify.Info,
			want: []string{"Ready=False Paused: p", "Reconciling=True Paused: p"},
		},
		"PausedByError": {
			reason: "no check has paused it", in: status.In{Outcome: pass{err: errors.New("paused"), retry: classify.OnChange}.outcome(t)}, severity: classify.Error,
			want: []string{"Ready=False Paused: applying failed: paused", "Stalled=True Paused: applying failed: paused"},
		},
		"SuspendedByLink": {
			reason: "the link of ctrlx ended the pass", in: status.In{Outcome: block("Suspended", "s", classify.OnChange), Suspended: true},
			want: []string{"Ready=False Suspended: s", "Stalled=False Suspended: s", "Paused=True Suspended: s"}, severity: classify.Info,
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
			reason: "the root cause stays whole, and so do the runes before it", severity: classify.Info,
			in: status.In{Outcome: block("No", long, classify.Slow), Root: root},
			want: []string{
				"Ready=False No: " + long[:32_768-1-len(missing)] + missing, "Reconciling=True No: " + long,
			},
		},
		"RootEmpty": {
			reason: "there is no root cause", in: status.In{Outcome: waits, Root: &engine.RootCause{Ref: subnet}}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootSuspended": {
			reason: "the message of a suspension is about something else", in: status.In{Outcome: waits, Root: root, Suspended: true}, severity: classify.Info,
			want: []string{
				"Ready=False OwnerNotReady: the owner is not ready" + missing, "Reconciling=True OwnerNotReady: the owner is not ready",
				"Paused=True Suspended: the object is suspended; resume it to continue",
			},
		},
		"RootOfNone": {reason: "the outcome has no conditions", in: status.In{Outcome: pass{entry: checks.Ignore("theirs")}.outcome(t), Root: root}},
		"RootUnknown": {
			reason: "the root cause from before a restart may still hold", severity: classify.Info,
			in:   status.In{Outcome: waits, RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "the owner is not ready; root cause: X")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready; root cause: X", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootQuoted": {
			reason: "the message from before a restart quotes less of the awaited object", severity: classify.Info,
			in:   status.In{Outcome: block("OwnerNotReady", "no: it waits", classify.Slow), RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "no; root cause: X")}},
			want: []string{"Ready=False OwnerNotReady: no; root cause: X", "Reconciling=True OwnerNotReady: no"},
		},
		"RootNew": {
			reason: "there was no message", in: status.In{Outcome: waits, RootUnknown: true}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootChanged": {
			reason: "the root cause is known", severity: classify.Info,
			in:   status.In{Outcome: waits, Root: root, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "the owner is not ready; root cause: X")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready" + missing, "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootOfLonger": {
			reason: "the message from before a restart says more than a root cause", severity: classify.Info,
			in:   status.In{Outcome: waits, RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "the owner is not ready yet")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
		},
		"RootOfShorter": {
			reason: "the message from before a restart is the start of another one", severity: classify.Info,
			in:   status.In{Outcome: waits, RootUnknown: true, Old: []metav1.Condition{has("Ready", "False", "OwnerNotReady", "the owner")}},
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready"},
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
		"LoopOfReady": {
			reason: "the verdict has no message", in: status.In{Outcome: pass{}.outcome(t), Self: self, Loop: subnet},
			want: []string{"Ready=True Succeeded: " + loop},
		},
		"LoopLong": {
			reason: "both messages fit", in: status.In{Outcome: block("No", fits, classify.Slow), Self: self, Loop: subnet}, severity: classify.Info,
			want: []string{"Ready=False No: " + fits + "; " + loop, "Reconciling=True No: " + fits},
		},
		"LoopTooLong": {
			reason: "the message of the verdict counts more", in: status.In{Outcome: block("No", fits+"x", classify.Slow), Self: self, Loop: subnet}, severity: classify.Info,
			want: []string{"Ready=False No: " + fits + "x", "Reconciling=True No: " + fits + "x"},
		},
		"Reason": {
			reason: "the reason marks all conditions but Ready and Paused", in: status.In{Outcome: block(checks.ReasonPaused, "p", classify.OnChange), Reason: "X"},
			want: []string{"Ready=False Paused: p", "Stalled=False X: p", "Paused=True Paused: p"}, severity: classify.Info,
		},
		"Finished": {
			reason: "the message names the object, because a status can be copied", in: status.In{Outcome: pass{entry: checks.Finished("Done", "done")}.outcome(t), UID: "u"},
			want: []string{"Ready=True Done: done", "Finished=True Done: done (UID u)"},
		},
		"FinishedNameless": {
			reason: "Guards do not read it", in: status.In{Outcome: pass{entry: checks.Finished("Done", "done")}.outcome(t)},
			want: []string{"Ready=True Done: done", "Finished=True Done: done"},
		},
		"Stored": {
			reason: "the record stays", in: status.In{Outcome: waits, Stored: &stored, Timeout: limit(status.Timeout{FromStart: true})}, severity: classify.Info,
			want: []string{"Ready=False OwnerNotReady: the owner is not ready", "Reconciling=True OwnerNotReady: the owner is not ready", "windlass-go.github.io/Record=True Settled: data"},
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
			out := status.Render(tc.in)
			if diff := cmp.Diff(tc.want, lines(out.Conditions)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if out.Over || out.Due != 0 || out.Severity != tc.severity {
				t.Errorf("%s: over %v, due %s, severity %q; want the severity %q", tc.reason, out.Over, out.Due, out.Severity, tc.severity)
			}
		})
	}
}

// pass is a pass whose outcome the tests need.
type pass struct {
	entry, post checks.Result // none: proceed
	token       string        // of an operation under way; empty: Apply is done
	err         error         // of Apply; its text is its reason
	retry       classify.Retry
	postErr     error // of the check after Apply
}

func (p pass) outcome(t *testing.T) flow.Outcome {
	t.Helper()
	type thing struct{}
	gate := func(result checks.Result, err error) checks.Chain[*thing] {
		return chain.New(checks.Gate("gate", func(context.Context, *checks.Request[*thing]) (checks.Result, error) {
			if result.IsZero() && err == nil {
				return checks.Proceed(), nil
			}
			return result, err
		}))
	}
	ext := flow.Extensions[*thing]{EntryCheck: gate(p.entry, nil), PostCheck: gate(p.post, p.postErr)}
	if p.err != nil {
		ext.Classify = classify.Table{{Name: p.err.Error(), Message: classify.Contains(p.err.Error()), Retry: p.retry}}.Chain()
	}
	r := flow.New("thing", flow.Operations[*thing]{
		Key: func(*thing) string { return "k" }, Deleting: func(*thing) bool { return false }, Generation: func(*thing) int64 { return 3 },
		Owner: func(context.Context, *thing) (checks.Object, error) { return checks.Object{}, nil },
		Apply: func(context.Context, *flow.Request[*thing]) (flow.Progress, error) {
			if p.token != "" {
				return flow.InProgress(p.token, time.Minute), nil
			}
			return flow.Done(), p.err
		},
	}, ext)
	return r.Reconcile(t.Context(), &thing{})
}

// Whatever the conditions were, ours become those of the outcome, and those of others stay.
func TestOldConditions(t *testing.T) {
	outcomes := []flow.Outcome{
		pass{}.outcome(t), pass{entry: checks.Finished("Done", "done")}.outcome(t), status.Block("No", "m", classify.Slow),
		status.Block("No", "m", classify.OnChange), status.Block(checks.ReasonPaused, "m", classify.OnChange),
	}
	rapid.Check(t, func(t *rapid.T) {
		in := status.In{Outcome: rapid.SampledFrom(outcomes).Draw(t, "outcome"), Generation: 3, Now: now}
		alone := status.Render(in).Conditions
		all := rapid.Permutation([]string{"Ready", "Reconciling", "Stalled", "Finished", "Paused", "X", "Y"}).Draw(t, "types")
		for _, kind := range all[:rapid.IntRange(0, len(all)).Draw(t, "number")] {
			c := has(kind, "True", "Old", "m")
			if is := meta.FindStatusCondition(alone, kind); is != nil {
				c.Status, c.Reason, c.Message, c.ObservedGeneration = is.Status, is.Reason, is.Message, 3
				switch rapid.IntRange(0, 4).Draw(t, "change") {
				case 0:
					c.Status = metav1.ConditionUnknown
				case 1:
					c.Reason = "Old"
				case 2:
					c.Message = "old"
				case 3:
					c.ObservedGeneration = 2
				}
			}
			in.Old = append(in.Old, c)
		}
		old := slices.Clone(in.Old)
		got := status.Render(in).Conditions
		var others, want []metav1.Condition
		for _, c := range old {
			if c.Type == "X" || c.Type == "Y" {
				want = append(want, c)
			}
		}
		for _, c := range got {
			if is := meta.FindStatusCondition(alone, c.Type); is != nil || c.Type == status.Paused {
				if is == nil {
					is = &metav1.Condition{Type: status.Paused, Status: "False", Reason: "NotPaused", ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(now)}
				}
				if was := meta.FindStatusCondition(old, c.Type); was != nil && was.Status == is.Status {
					is.LastTransitionTime = was.LastTransitionTime
				}
				if diff := cmp.Diff(*is, c); diff != "" {
					t.Errorf("-want, +got:\n%s", diff)
				}
				continue
			}
			others = append(others, c)
		}
		if diff := cmp.Diff(want, others); diff != "" {
			t.Errorf("the conditions of others: -want, +got:\n%s", diff)
		}
		number := len(want) + len(alone)
		if meta.FindStatusCondition(old, status.Paused) != nil && meta.FindStatusCondition(alone, status.Paused) == nil {
			number++
		}
		if len(got) != number {
			t.Errorf("%d conditions, want %d: %q", len(got), number, lines(got))
		}
		if in.Old = got; &status.Render(in).Conditions[0] != &got[0] {
			t.Errorf("a second pass copies or changes the conditions: %q", lines(got))
		}
	})
}

// The clock of a time-out runs from Apply until the object is ready.
func TestClock(t *testing.T) {
	at := func(before time.Duration) *record.Clock {
		return &record.Clock{Self: "s", Since: metav1.NewTime(now.Add(-before))}
	}
	broken := pass{err: errors.New("broken"), retry: classify.Slow}.outcome(t)
	under := pass{token: "t"}.outcome(t)
	before, after := status.Block("No", "", classify.Slow), pass{post: checks.Block("No", "no")}.outcome(t)
	const says = "Reconciling=True Broken: applying failed: broken"
	const over = ": not ready since 2026-11-27T07:59:00Z, for longer than the time-out of 1m0s: "
	cases := map[string]struct {
		reason  string
		out     flow.Outcome
		was     *record.Clock
		timeout status.Timeout
		late    time.Duration // of the pass
		want    string        // the clock, the delay until the next pass, the severity, the last condition
	}{
		"Fails":      {reason: "a failure starts no clock", out: broken, want: "none, 1h0m0s, Warning, " + says},
		"Applies":    {reason: "Apply starts it", out: under, want: "0s, 1m0s, Info, Reconciling=True InProgress: the operation is under way in the cloud"},
		"Blocked":    {reason: "nothing is applied yet", out: before, want: "none, 1h0m0s, Info, Reconciling=True No: No"},
		"BlockedOn":  {reason: "the clock continues, and the block keeps its reason", out: before, was: at(time.Hour), want: "-1h0m0s, 1h0m0s, Info, Reconciling=True No: No"},
		"PostCheck":  {reason: "it is applied", out: after, want: "0s, 1m0s, Info, Reconciling=True No: no"},
		"CheckFails": {reason: "nothing says that it is applied", out: pass{postErr: errors.New("broken")}.outcome(t), want: "none, 1h0m0s, Warning, Reconciling=True CheckFailed: check Gate(gate) failed: broken"},
		"Ignored":    {reason: "another controller owns it", out: pass{entry: checks.Ignore("theirs")}.outcome(t), timeout: status.Timeout{FromStart: true}, want: "none, 1h0m0s, , nothing"},
		"Ready":      {reason: "it is ready", out: pass{}.outcome(t), was: at(0), want: "none, 1h0m0s, , Ready=True Succeeded"},
		"Final":      {reason: "nothing follows", out: pass{err: errors.New("broken"), retry: classify.Never}.outcome(t), was: at(time.Hour), want: "none, 1h0m0s, Error, Finished=True Broken: applying failed: broken"},
		"Deleted":    {reason: "a deletion has no time-out", out: broken, was: at(time.Hour), timeout: status.Timeout{Deleted: true}, want: "none, 1h0m0s, Warning, " + says},
		"NoInputs":   {reason: "the object has no time-out", out: broken, was: at(time.Hour), timeout: status.Timeout{Inputs: nil}, want: "none, 1h0m0s, Warning, " + says},

		"FromStart":    {reason: "the option lets a failure start it", out: broken, timeout: status.Timeout{FromStart: true}, want: "0s, 1m0s, Warning, " + says},
		"FromBlock":    {reason: "the option lets a block start it", out: before, timeout: status.Timeout{FromStart: true}, want: "0s, 1h0m0s, Info, Reconciling=True No: No"},
		"FromPause":    {reason: "a user asked for it", out: status.Block(checks.ReasonPaused, "", classify.OnChange), timeout: status.Timeout{FromStart: true}, want: "none, 1h0m0s, Info, Paused=True Paused: Paused"},
		"FromConflict": {reason: "it was started already", out: broken, was: at(20 * time.Second), timeout: status.Timeout{FromStart: true}, want: "-20s, 40s, Warning, " + says},

		"Runs":    {reason: "the next pass comes when the time is over", out: broken, was: at(20 * time.Second), want: "-20s, 40s, Warning, " + says},
		"Almost":  {reason: "the time is not over yet", out: broken, was: at(time.Minute), late: -1, want: "-1m0s, 1ns, Warning, " + says},
		"Over":    {reason: "the time is over, and no retry ends that", out: broken, was: at(time.Minute), want: "-1m0s, 1h0m0s, Error, Stalled=True Timeout" + over + "applying failed: broken"},
		"Retried": {reason: "the error has a delay of its own", out: broken, was: at(time.Minute), timeout: status.Timeout{Retried: true}, want: "-1m0s, 1h0m0s, Warning, Reconciling=True Timeout" + over + "applying failed: broken"},
		"Paused":  {reason: "a user paused it after Apply", out: pass{post: checks.Block(checks.ReasonPaused, "p", checks.WithRetry(classify.OnChange))}.outcome(t), was: at(time.Minute), want: "-1m0s, 1h0m0s, Error, Paused=True Paused: p"},
		"Changed": {reason: "the object changed, so the failure is a new one", out: broken, was: &record.Clock{Self: "x", Since: at(time.Hour).Since}, want: "none, 1h0m0s, Warning, " + says},
		"Ahead":   {reason: "the clock was set back meanwhile, so the time begins now", out: broken, was: at(-2 * time.Second), want: "0s, 1m0s, Warning, " + says},
		"Rounded": {reason: "the time began within this second", out: broken, was: at(-time.Second), want: "1s, 1m1s, Warning, " + says},
		"Up":      {reason: "no time-out is early, because the clock has seconds", out: under, late: 1500 * time.Millisecond, want: "2s, 1m0.5s, Info, Reconciling=True InProgress: the operation is under way in the cloud"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.timeout.After = time.Minute; name != "NoInputs" {
				tc.timeout.Inputs = &record.Clock{Self: "s"}
			}
			next := &record.Record{UID: "u", Kind: "K", Clock: tc.was}
			out := status.Render(status.In{Outcome: tc.out, Now: now.Add(tc.late), Next: next, Timeout: tc.timeout})
			verdict := append([]string{"nothing"}, lines(slices.DeleteFunc(slices.Clone(out.Conditions), func(c metav1.Condition) bool { return c.Type == record.Condition }))...)
			clock := "none"
			if out.Clock != nil {
				clock = out.Clock.Since.Sub(now).String()
			}
			got := fmt.Sprintf("%s, %s, %s, %s", clock, out.In(time.Hour), out.Severity, verdict[len(verdict)-1])
			if got != tc.want || out.Over != strings.Contains(got, over) && name != "Paused" {
				t.Errorf("%s: over %t\ngot:  %s\nwant: %s", tc.reason, out.Over, got, tc.want)
			}
			if stored := record.In(out.Conditions); (stored == nil) != (out.Clock == nil) || next.Clock != tc.was {
				t.Errorf("%s: the record is %+v", tc.reason, stored)
			}
		})
	}
	if o := (&status.Out{}); o.In(time.Hour) != time.Hour {
		t.Error("without a clock the delay changes")
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
		"None":    {"no check wrote them", []metav1.Condition{ready}, []string{"Ready=False OwnerNotReady: no"}},
		"Checks":  {"Ready has the message of the checks", []metav1.Condition{ready, mine}, []string{"Ready=Unknown Passed: passed"}},
		"Caller":  {"the caller has set Ready meanwhile", []metav1.Condition{has("Ready", "False", "Failed", "mine"), mine}, []string{"Ready=False Failed: mine"}},
		"Unknown": {"the caller has set it to Unknown", []metav1.Condition{has("Ready", "Unknown", "Failed", "no"), mine}, []string{"Ready=Unknown Failed: no"}},
		"NoReady": {"the caller has removed Ready", []metav1.Condition{mine}, nil},
		"Same":    {"a caller may use the reason for Ready", []metav1.Condition{has("Ready", "False", "Checks", "x")}, []string{"Ready=False Checks: x"}},
		"Paused":  {"the object continues", []metav1.Condition{ready, mine, has(status.Paused, "True", "Paused", "p")}, []string{"Ready=Unknown Passed: passed", "Paused=False NotPaused"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old := slices.Clone(tc.old)
			got := status.TakenBack(tc.old, "Checks", "Passed", "passed", 3, now)
			if diff := cmp.Diff(tc.want, lines(got)); diff != "" || !cmp.Equal(old, tc.old) {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			for _, c := range got {
				if !slices.Contains(old, c) && (c.ObservedGeneration != 3 || !c.LastTransitionTime.Time.Equal(now)) {
					t.Errorf("%s: generation %d, changed at %s", c.Type, c.ObservedGeneration, c.LastTransitionTime)
				}
			}
		})
	}
}

func TestShows(t *testing.T) {
	for _, tc := range []struct {
		reason string
		old    metav1.Condition
		want   bool
	}{
		{"the conditions show the outcome", has("Ready", "False", "R", "m"), true},
		{"there is no verdict", has("X", "False", "R", "m"), false},
		{"the status is another one", has("Ready", "Unknown", "R", "m"), false},
		{"the reason is another one", has("Ready", "False", "S", "m"), false},
		{"the message is another one", has("Ready", "False", "R", "n"), false},
	} {
		if got := status.Shows([]metav1.Condition{tc.old}, status.Block("R", "m", classify.Slow)); got != tc.want {
			t.Errorf("%s: got %t", tc.reason, got)
		}
	}
}
