package ctrlx

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

// WithTimeoutFromStart starts the clock of a time-out ([TimeoutConfiguration]) with the
// first pass that fails, that a check blocks, or that does not find the object ready.
// So errors before the first Apply become a time-out, too, and waiting for an owner or a
// reference takes time from it. A suspended or paused object starts no clock. [New]
// panics if the objects have no method GetTimeout.
func WithTimeoutFromStart() Option { return func(o *options) { o.fromStart = true } }

// clock is the clock of an object that is not ready, after a pass. The zero clock does not run.
type clock struct {
	*record.Clock // as it is stored; nil: it does not run
	timeout       time.Duration
	due           time.Duration // how long the outcome of the pass may stay before it is a time-out; 0: it cannot become one
	over          bool          // the outcome is a time-out
}

// clockOf returns the clock of an object after a pass. read is the object as it was read.
func (r *Reconciler[T]) clockOf(p *pass, read T, out flow.Outcome) clock {
	if r.config.timeout == nil || out.State() == flow.StateReady || out.Final() || deletes(read, out) {
		return clock{}
	}
	now := r.opt.now()
	c := clock{timeout: p.timeout}
	inputs := inputsOf(read, p)
	rec, _ := r.recordOf(read) // a refused record has no clock
	switch {
	case inputs.Continue(rec.Clock):
	case notReady(out), r.opt.fromStart && (out.State() == flow.StateFailed || out.State() == flow.StateBlocked && !onHold(out)):
		since := now.Truncate(time.Second)
		if since.Before(now) {
			since = since.Add(time.Second)
		}
		inputs.Since = metav1.NewTime(since)
	default:
		return clock{}
	}
	c.Clock = inputs
	if notReady(out) || out.State() == flow.StateFailed {
		c.due = c.timeout - now.Sub(c.Since.Time)
		c.over = c.due <= 0
	}
	return c
}

// notReady reports whether the resource was applied and is not ready.
func notReady(out flow.Outcome) bool {
	return out.State() == flow.StateInProgress || out.State() == flow.StateBlocked && out.Point() == flow.PointPostCheck
}

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
	since := fmt.Sprintf("not ready since %s, for longer than the time-out of %s: ", c.Since.UTC().Format(time.RFC3339), c.timeout)
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

// in returns the delay until the next pass, which is not after the end of the clock.
func (c *clock) in(delay time.Duration) time.Duration {
	if c.Clock != nil && c.due > 0 {
		return min(delay, c.due)
	}
	return delay
}

// deletes reports whether a pass deleted an object.
func deletes(obj client.Object, out flow.Outcome) bool {
	return !obj.GetDeletionTimestamp().IsZero() || out.Point() == flow.PointDeleteCheck || out.Point() == flow.PointDelete
}
