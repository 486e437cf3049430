package ctrlx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/gauges"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// again is the delay of a pass that read an old object.
const again = memory.Again

// Reconcile implements reconcile.Reconciler. It returns only errors of the API server;
// all other errors are in the conditions of the object.
func (r *Reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	if r.engine == nil {
		return result, r.notSetUp()
	}
	name, now := req.NamespacedName, r.now()
	known := r.wakes(name) // wake: each event from now on causes another pass
	within, endOfPass := r.interrupter.begin(ctx, name)
	defer endOfPass()
	var p *pass
	defer func() {
		result, err = r.memory.Ended(ctx, req.NamespacedName, result, err, r.now)
		p.writeLine(result.RequeueAfter)
	}()

	read, err := r.own.Read(ctx, name) // read: in no older version than this process wrote
	if err != nil {
		if apierrors.IsNotFound(err) && r.orphanOf(name, "") != nil {
			return r.deleteOrphan(ctx, req)
		}
		return result, r.unread(req, known.Retry, err)
	}
	obj := r.kind.Copy(read).(T)
	if r.kind.Finished(obj) || r.stripped(obj) { // no pass goes over it
		if err = r.leaveStripped(ctx, obj); err == nil {
			r.forget(req)
		}
		return result, err
	}
	if known.Retry { // a user asked for a pass
		r.flow.Forget(obj)
		r.memory.Change(name, func(e *memory.Entry) { e.Failures = 0 })
	}

	p = r.begin(within, req, read, known, now) // record
	defer func() { result, err = r.afterPass(ctx, req, p, obj, result, err) }()
	out := r.flow.Reconcile(p, obj) // flow
	if result, err, cut := p.cut(out); cut {
		return result, err
	}
	missed := p.missed(out)
	p.end(out, r.appliesAgain(p, out)) // end of the waits
	if p.Cycle == nil {
		p.Cycle = r.keptCycle(p, obj, out)
	}
	defer func() {
		if p.RootChanged { // and the pass wrote no status
			r.engine.RootChanged(p, p.engine.Waiter, r.kind.New())
		}
	}()
	if r.undecided(p, out) { // no verdict: the next pass decides
		return reconcile.Result{RequeueAfter: r.delay(p, out)}, nil
	}
	next := r.render(p, obj, out)          // render
	r.remember(p, out, next)               // memory: before the patch, whose event wakes waiters that ask for the verdict
	end, err := r.patch(p, obj, out, next) // patch
	if err != nil || out.State() == flow.StateGone {
		return result, err
	}
	if p.succeeded.Unix != 0 { // after the patch: a success that no record has must be stored by the next pass
		r.memory.Succeeded(req.NamespacedName, p.succeeded)
	}
	r.countFailure(out)
	delay := next.In(r.delay(p, out)) // requeue
	if p.onSelf && r.waitForSelf(ctx, end) || out.KeepsStatus() && r.relabeled(p) {
		delay = again
	}
	if missed != (checks.Ref{}) {
		r.waker.Follow(req.NamespacedName, missed)
	}
	return reconcile.Result{RequeueAfter: delay}, nil
}

// wakes notes that a pass begins, before it reads anything: each event from now on causes
// another pass. It returns what is known of the object.
func (r *core) wakes(name types.NamespacedName) memory.Entry {
	r.waker.Begin(name)
	r.pokeBegins(name)
	return r.memory.Begin(name)
}

func (r *core) notSetUp() error {
	return fmt.Errorf("ctrlx: %s was not set up: call SetupWithManager", r.name)
}

// unread ends a pass that could not read the object. An object that is gone is no error.
func (r *core) unread(req reconcile.Request, retry bool, err error) error {
	if apierr.Reader.NotFound(err) {
		r.forget(req)
		return nil
	}
	if retry {
		r.requested(req.NamespacedName)
	}
	return fmt.Errorf("ctrlx: %s: %w", r.name, err)
}

// stripped reports whether a user deletes obj and our finalizer is missing: nothing
// was made for obj, its deletion here has ended, or a person has removed the finalizer.
func (r *core) stripped(obj client.Object) bool {
	return view.Deleting(obj) && r.finalizes && !controllerutil.ContainsFinalizer(obj, r.opt.finalizer)
}

// cut ends a pass without a verdict. A pass that was cut short ends no wait: the awaited
// objects of the last pass still wake the object.
func (p *pass) cut(out flow.Outcome) (result reconcile.Result, err error, cut bool) {
	switch e := unfinalized(out); {
	case p.vanished:
		return result, nil, true
	case out.State() == flow.StateCanceled:
		return reconcile.Result{RequeueAfter: again}, nil, true
	case e != nil:
		return result, e.error, true
	}
	return result, nil, false
}

// render returns the conditions of an object after a pass.
func (r *core) render(p *pass, obj client.Object, out flow.Outcome) status.Out {
	in := status.In{
		Outcome: out, Old: r.kind.Conditions(obj), UID: obj.GetUID(), Generation: obj.GetGeneration(), Now: r.now(),
		Cycle: p.Cycle, Suspended: r.isSuspended(obj), Root: p.Root, RootUnknown: p.RootUnknown, Stored: p.record,
	}
	if out.State() == flow.StateGone {
		return r.leaves(in, obj, endedHere)
	}
	if loop, ok := r.waker.Loop(client.ObjectKeyFromObject(obj), time.Now()); ok && r.same(p, p.verdict(out)) {
		in.Self, in.Loop = p.engine.Waiter, loop
	}
	if p.Timeout != 0 {
		in.Timeout = status.Timeout{
			After: p.Timeout, FromStart: r.opt.fromStart, Retried: retried(out), Inputs: inputsOf(p.read, p),
			Deleted: view.Deleting(p.read) || out.Point() == flow.PointDeleteCheck || out.Point() == flow.PointDelete,
		}
	}
	handled := requestOf(p.read)
	if handled != "" && (out.KeepsStatus() || r.kind.Handled(obj, handled)) {
		handled = "" // nothing is written, or the status has a field for it, as in Flux
	}
	in.Next = r.next(p, out, handled)
	return status.Render(in)
}

// endedHere is the part of an operator that has deleted the resource in the cloud.
const endedHere = "this operator has ended its part of the deletion"

// leaves returns the conditions of an object whose part of the deletion is done. If other
// controllers keep the object, it would show the last failure of the deletion, or be
// Ready. part says what this operator has done in the deletion.
func (r *core) leaves(in status.In, obj client.Object, part string) status.Out {
	var others []string
	for _, f := range obj.GetFinalizers() {
		if !r.finalizes || f != r.opt.finalizer {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return status.Out{Conditions: in.Old}
	}
	why := part + "; the object stays until other controllers remove their finalizers: " + strings.Join(others, ", ")
	in.Outcome, in.Stored = status.Block(ReasonDeleted, why, classify.Slow), record.In(in.Old)
	in.Cycle, in.Suspended, in.Root, in.RootUnknown = nil, false, nil, false
	return status.Render(in)
}

// isSuspended reports whether obj is suspended and not being deleted. A panic
// counts as not suspended: the link Suspended reports it.
func (r *core) isSuspended(obj client.Object) (yes bool) {
	if r.kind.Suspended == nil {
		return false
	}
	defer func() { _ = recover() }()
	return r.kind.Suspended(obj) && !r.deleting(obj)
}

// retried reports whether the error of an outcome has a delay of its own.
func retried(out flow.Outcome) bool {
	switch out.Rule() {
	case apierr.RuleRetriable, apierr.RuleConflict, apierr.RuleTooMany, apierr.RuleTimeout:
		return true
	}
	return strings.HasPrefix(out.Rule(), apierr.RulePrefix) && out.After() != 0
}

// same reports whether v is the verdict of the pass before, or of the one before the operation that has ended.
func (r *core) same(p *pass, v memory.Verdict) bool {
	return v == p.last || p.last.State == flow.StateInProgress && r.waker.Same(client.ObjectKeyFromObject(p.read), v)
}

// remember records the verdict of a pass. A conflict changes no verdict, because the
// object is read again. The flow does not know the time-out of an object, so its log
// line is written here.
func (r *core) remember(p *pass, out flow.Outcome, next status.Out) {
	name, v := client.ObjectKeyFromObject(p.read), p.verdict(out)
	if p.applied {
		r.follow(p, out)
	}
	switch same := r.same(p, v); {
	case v.State == flow.StateInProgress && p.last.State != flow.StateInProgress:
		r.waker.Before(name, p.last)
	case v.State == flow.StateInProgress, out.State() == flow.StateGone:
	case !same:
		r.waker.Calm(name)
	case p.last.State == flow.StateInProgress:
		r.waker.Before(name, v)
	}
	if apierr.Quiet(out) {
		return
	}
	now := r.now()
	none := v == memory.Verdict{}
	silent := none && (out.State() == flow.StateIgnored || out.KeepsStatus())
	if !none || p.last != v {
		r.memory.Passed(name, memory.Pass{At: time.Unix(0, p.at), Took: time.Duration(max(0, now.UnixNano()-p.at)), Verdict: v})
	}
	if !none {
		now = r.sinceOf(p.read, out, now)
	}
	// The waiters do not know yet that the object waits for no other one.
	p.RootChanged = p.RootChanged || p.last == memory.Verdict{} && v != p.last && !p.RootUnknown
	before := r.memory.Decided(name, v, next.Over, silent, now)
	if next.Over && !before.TimedOut && r.observer != nil {
		log.FromContext(p).Info("the object exceeded its time-out", "timeout", p.Timeout, "since", next.Clock.Since.Time)
	}
}

// verdict returns the verdict of a pass.
func (p *pass) verdict(out flow.Outcome) memory.Verdict {
	if p.circles {
		return p.last
	}
	return verdictOf(out)
}

// verdictOf returns the verdict of an outcome.
func verdictOf(out flow.Outcome) memory.Verdict {
	switch s := out.State(); {
	case s == flow.StateReady, s == flow.StateIgnored, out.Final():
		return memory.Verdict{}
	default:
		return memory.Verdict{State: s, Reason: out.Reason(), Point: out.Point(), Link: out.Link()}
	}
}

// sinceOf returns the time since which an object has the verdict of a pass that
// began now. Its condition knows the time from before a restart.
func (r *core) sinceOf(read client.Object, out flow.Outcome, now time.Time) time.Time {
	c := meta.FindStatusCondition(r.kind.Conditions(read), "Ready")
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == out.Reason() && c.LastTransitionTime.Time.Before(now) {
		return c.LastTransitionTime.Time
	}
	return now
}

// leaveStripped replaces the condition Ready of a stripped object, which would
// otherwise be the one from before the deletion. It writes nothing if nothing
// shows that the conditions are ours: the object may belong to another operator.
func (r *core) leaveStripped(ctx context.Context, obj client.Object) error {
	all := r.kind.Conditions(obj)
	ready := meta.FindStatusCondition(all, "Ready")
	if !r.stripped(obj) || ready == nil || ready.Reason == ReasonDeleted {
		return nil
	}
	if _, err := r.recordOf(obj); (record.In(all) == nil || err != nil) && r.memory.Get(client.ObjectKeyFromObject(obj)).Verdict == (memory.Verdict{}) {
		return nil
	}
	in := status.In{Old: all, UID: obj.GetUID(), Generation: obj.GetGeneration(), Now: r.now()}
	err := apierr.IgnoreGone(r.show(ctx, r.kind.Copy(obj), obj, r.leaves(in, obj, "the finalizer "+r.opt.finalizer+" is missing, so this operator deletes nothing in the cloud: delete there what is left")))
	if refusedForGood(err) {
		return nil
	}
	return err
}

// finish is gone after the conflicts with other writers, too. Another pass would ask
// the checks again, and one of them may block for ever: the reference that it needs
// may have waited for this deletion only. Another pass is needed if another process
// may have made something in the cloud.
func (r *core) finish(ctx context.Context, obj client.Object, out flow.Outcome, next status.Out) (err error) {
	for n := 1; ; n++ {
		generation, ahead, operation := obj.GetGeneration(), aheadOf(obj), r.operationIn(obj)
		if err = r.gone(ctx, obj, out, next); n == finishAttempts || !apierrors.IsConflict(err) {
			return err
		}
		now := r.kind.New()
		if r.engine.Live().Get(ctx, client.ObjectKeyFromObject(obj), now) != nil || now.GetUID() != obj.GetUID() || now.GetGeneration() != generation ||
			!maps.Equal(aheadOf(now), ahead) || r.operationIn(now) != operation {
			return err
		}
		in := status.In{Old: r.kind.Conditions(now), UID: now.GetUID(), Generation: generation, Now: r.now()}
		obj, next = now, r.leaves(in, now, endedHere)
	}
}

// finishAttempts is the number of writes of a finished deletion in one pass.
const finishAttempts = 5

// gone ends the work for an object that is deleted, or released, in the cloud. The
// conditions come before the finalizer: no later pass writes them, after a conflict
// or the end of the process. A status that the API server never takes does not stop
// the deletion.
func (r *core) gone(ctx context.Context, obj client.Object, out flow.Outcome, next status.Out) error {
	unwritten := apierr.IgnoreGone(r.show(ctx, r.kind.Copy(obj), obj, next))
	if unwritten != nil && !refusedForGood(unwritten) {
		return unwritten
	}
	var removed bool
	if r.finalizes {
		var err error
		if removed, err = r.writer().RemoveFinalizer(ctx, obj, r.opt.finalizer); err != nil {
			return err
		}
	}
	name := client.ObjectKeyFromObject(obj)
	r.memory.ForgetSuccess(name)
	r.engine.Forget(r.id(name))                     // the verdict stays until the object is gone
	if why := out.Message(); removed && why != "" { // of checks.Release
		log.FromContext(ctx).Info("the object is released without a deletion in the cloud", "why", why, "link", out.Link())
		r.tell(obj, nil, &metav1.Condition{Reason: ReasonReleased, Message: why}, "", out.Link())
	}
	return unwritten
}

// unstorable reports whether the API server cannot store a status: it is not valid, or it is too large.
func unstorable(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// refusedForGood reports whether the API server refuses a write of the status
// again, if it is repeated.
func refusedForGood(err error) bool {
	return unstorable(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || errors.Is(err, write.ErrNoStatus)
}

// delay returns the time after which to requeue the object; 0: no requeue. A blocked object whose awaited objects are all
// watched is woken by an event. So it is requeued at the resync only, unless its check asked for a delay.
func (r *core) delay(p *pass, out flow.Outcome) time.Duration {
	delay, again := out.Again()
	switch state := out.State(); {
	case state == flow.StateReady:
		return cmp.Or(p.settledFor, r.longer(p.Requeue), delay)
	case !again && state == flow.StateIgnored && len(out.WaitingFor()) != 0 && !p.watched: // no event wakes it
		return r.idle(p.Requeue)
	case again && state == flow.StateBlocked && out.After() == 0 && p.watched:
		return max(delay, r.idle(p.Requeue))
	}
	return delay
}

// requeueJitter bounds the part by which an interval is lengthened, so that objects
// that became ready together are not requeued together.
const requeueJitter = 0.05

// idle returns the time after which to requeue an object if nothing happens. requeue is
// the interval of the object; 0: it gives none.
func (r *core) idle(requeue time.Duration) time.Duration {
	if requeue == 0 {
		return r.backoff.Resync()
	}
	return r.longer(requeue)
}

// longer returns an interval of an object, lengthened at random; 0: it gives none.
func (r *core) longer(interval time.Duration) time.Duration {
	return interval + time.Duration(float64(interval)*requeueJitter*min(max(r.opt.rand(), 0), 1))
}

// forget drops what is known of an object that is gone.
func (r *core) forget(req reconcile.Request) {
	r.engine.Forget(r.id(req.NamespacedName))
	r.memory.Forget(req.NamespacedName)
	r.waker.Calm(req.NamespacedName)
}

// id returns how the index knows an object.
func (r *core) id(name types.NamespacedName) checks.Ref {
	return engine.ID(r.kind.GroupKind(), name)
}

// countFailure counts a failed pass in the counters of controller-runtime. A
// conflict does not count: the object is read again. Call it only if Reconcile
// returns no error, because controller-runtime counts an error itself.
func (r *core) countFailure(out flow.Outcome) {
	if out.State() != flow.StateFailed || apierr.Quiet(out) {
		return
	}
	gauges.CountFailure(r.name, out.Retry() == classify.OnChange || out.Retry() == classify.Never)
}
