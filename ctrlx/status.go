package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// conditions is how the conditions of objects are got at.
type conditions[T client.Object] struct {
	get     func(T) []metav1.Condition
	set     func(T, []metav1.Condition)
	observe func(obj T, generation int64) bool // sets status.observedGeneration, and reports whether the object has it
	handled func(obj T, request string) bool   // sets status.lastHandledReconcileAt, and reports whether the object has it
}

// conditionsOf finds the conditions of objects of type T: by the option or, without it, by methods. It panics if there is
// neither. maker is the function that is called, with the name of the kind.
func conditionsOf[T client.Object](maker string, option any) conditions[T] {
	if at := optionFor[func(T) *[]metav1.Condition](maker, "WithConditions", option); at != nil {
		return conditions[T]{
			func(obj T) []metav1.Condition { return *at(obj) },
			func(obj T, all []metav1.Condition) { *at(obj) = all },
			statusField[T, int64](observedGeneration),
			statusField[T, string](lastHandledReconcileAt),
		}
	}
	var zero T
	if _, ok := any(zero).(Conditioned); !ok {
		panic(fmt.Sprintf("ctrlx: %s: %T has no methods for its conditions: give it GetConditions and SetConditions, or use WithConditions", maker, zero))
	}
	return conditions[T]{
		func(obj T) []metav1.Condition { return any(obj).(Conditioned).GetConditions() },
		func(obj T, all []metav1.Condition) { any(obj).(Conditioned).SetConditions(all) },
		statusField[T, int64](observedGeneration),
		statusField[T, string](lastHandledReconcileAt),
	}
}

// ours lists the conditions that a flow writes. Other controllers own all other conditions.
var ours = []string{"Ready", "Reconciling", "Stalled", conditionFinished, ConditionPaused}

// conditionFinished is the condition of a final outcome.
const conditionFinished = "Finished"

// finished reports whether the outcome of the last pass was final for the present spec ([flow.Outcome.Final]).
func (c conditions[T]) finished(obj T) bool {
	is := meta.FindStatusCondition(c.get(obj), conditionFinished)
	return is != nil && is.Status == metav1.ConditionTrue && is.ObservedGeneration == obj.GetGeneration() && !deleting(obj) &&
		strings.HasSuffix(is.Message, finishedOf("", obj))
}

// finishedOf returns the message of the condition Finished of an object. It names
// the object, because a status may be restored under another one.
func finishedOf(message string, obj client.Object) string {
	return message + " (UID " + string(obj.GetUID()) + ")"
}

// show reports whether the condition Ready shows an outcome already.
func (c conditions[T]) show(obj T, out flow.Outcome) bool {
	is := meta.FindStatusCondition(c.get(obj), "Ready")
	return is != nil && is.Status == metav1.ConditionFalse && is.Reason == out.Reason() && is.Message == out.Message()
}

// metadataWritten takes over the metadata of at, the answer to a write of obj in
// the middle of a pass. It takes over the version only if the status is as this
// pass knows it: otherwise the API server must refuse the write of the status.
func (r *Reconciler[T]) metadataWritten(ctx context.Context, obj T, at client.Object) {
	obj.SetAnnotations(at.GetAnnotations())
	obj.SetFinalizers(at.GetFinalizers())
	if p := passOf(ctx); p != nil && digest.SameStatus(p.read, at) {
		obj.SetResourceVersion(at.GetResourceVersion())
	}
}

// status is that of an object during a pass.
type status[T client.Object] struct {
	r   *Reconciler[T]
	obj T
	p   *pass
}

// write writes the outcome of the pass, if the status changes, and the event of a changed
// verdict.
func (s *status[T]) write(ctx context.Context, out flow.Outcome, circle []checks.Ref, timer clock) error {
	was := s.r.conditions.get(s.obj)
	before := s.r.readyBefore(s.p.read.(T))
	verdict, severity := timer.decide(out)
	if len(circle) > 0 { // the message of the check quotes the awaited object, so it would grow with each turn of the cycle
		verdict = blockConditions(ReasonDependencyCycle, engine.CycleText(circle), classify.OnChange)
	}
	for i := range verdict {
		if verdict[i].Type == conditionFinished {
			verdict[i].Message = finishedOf(verdict[i].Message, s.obj)
		}
	}
	all := merged(was, s.p.withRoot(s.r.suspended(s.obj, verdict), was), s.obj.GetGeneration())
	s.p.reportLoop(all)
	all, err := s.r.recorded(s.p, out, timer, s.r.echo(s.obj, s.r.opt.request(s.p.read)), all)
	if err != nil {
		return err
	}
	s.r.conditions.set(s.obj, all)
	s.r.conditions.observe(s.obj, s.obj.GetGeneration())
	if digest.SameStatus(s.p.read, s.obj) {
		s.p.exists = true // an earlier pass wrote this status
		s.r.correct(ctx, s.obj, false)
		return nil
	}
	base := s.base()
	read := s.r.conditions.get(base)
	err = s.r.writing(s.obj, all, func() error { return s.r.served.wroteStatus(s.r.writer().Status(ctx, base, s.obj)) })
	if apierrors.IsInvalid(err) {
		return errors.Join(err, s.refused(ctx, err))
	} else if err != nil {
		return err
	}
	if v := base.GetResourceVersion(); v != "" && v == s.obj.GetResourceVersion() {
		s.r.dropped.Do(func() {
			log.FromContext(ctx).Error(errDropped, "the status of each pass is lost; generate the definition again, and apply it", "reconciler", s.r.name)
		})
	}
	s.p.rootChanged = false // the event of the status wakes the waiters
	s.r.correct(ctx, s.obj, len(changedTypes(read, all)) > 0)
	if now := meta.FindStatusCondition(all, "Ready"); now != nil && !quiet(out) && (before == nil || before.Status != now.Status || before.Reason != now.Reason) {
		s.r.tellRelated(s.obj, s.r.related(s.obj, out), now, eventSeverity(out, severity, timer.over || len(circle) > 0), out.Link())
	}
	return nil
}

// errDropped is the error of a write of the status that changed nothing.
var errDropped = errors.New("the API server drops a part of the status, such as status.conditions, because the CustomResourceDefinition lacks it")

// base returns the object as the pass read it and as its own writes left it.
func (s *status[T]) base() T { return s.r.baseOf(s.p, s.obj) }

// baseOf returns the object as the pass read it, with the metadata of obj and
// the operation that the pass stored. It is obj itself outside of a pass.
func (r *Reconciler[T]) baseOf(p *pass, obj T) T {
	if p == nil {
		return obj.DeepCopyObject().(T)
	}
	base := p.read.DeepCopyObject().(T)
	base.GetObjectKind().SetGroupVersionKind(r.gvk)
	base.SetResourceVersion(obj.GetResourceVersion())
	base.SetAnnotations(obj.GetAnnotations())
	base.SetFinalizers(obj.GetFinalizers())
	return base
}

// refused says in the conditions that the API server takes nothing of what operations have written to the status, and leaves the
// rest of it as it was.
func (s *status[T]) refused(ctx context.Context, why error) error {
	base := s.base()
	obj := base.DeepCopyObject().(T)
	refused := s.r.suspended(obj, blockConditions(ReasonStatusInvalid, why.Error(), classify.OnChange))
	s.r.conditions.set(obj, merged(s.r.conditions.get(obj), refused, obj.GetGeneration()))
	s.r.conditions.observe(obj, obj.GetGeneration())
	if digest.SameStatus(s.p.read, obj) {
		return nil
	}
	return s.r.writing(obj, s.r.conditions.get(obj), func() error { return s.r.writer().Status(ctx, base, obj) })
}

// blockConditions returns the conditions of a block. The flow makes the message safe to show.
func blockConditions(reason, message string, retry classify.Retry) []flow.Condition {
	return flow.Stop(checks.Block(reason, message, checks.WithRetry(retry))).Conditions()
}

// merged are the conditions of an object after a pass: those of others as they are, and ours as the pass left them. The old
// ones are not changed.
func merged(old []metav1.Condition, outcome []flow.Condition, generation int64) []metav1.Condition {
	all := old
	for _, t := range ours {
		is := meta.FindStatusCondition(all, t)
		i := slices.IndexFunc(outcome, func(c flow.Condition) bool { return c.Type == t })
		if i < 0 {
			if t == ConditionPaused {
				all = notPaused(all, generation)
			} else if is != nil {
				all = slices.DeleteFunc(slices.Clone(all), func(c metav1.Condition) bool { return c.Type == t })
			}
			continue
		}
		c := metav1.Condition{
			Type: t, Status: metav1.ConditionStatus(outcome[i].Status), Reason: outcome[i].Reason,
			Message: outcome[i].Message, ObservedGeneration: generation,
		}
		if is == nil || !sameCondition(is, &c) {
			all = slices.Clone(all)
			meta.SetStatusCondition(&all, c)
		}
	}
	return all
}
