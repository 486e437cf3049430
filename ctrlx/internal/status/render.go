// Package status renders and writes the status of an object.
package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

// In is all that the conditions of an object depend on after a pass. Only Outcome is
// required.
type In struct {
	Outcome    flow.Outcome
	Old        []metav1.Condition // as the pass leaves them. Render does not change them
	UID        types.UID          // empty: a final outcome does not name the object
	Generation int64
	Now        time.Time

	Cycle     []checks.Ref // the path if the object waits for itself by way of others; nil: it does not
	Suspended bool         // a user suspended the object
	Reason    string       // of all conditions but Ready and Paused; empty: that of the outcome

	Root        *engine.RootCause // see engine.Waiting
	RootUnknown bool
	Self, Loop  checks.Ref // the object, and the followed object that changes again and again; a zero Loop: there is none

	Timeout Timeout

	Stored *metav1.Condition // the record as the pass read or wrote it; nil: there is none
	Next   *record.Record    // replaces it, with the clock of Timeout; nil: the record stays
}

// Timeout holds the inputs of the clock of a time-out. The zero Timeout is none.
type Timeout struct {
	After     time.Duration
	FromStart bool          // a failed pass and a block start the clock
	Retried   bool          // the error of the outcome has a delay of its own
	Deleted   bool          // the pass deleted the object
	Inputs    *record.Clock // a clock that does not run, with the inputs of the object; nil: there is no time-out
}

// Out is the result of Render.
type Out struct {
	Conditions []metav1.Condition
	Clock      *record.Clock     // of the time-out; nil: it does not run
	Over       bool              // the outcome is a time-out
	Due        time.Duration     // the outcome becomes a time-out after it; 0: never
	Severity   classify.Severity // of the event
}

// The conditions and reasons that Render adds to those of an outcome.
const (
	Finished = object.ConditionFinished
	Paused   = "Paused"

	timeoutReason   = "Timeout"
	cycleReason     = "DependencyCycle"
	suspendedReason = "Suspended"
	notPausedReason = "NotPaused"

	// SuspendedMessage is the message of a suspended object.
	SuspendedMessage = "the object is suspended; resume it to continue"
	// RootPrefix precedes the root cause at the end of a message.
	RootPrefix = "; root cause: "

	maxMessage = 32_768 // the largest length of a message of a condition
)

// ours lists the conditions that a flow writes. Other controllers own all other conditions.
var ours = [...]string{"Ready", "Reconciling", "Stalled", Finished, Paused}

// Render returns the conditions of an object after a pass: those of others as they are, and
// ours as the outcome says. It has no clock and makes no requests.
func Render(in In) Out {
	out := Out{Severity: in.Outcome.Severity()}
	out.setClock(&in)
	verdict, retry := conditionsOf(in.Outcome), classify.OnChange
	if out.Over {
		if out.Severity = classify.Error; in.Timeout.Retried {
			retry, out.Severity = in.Outcome.Retry(), classify.Warning
		}
	}
	switch {
	case in.Cycle != nil: // the message of the check quotes the awaited object, so it would grow with each turn of the cycle
		verdict = Block(cycleReason, engine.CycleText(in.Cycle), classify.OnChange).Conditions()
	case out.Over:
		// The message is the same in each pass, because a message that changes causes a write in each pass.
		since := fmt.Sprintf("not ready since %s, for longer than the time-out of %s: ", out.Clock.Since.UTC().Format(time.RFC3339), in.Timeout.After)
		verdict = held(in.Outcome, Block(timeoutReason, since+in.Outcome.Message(), retry).Conditions())
	case in.Outcome.State() == flow.StateBlocked && (out.Severity == classify.Warning || OnHold(in.Outcome)):
		out.Severity = classify.Info // an ordinary wait, or one that a user asked for
	}
	// An outer link on Pass may have ended the pass of a suspended object before the link Suspended, for example with an error.
	if in.Suspended { // of two conditions Paused, the first one counts
		verdict = append(slices.Clip(verdict), flow.Condition{Type: Paused, Status: "True", Reason: suspendedReason, Message: SuspendedMessage})
	}
	in.addRoot(verdict)
	for i := range verdict {
		switch c := &verdict[i]; {
		case c.Type == "Ready":
			in.addLoop(c)
		case c.Type == Finished && in.UID != "":
			c.Message = object.FinishedMessage(c.Message, in.UID)
		}
		if c := &verdict[i]; in.Reason != "" && c.Type != "Ready" && c.Type != Paused {
			c.Reason = in.Reason
		}
	}
	out.Conditions = record.Put(merged(in.Old, verdict, in.Generation, in.Now), in.stored(out.Clock)) // an operation of the user may replace the whole status in memory
	return out
}

// Block returns the outcome of a block. The flow makes the message safe to show.
func Block(reason, message string, retry classify.Retry) flow.Outcome {
	return flow.Stop(checks.Block(reason, message, checks.WithRetry(retry)))
}

// stored returns the record after the pass; nil: there is none.
func (in *In) stored(clock *record.Clock) *metav1.Condition {
	if in.Next == nil {
		return in.Stored
	}
	next := *in.Next
	next.Clock = clock
	return record.Encode(next, in.Stored, in.Generation, in.Now)
}

// setClock sets the clock after the pass.
func (out *Out) setClock(in *In) {
	o, t := in.Outcome, in.Timeout
	if in.Next == nil || t.Inputs == nil || t.Deleted || o.State() == flow.StateReady || o.Final() {
		return
	}
	applied := o.State() == flow.StateInProgress || o.State() == flow.StateBlocked && o.Point() == flow.PointPostCheck
	failed := o.State() == flow.StateFailed
	c := &record.Clock{Self: t.Inputs.Self, Read: maps.Clone(t.Inputs.Read)}
	since := in.Now.Truncate(time.Second)
	if since.Before(in.Now) {
		since = since.Add(time.Second)
	}
	switch {
	case c.Continue(in.Next.Clock):
		if c.Since.Time.After(since.Add(time.Second)) { // the time was set back, and the time-out would come late
			c.Since = metav1.NewTime(since)
		}
	case applied, t.FromStart && (failed || o.State() == flow.StateBlocked && !OnHold(o)):
		c.Since = metav1.NewTime(since)
	default:
		return
	}
	out.Clock = c
	if applied || failed {
		out.Due = t.After - in.Now.Sub(c.Since.Time)
		out.Over = out.Due <= 0
	}
}

// In returns the delay until the next pass, which is not after the end of the clock.
func (out *Out) In(delay time.Duration) time.Duration {
	if out.Due > 0 {
		return min(delay, out.Due)
	}
	return delay
}

// OnHold reports whether a user suspended or paused the object. Only a change ends
// such a block, but the object is not stuck.
func OnHold(out flow.Outcome) bool {
	return out.State() == flow.StateBlocked && out.Retry() == classify.OnChange &&
		(out.Reason() == suspendedReason || out.Reason() == checks.ReasonPaused)
}

// conditionsOf returns the conditions of an outcome. Stalled is False for an object on
// hold: otherwise kstatus reports it as Failed.
func conditionsOf(out flow.Outcome) []flow.Condition {
	all := out.Conditions()
	if !OnHold(out) {
		return all
	}
	for i := range all { // Ready and Stalled
		all[i].Status = "False"
	}
	return held(out, all)
}

// held returns the conditions of an outcome with the condition Paused, if the object is
// on hold.
func held(out flow.Outcome, all []flow.Condition) []flow.Condition {
	if !OnHold(out) {
		return all
	}
	return append(all, flow.Condition{Type: Paused, Status: "True", Reason: out.Reason(), Message: out.Message()})
}

// addRoot adds the root cause of the wait to the end of the message of Ready, unless the
// message names it. The text has neither the distance to the root nor the number of its
// waiters, so a change of these writes nothing.
func (in *In) addRoot(verdict []flow.Condition) {
	if len(verdict) == 0 {
		return
	}
	ready := &verdict[0] // as in each outcome
	found := ready.Message
	message, rest := found, found
	switch before := meta.FindStatusCondition(in.Old, "Ready"); {
	case in.RootUnknown && before != nil && mayHold(before.Message, message):
		message = before.Message // of the program before a restart
		rest, _, _ = strings.Cut(message, RootPrefix)
	case in.Root != nil && in.Root.Text != "" && !in.Root.Named(message):
		suffix := RootPrefix + in.Root.Text
		message = strings.ToValidUTF8(message[:min(len(message), maxMessage-len(suffix))], "") + suffix
	}
	for i := range verdict { // the other conditions have the message without the root cause
		if verdict[i].Message == found {
			verdict[i].Message = rest
		}
	}
	ready.Message = message
}

// mayHold reports whether the stored message may be the one that this pass will find once
// the awaited objects have had a pass: it adds a root cause, or it does not quote the
// message of an object that turns out to wait itself.
func mayHold(stored, message string) bool {
	head, _, _ := strings.Cut(stored, RootPrefix)
	return strings.HasPrefix(stored, message+RootPrefix) || strings.HasPrefix(message, head+": ")
}

// addLoop adds to the condition Ready that a followed object changes again and again. It
// names both objects.
func (in *In) addLoop(c *flow.Condition) {
	if in.Loop.Kind == "" {
		return
	}
	note := fmt.Sprintf("%s changes again and again, and each change causes a pass that does not change this verdict: "+
		"the passes for these changes are delayed by up to 10 minutes; if passes over %s cause the changes, correct that, "+
		"or name the kind in ctrlx.WithUnfollowedKinds", in.Loop, in.Self)
	if c.Message != "" {
		note = c.Message + "; " + note
	}
	if len(note) <= maxMessage {
		c.Message = note
	}
}

// Shows reports whether the condition Ready shows an outcome already.
func Shows(all []metav1.Condition, out flow.Outcome) bool {
	is := meta.FindStatusCondition(all, "Ready")
	return is != nil && is.Status == metav1.ConditionFalse && is.Reason == out.Reason() && is.Message == out.Message()
}

// TakenBack returns conditions without those of Render with a Reason, as if no pass had
// written them: Paused is False, and Ready is Unknown with the given reason and message if
// it has their message.
func TakenBack(all []metav1.Condition, reason, ready, message string, generation int64, now time.Time) []metav1.Condition {
	ofRender := func(c metav1.Condition) bool { return c.Type != "Ready" && c.Reason == reason }
	i := slices.IndexFunc(all, ofRender)
	if i < 0 {
		return all
	}
	was := all[i].Message
	all = slices.DeleteFunc(slices.Clone(notPaused(all, generation, now)), ofRender)
	if is := meta.FindStatusCondition(all, "Ready"); is != nil && is.Status != metav1.ConditionUnknown && is.Message == was {
		meta.SetStatusCondition(&all, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionUnknown, Reason: ready, ObservedGeneration: generation, Message: message,
			LastTransitionTime: metav1.NewTime(now),
		})
	}
	return all
}

// merged returns the conditions of an object after a pass. It does not change old.
func merged(old []metav1.Condition, outcome []flow.Condition, generation int64, now time.Time) []metav1.Condition {
	all := old
	for _, t := range ours {
		is := meta.FindStatusCondition(all, t)
		i := slices.IndexFunc(outcome, func(c flow.Condition) bool { return c.Type == t })
		if i < 0 {
			if t == Paused {
				all = notPaused(all, generation, now)
			} else if is != nil {
				all = slices.DeleteFunc(slices.Clone(all), func(c metav1.Condition) bool { return c.Type == t })
			}
			continue
		}
		all = with(all, metav1.Condition{
			Type: t, Status: metav1.ConditionStatus(outcome[i].Status), Reason: outcome[i].Reason, Message: outcome[i].Message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
		})
	}
	return all
}

// notPaused returns conditions in which Paused is False, if it is there: so the time of
// the transition stays visible.
func notPaused(all []metav1.Condition, generation int64, now time.Time) []metav1.Condition {
	if meta.FindStatusCondition(all, Paused) == nil {
		return all
	}
	return with(all, metav1.Condition{
		Type: Paused, Status: metav1.ConditionFalse, Reason: notPausedReason, ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now),
	})
}

// with returns conditions with c in place of the one of its type. It does not change all,
// and allocates nothing if all has c, as in almost every pass.
func with(all []metav1.Condition, c metav1.Condition) []metav1.Condition {
	if Same(meta.FindStatusCondition(all, c.Type), &c) {
		return all
	}
	all = slices.Clone(all)
	meta.SetStatusCondition(&all, c)
	return all
}

// Same reports whether two conditions are equal but for the time of their last
// transition. Nil stands for a condition that is not there.
func Same(a, b *metav1.Condition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.ObservedGeneration == b.ObservedGeneration
}
