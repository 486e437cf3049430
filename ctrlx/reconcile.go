package ctrlx

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// Reconcile implements reconcile.Reconciler. It returns only errors of the API server;
// all other errors are in the conditions of the object.
func (r *Reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	if r.engine == nil {
		return reconcile.Result{}, r.notSetUp()
	}
	name, now := req.NamespacedName, r.now()
	r.waker.Begin(name) // wake: each event from now on causes another pass
	r.pokeBegins(name)
	known := r.memory.Begin(name)
	within, endOfPass := r.interrupter.begin(ctx, name)
	defer endOfPass()
	var p *pass
	defer func() {
		result, err = r.memory.Ended(ctx, name, result, err, r.now)
		p.writeLine(result.RequeueAfter)
	}()

	read, err := r.own.Read(ctx, name) // read: in no older version than this process wrote
	if err != nil {
		if apierrors.IsNotFound(err) && r.orphanOf(name, "") != nil {
			return r.deleteOrphan(ctx, req)
		}
		return reconcile.Result{}, r.unread(req, known.Retry, err)
	}
	if r.misnamed(req, read) {
		return reconcile.Result{}, nil
	}
	obj := r.kind.Copy(read).(T)
	switch { // no pass goes over these
	case r.stripped(obj):
		if err = r.leaveStripped(ctx, obj); err != nil {
			return reconcile.Result{}, err
		}
		fallthrough
	case r.kind.Finished(obj):
		r.forget(req)
		return reconcile.Result{}, nil
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
	now = r.now()
	next := r.render(p, obj, out, now)     // render
	r.remember(p, out, next, now)          // memory: before the patch, whose event wakes waiters that ask for the verdict
	end, err := r.patch(p, obj, out, next) // patch
	if err != nil || out.State() == flow.StateGone {
		return reconcile.Result{}, err
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

// misnamed reports whether a request names a namespace, and its kind has none: a Poke or a map function may do that.
// The pass then runs under the name of the object. Under two names, two passes would run at once.
func (r *core) misnamed(req reconcile.Request, read client.Object) bool {
	name := client.ObjectKeyFromObject(read)
	if name == req.NamespacedName {
		return false
	}
	r.forget(req)
	r.memory.Caused(name)
	r.waker.Add(name, pokeInterval) // the bound of Poke, whatever the namespaces
	return true
}

// stripped reports whether a user deletes obj and our finalizer is missing: nothing
// was made for obj, its deletion here has ended, or a person has removed the finalizer.
func (r *core) stripped(obj client.Object) bool {
	return view.Deleting(obj) && r.finalizes && !controllerutil.ContainsFinalizer(obj, r.opt.finalizer)
}

// cut ends a pass without a verdict. A pass that was cut short ends no wait: the awaited
// objects of the last pass still wake the object.
func (p *pass) cut(out flow.Outcome) (_ reconcile.Result, err error, cut bool) {
	switch e := unfinalized(out); {
	case p.vanished:
		return reconcile.Result{}, nil, true
	case out.State() == flow.StateCanceled:
		return reconcile.Result{RequeueAfter: again}, nil, true
	case e != nil:
		return reconcile.Result{}, e.error, true
	}
	return reconcile.Result{}, nil, false
}

// render returns the conditions of an object after a pass.
func (r *core) render(p *pass, obj client.Object, out flow.Outcome, now time.Time) status.Out {
	if out.State() == flow.StateGone {
		return status.Out{} // gone renders the conditions of the object that it writes
	}
	in := status.In{
		Outcome: out, Old: r.kind.Conditions(obj), UID: obj.GetUID(), Generation: obj.GetGeneration(), Now: now,
		Cycle: p.Cycle, Suspended: r.isSuspended(obj), Root: p.Root, RootUnknown: p.RootUnknown, Stored: p.record, Self: p.engine.Waiter,
	}
	if r.same(p, p.verdict(out)) {
		in.Loop, _ = r.waker.Loop(client.ObjectKeyFromObject(obj))
	}
	if p.Timeout != 0 {
		in.Timeout = status.Timeout{
			After: p.Timeout, FromStart: r.opt.fromStart, Retried: retried(out), Inputs: inputsOf(p.read, p),
			Deleted: view.Deleting(p.read) || out.Point() == flow.PointDeleteCheck || out.Point() == flow.PointDelete,
		}
	}
	in.Next = r.next(p, out, r.handled(p.read, obj))
	return status.Render(in)
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
func (r *core) remember(p *pass, out flow.Outcome, next status.Out, now time.Time) {
	name, v := client.ObjectKeyFromObject(p.read), p.verdict(out)
	if p.applied {
		r.follow(p, out)
	}
	if apierr.Quiet(out) {
		return
	}
	switch {
	case v.State == flow.StateInProgress && p.last.State != flow.StateInProgress:
		r.waker.Before(name, p.last)
	case v.State != flow.StateInProgress && !r.same(p, v):
		r.waker.Calm(name)
	}
	if v != p.last || v != (memory.Verdict{}) {
		r.memory.Passed(name, memory.Pass{At: time.Unix(0, p.at), Took: time.Duration(max(0, now.UnixNano()-p.at)), Verdict: v})
	}
	since := r.sinceOf(p.read, out, now)
	// The waiters do not know yet that the object waits for no other one.
	p.RootChanged = p.RootChanged || p.last == memory.Verdict{} && v != p.last && !p.RootUnknown
	before := r.memory.Decided(name, v, next.Over, out.KeepsStatus(), since)
	if next.Over && !before.TimedOut && r.observer != nil {
		log.FromContext(p).Info("the object exceeded its time-out", "timeout", p.Timeout, "since", next.Clock.Since.Time)
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
	if ready == nil || ready.Reason == ReasonDeleted {
		return nil
	}
	if _, err := r.recordOf(obj); (record.In(all) == nil || err != nil) && r.memory.Get(client.ObjectKeyFromObject(obj)).Verdict == (memory.Verdict{}) {
		return nil
	}
	err := apierr.IgnoreGone(r.show(ctx, r.kind.Copy(obj), obj, r.leaves(obj, "the finalizer "+r.opt.finalizer+" is missing, so this operator deletes nothing in the cloud: delete there what is left")))
	if refusedForGood(err) {
		return nil
	}
	return err
}

// patch writes the status of an object after a pass, if it changes, and the event of a
// changed verdict. It returns the object as the pass leaves it.
func (r *core) patch(p *pass, obj client.Object, out flow.Outcome, next status.Out) (end client.Object, err error) {
	name := client.ObjectKeyFromObject(obj)
	switch {
	case out.State() == flow.StateGone:
		return nil, r.finish(p, obj, out)
	case out.KeepsStatus():
		r.writers.Passed(name, obj.GetUID(), true)
		return p.baseOf(obj), nil
	}
	r.kind.SetConditions(obj, next.Conditions)
	r.kind.Observe(obj, obj.GetGeneration())
	if digest.SameStatus(p.read, obj) {
		p.exists = true // an earlier pass wrote this status
		r.correct(p, obj, false)
		return obj, nil
	}
	before := cmp.Or(p.ready, r.writers.ReadyBefore(p.read))
	base := p.baseOf(obj)
	read := r.kind.Conditions(base)
	if err := r.wroteStatus(r.write(p, base, obj, next.Conditions)); err != nil {
		if unstorable(err) {
			r.refused(p, obj, err)
		}
		return nil, err
	}
	if v := base.GetResourceVersion(); v != "" && v == obj.GetResourceVersion() {
		r.dropped.Do(func() {
			log.FromContext(p).Error(errDropped, "the status of each pass is lost; generate the definition again, and apply it", "reconciler", r.name)
		})
	}
	p.RootChanged = false // the event of the status wakes the waiters
	r.correct(p, obj, len(status.Changed(read, next.Conditions)) > 0)
	if now := meta.FindStatusCondition(next.Conditions, "Ready"); !apierr.Quiet(out) && (before == nil || before.Status != now.Status || before.Reason != now.Reason) {
		r.tell(obj, r.related(obj, out), now, next.Severity, out.Link())
	}
	return obj, nil
}
