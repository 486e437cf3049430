package ctrlx

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// ConditionPaused is the condition of an object that a user suspended
// ([SuspendConfiguration]) or paused ([checks.Paused]). It is True in the last
// pass that was held, with the reason and the message of that block. When the
// object continues, it becomes False with [ReasonNotPaused], as in Cluster API:
// so "kubectl wait --for=condition=Paused=False" works, and the time of the
// transition stays visible. An object that was never paused does not have it.
const ConditionPaused = "Paused"

// onHold reports whether a user suspended or paused the object. Only a change
// ends such a block, but the object is not stuck.
func onHold(out flow.Outcome) bool {
	return out.State() == flow.StateBlocked && out.Retry() == classify.OnChange &&
		(out.Reason() == ReasonSuspended || out.Reason() == checks.ReasonPaused)
}

// conditionsFor returns the conditions of an outcome. Stalled is False for an
// object on hold: otherwise kstatus reports it as Failed.
func conditionsFor(out flow.Outcome) []flow.Condition {
	all := out.Conditions()
	if !onHold(out) {
		return all
	}
	for i := range all {
		if all[i].Type == "Stalled" {
			all[i].Status = "False"
		}
	}
	return held(out, all)
}

// held returns the conditions of an outcome with the condition Paused, if the
// object is on hold.
func held(out flow.Outcome, all []flow.Condition) []flow.Condition {
	if !onHold(out) || len(all) == 0 {
		return all
	}
	return append(all, flow.Condition{Type: ConditionPaused, Status: "True", Reason: out.Reason(), Message: out.Message()})
}

// suspended returns the conditions of a pass over obj with the condition Paused
// if obj is suspended. An outer link on Pass may have ended the pass before the
// link Suspended, for example with an error.
func (r *Reconciler[T]) suspended(obj T, all []flow.Condition) []flow.Condition {
	paused := func(c flow.Condition) bool { return c.Type == ConditionPaused }
	if r.config.suspended == nil || slices.ContainsFunc(all, paused) || !r.isSuspended(obj) {
		return all
	}
	return append(slices.Clip(all), flow.Condition{Type: ConditionPaused, Status: "True", Reason: ReasonSuspended, Message: suspendedMessage})
}

// isSuspended reports whether obj is suspended and not being deleted. A panic
// counts as not suspended: the link Suspended reports it.
func (r *Reconciler[T]) isSuspended(obj T) (yes bool) {
	defer func() { _ = recover() }()
	return r.config.suspended(obj) && !r.ops.Deleting(obj)
}

// notPaused returns conditions in which Paused is False, if it is there. It
// does not change all.
func notPaused(all []metav1.Condition, generation int64) []metav1.Condition {
	c := metav1.Condition{Type: ConditionPaused, Status: metav1.ConditionFalse, Reason: ReasonNotPaused, ObservedGeneration: generation}
	if is := meta.FindStatusCondition(all, ConditionPaused); is == nil || sameCondition(is, &c) {
		return all
	}
	all = slices.Clone(all)
	meta.SetStatusCondition(&all, c)
	return all
}
