package ctrlx

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// ConditionProcessing is the condition that keeps the clock of a time-out over restarts
// ([TimeoutConfiguration]). An object has it while it was applied and is not ready. Its
// last transition is the begin of the clock, rounded up to the second. Its message has
// digests of the inputs of the object.
const ConditionProcessing = "Processing"

// WithTimeoutFromStart starts the clock of a time-out ([TimeoutConfiguration]) with the
// first pass that fails, that a check blocks, or that does not find the object ready.
// So errors before the first Apply become a time-out, too, and waiting for an owner or a
// reference takes time from it. A suspended or paused object starts no clock. [New]
// panics if the objects have no method GetTimeout.
func WithTimeoutFromStart() Option { return func(o *options) { o.fromStart = true } }

// clock is the clock of an object that is not ready, after a pass. The zero clock does not run.
type clock struct {
	since   time.Time
	inputs  inputs
	timeout time.Duration
	due     time.Duration // how long the outcome of the pass may stay before it is a time-out; 0: it cannot become one
	over    bool          // the outcome is a time-out
}

// clockOf returns the clock of an object after a pass. read is the object as it was read.
func (r *Reconciler[T]) clockOf(p *pass, read T, out flow.Outcome) clock {
	if r.config.timeout == nil || out.State() == flow.StateReady || out.Final() || deletes(read, out) {
		return clock{}
	}
	now := r.opt.now()
	c := clock{timeout: p.timeout, inputs: inputsOf(read, p)}
	was := meta.FindStatusCondition(r.conditions.get(read), ConditionProcessing)
	switch {
	case was != nil && c.inputs.goOn(was.Message):
		c.since = was.LastTransitionTime.Time
	case notReady(out), r.opt.fromStart && (out.State() == flow.StateFailed || out.State() == flow.StateBlocked && !onHold(out)):
		c.since = now.Truncate(time.Second)
		if c.since.Before(now) {
			c.since = c.since.Add(time.Second)
		}
	default:
		return clock{}
	}
	if notReady(out) || out.State() == flow.StateFailed {
		c.due = c.timeout - now.Sub(c.since)
		c.over = c.due <= 0
	}
	return c
}

// notReady reports whether the resource was applied and is not ready.
func notReady(out flow.Outcome) bool {
	return out.State() == flow.StateInProgress || out.State() == flow.StateBlocked && out.Point() == flow.PointPostCheck
}

func (c *clock) runs() bool { return !c.since.IsZero() }

// decide returns the conditions of the outcome of a pass, or those of a time-out if the time
// is over.
func (c *clock) decide(out flow.Outcome) ([]flow.Condition, classify.Severity) {
	if !c.over {
		return conditionsFor(out), out.Severity()
	}
	retry, severity := classify.OnChange, classify.Error
	if retried(out) {
		retry, severity = out.Retry(), classify.Warning
	}
	// The message is the same in each pass, because a message that changes causes a write in each pass.
	since := fmt.Sprintf("not ready since %s, for longer than the time-out of %s: ", c.since.UTC().Format(time.RFC3339), c.timeout)
	return held(out, blockConditions(ReasonTimeout, since+out.Message(), retry)), severity
}

// retried reports whether the error of an outcome has a delay of its own.
func retried(out flow.Outcome) bool {
	switch out.Rule() {
	case ruleRetriable, ruleConflict, ruleTooMany, ruleTimeout:
		return true
	}
	return strings.HasPrefix(out.Rule(), rulePrefix) && out.After() > 0
}

// keep writes the clock into conditions, or takes it away.
func (c *clock) keep(all []metav1.Condition, generation int64) []metav1.Condition {
	if !c.runs() {
		meta.RemoveStatusCondition(&all, ConditionProcessing)
		return all
	}
	now := metav1.Condition{
		Type: ConditionProcessing, Status: metav1.ConditionTrue, Reason: ReasonProcessing, ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(c.since), Message: c.inputs.String(),
	}
	was := meta.FindStatusCondition(all, ConditionProcessing)
	if was == nil {
		return append(all, now)
	}
	*was = now // also the time of a clock that began again, which SetStatusCondition would leave
	return all
}

// in returns the delay until the next pass, which is not after the end of the clock.
func (c *clock) in(delay time.Duration) time.Duration {
	if c.runs() && c.due > 0 {
		return min(delay, c.due)
	}
	return delay
}

// deletes reports whether a pass deleted an object.
func deletes(obj client.Object, out flow.Outcome) bool {
	return !obj.GetDeletionTimestamp().IsZero() || out.Point() == flow.PointDeleteCheck || out.Point() == flow.PointDelete
}
