package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/gauges"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// orphanTimeout is the time to delete the cloud resource of an object that
// vanished. After it, the resource is reported.
const orphanTimeout = 2 * time.Hour

// orphanOf returns the orphan of a name, or nil: an object that vanished after Apply was
// called for it. The API server may delete an object although a finalizer was added a
// moment ago (https://issue.k8s.io/77988). A memory holds at most one for each name. An
// empty uid matches each.
func (r *core) orphanOf(name types.NamespacedName, uid types.UID) *memory.Orphan {
	if o := r.memory.Get(name).Orphan; o != nil && (uid == "" || o.Object.GetUID() == uid) {
		return o
	}
	return nil
}

// setOrphan replaces the orphan was of a name by now; nil: there is none. It does nothing
// if there is another orphan: an event has reported it meanwhile, and causes a pass.
func (r *core) setOrphan(name types.NamespacedName, was, now *memory.Orphan) (done bool) {
	r.memory.Change(name, func(e *memory.Entry) {
		if done = e.Orphan == was; done {
			e.Orphan = now
		}
	})
	return done
}

// endOrphan ends a pass over an orphan. It reports whether a later pass continues.
func (r *core) endOrphan(name types.NamespacedName, was *memory.Orphan, keep bool) (continues bool) {
	r.memory.Change(name, func(e *memory.Entry) {
		switch continues = e.Orphan == was && keep && !r.stopped.Load(); {
		case continues:
			next := *was
			next.Busy, e.Orphan = false, &next
		case e.Orphan == was:
			e.Orphan = nil
		}
	})
	return continues
}

// dropOrphan forgets an orphan and its object.
func (r *core) dropOrphan(req reconcile.Request, o *memory.Orphan) {
	r.setOrphan(req.NamespacedName, o, nil)
	r.forget(req)
}

// called notes in the pass that Apply was called.
func (p *pass) called() {
	p.applied, p.exists = true, false
}

// noted makes an Apply that notes in the pass that it was called. Before that,
// the kind must have a status.
func noted[T client.Object](r *core, apply func(context.Context, *flow.Request[T]) (flow.Progress, error)) func(context.Context, *flow.Request[T]) (flow.Progress, error) {
	if apply == nil {
		return nil
	}
	return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
		if err := r.hasStatus(ctx); err != nil {
			return flow.Progress{}, err
		}
		p := passOf(ctx)
		if p == nil {
			return flow.Progress{}, errNoPass
		}
		p.called()
		p.began, p.polled = p.began || req.Token == "", p.polled || req.Token != ""
		p.polls = !p.began && (p.polls || p.polled) // the memory of the flow may hold a token whose write panicked
		if r.settles && req.Token == "" {
			p.readFollowed(ctx, req.Following())
		}
		return apply(ctx, req)
	}
}

// exists notes a successful write of obj: it exists, so nothing of it is
// orphaned.
func (r *core) exists(ctx context.Context, obj client.Object) {
	if p := passOf(ctx); p != nil {
		p.exists = true
	}
	name := client.ObjectKeyFromObject(obj)
	switch o := r.orphanOf(name, ""); {
	case o == nil:
	case o.Object.GetUID() == obj.GetUID() && !o.Gone, o.Object.GetUID() != obj.GetUID() && r.owns(obj):
		r.setOrphan(name, o, nil)
	}
}

// vanishes keeps an object in memory that the API server deleted at once, although
// it had the finalizer. A pass over it may have ended with success, because a
// delayed deletion does not see writes that came after its own read. The event
// holds the last state of the object. After a usual deletion that state has a
// deletion timestamp, and no operation under way: if it has one, a person removed
// the finalizer while the cloud deleted the resource. The predicate runs before
// that of r.own, and lets all events pass. An object that returns has only left the
// selector of the cache for a while.
func (r *core) vanishes() predicate.Predicate {
	returned := func(e event.CreateEvent) bool {
		name := client.ObjectKeyFromObject(e.Object)
		if o := r.orphanOf(name, e.Object.GetUID()); o != nil && o.Gone {
			r.setOrphan(name, o, nil)
		}
		return true
	}
	return predicate.Funcs{CreateFunc: returned, DeleteFunc: func(e event.DeleteEvent) (passes bool) {
		defer func() {
			_ = recover() // from the user's conditions: a pass reports the panic
			passes = true
		}()
		obj := e.Object
		if !r.kind.Is(obj) || e.DeleteStateUnknown || view.Deleting(obj) && r.operationIn(obj) == "" || !r.finalizes || !controllerutil.ContainsFinalizer(obj, r.opt.finalizer) {
			return
		}
		name, vanished := client.ObjectKeyFromObject(obj), &memory.Orphan{Object: r.kind.Copy(obj), Gone: true} // the cache shares obj
		for !r.own.Gone(name) {
			was := r.orphanOf(name, "")
			if was != nil && was.Object.GetUID() == obj.GetUID() || r.setOrphan(name, was, vanished) {
				break // a pass has noticed it, or the next one does
			}
		}
		return
	}}
}

// afterPass keeps obj in memory if Apply was called and nothing shows that obj
// exists. It deletes the cloud resource if obj vanished. err is the error of
// the pass.
func (r *Reconciler[T]) afterPass(ctx context.Context, req reconcile.Request, p *pass, obj client.Object, result reconcile.Result, err error) (reconcile.Result, error) {
	held := r.orphanOf(req.NamespacedName, obj.GetUID()) != nil
	keep := func() {
		r.memory.Change(req.NamespacedName, func(e *memory.Entry) {
			gone := e.Orphan != nil && e.Orphan.Gone && e.Orphan.Object.GetUID() == obj.GetUID() // as an event reported meanwhile
			e.Orphan = &memory.Orphan{Object: obj, Gone: gone}
		})
	}
	switch {
	case (p.applied || held) && (p.vanished || err != nil && apierrors.IsNotFound(err)):
		keep()
		return r.deleteOrphan(ctx, req)
	case p.applied && (p.finalizing || held) && (err != nil || !p.exists):
		keep()
	}
	if err == nil { // the common case, without an allocation
		return result, nil
	}
	return reconcile.Result{}, apierr.IgnoreGone(err)
}

// deleteOrphan deletes the cloud resource of an object that vanished. If an
// object of its name exists, it deletes nothing: both usually have the same
// name in the cloud, and the reconciler of the new object adopts or updates the
// resource.
func (r *Reconciler[T]) deleteOrphan(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	now := r.kind.New()
	err := r.engine.Live().Get(ctx, req.NamespacedName, now)
	o := r.orphanOf(req.NamespacedName, "")
	switch {
	case o == nil:
		return reconcile.Result{}, nil
	case err == nil:
		return r.foundOrphan(req, o, now)
	case errors.Is(ctx.Err(), context.Canceled): // the manager stops, so no later pass deletes the resource
		if o.Until.IsZero() { // else reportWhenStopped reports it
			r.setOrphan(req.NamespacedName, o, nil)
			r.reportOrphan(ctx, o.Object, errStopped)
		}
		return reconcile.Result{}, nil
	case !apierr.Reader.NotFound(err): // the kind may not be served now
		return reconcile.Result{}, fmt.Errorf("ctrlx: %s: whether the object still exists: %w", r.name, err)
	}
	r.own.Vanished(req.NamespacedName)
	at := *o
	if at.Busy = true; at.Until.IsZero() {
		at.Until = r.now().Add(orphanTimeout)
	}
	if !r.setOrphan(req.NamespacedName, o, &at) {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return r.passOfOrphan(ctx, req, &at)
}

// foundOrphan ends a pass over an orphan whose name an object has now.
func (r *core) foundOrphan(req reconcile.Request, o *memory.Orphan, now client.Object) (reconcile.Result, error) {
	switch same := o.Object.GetUID() == now.GetUID(); {
	case same && !o.Gone:
		return reconcile.Result{}, fmt.Errorf("ctrlx: %s: a write did not find the object, and a live read does", r.name)
	case same, // it left the cache, whose selector no longer fits: another process may have it
		!r.finalizes, // the new object has the same resource, and nothing deletes it
		r.owns(now):
		r.dropOrphan(req, o)
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: heirInterval}, nil // its event wakes this process, unless another one has it
}

// heirInterval is the time between two live reads of a new object that does not own the cloud
// resource of an orphan of its name yet.
const heirInterval = 30 * time.Second

// owns reports whether obj owns the cloud resource of an earlier object of its name: its
// deletion will delete it.
func (r *core) owns(obj client.Object) bool {
	return controllerutil.ContainsFinalizer(obj, r.opt.finalizer)
}

// passOfOrphan takes an object that vanished through the flow as a deleted one.
func (r *Reconciler[T]) passOfOrphan(ctx context.Context, req reconcile.Request, o *memory.Orphan) (result reconcile.Result, err error) {
	if o.Object.GetDeletionTimestamp().IsZero() {
		o.Object.SetDeletionTimestamp(new(metav1.NewTime(r.now())))
	}
	if !r.finalizes || !r.deleting(o.Object) { // the flow would call Apply
		r.dropOrphan(req, o)
		r.reportOrphan(ctx, o.Object, errNoDelete)
		return reconcile.Result{}, nil
	}
	p := r.begin(ctx, req, o.Object, r.memory.Get(req.NamespacedName), r.now())
	p.orphan = true
	defer func() { p.writeLine(result.RequeueAfter) }()
	out := r.flow.Reconcile(p, o.Object.(T))
	left := o.Until.Sub(r.now())
	delay, why := again, error(nil)
	switch out.State() {
	case flow.StateGone, flow.StateIgnored:
		r.dropOrphan(req, o)
		log.FromContext(ctx).Info("the object vanished after Apply was called; its deletion in the cloud ended", "state", out.State().String(),
			"uid", o.Object.GetUID(), "why", out.Message())
		return reconcile.Result{}, nil
	case flow.StateCanceled:
		why = errStopped
	default:
		p.end(out, false)
		r.memory.Decided(req.NamespacedName, verdictOf(out), false, false, r.now())
		r.countFailure(out)
		if delay = r.delay(p, out); delay <= 0 {
			delay = left
		}
		if why = out.Err(); why == nil {
			why = fmt.Errorf("%s: %s", out.Reason(), out.Message())
		}
	}
	// An error that is retried after the end is final. An operation or a block may end earlier than its delay.
	inTime := left > 0 && (delay <= left || out.State() != flow.StateFailed)
	if r.endOrphan(req.NamespacedName, o, inTime) {
		return reconcile.Result{RequeueAfter: min(delay, left)}, nil
	}
	r.forget(req)
	r.reportOrphan(ctx, o.Object, why)
	return reconcile.Result{}, nil
}

// Why the cloud resource of an object that vanished is not deleted.
var (
	errNoDelete = errors.New("the reconciler has no Delete for it")
	errStopped  = errors.New("the manager stopped before the deletion ended")
)

// reportOrphan reports a resource that no object owns any more and that may
// still be in the cloud.
func (r *core) reportOrphan(ctx context.Context, obj client.Object, why error) {
	gauges.CountOrphan(r.name)
	log.FromContext(ctx).Error(why, "a cloud resource may be orphaned: its object vanished after Apply was called; delete the resource in the cloud",
		"reconciler", r.name, "object", client.ObjectKeyFromObject(obj).String(), "uid", obj.GetUID())
	if r.recorder == nil {
		return
	}
	var about runtime.Object = obj
	if ns := obj.GetNamespace(); ns != "" {
		about = &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: ns, Namespace: ns} // written in ns, for which the operator has rights
	}
	note := fmt.Sprintf("%s %s (%s) vanished after Apply was called, and its cloud resource may be orphaned; delete the resource in the cloud: %s",
		r.kind.Kind, client.ObjectKeyFromObject(obj), obj.GetUID(), why)
	r.recorder.Eventf(about, obj, corev1.EventTypeWarning, ReasonOrphaned, "Delete", "%s", shortNote(note))
}

// reportWhenStopped waits until the manager stops, and reports the orphans that
// are left. The gauges then no longer count the objects of the reconciler.
func (r *core) reportWhenStopped(ctx context.Context) error {
	<-ctx.Done()
	r.memory.Stop()
	r.stopped.Store(true) // a pass that ends from now on reports its orphan itself
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	for _, at := range r.memory.All() {
		if o := at.Orphan; o != nil && !o.Busy && (!o.Until.IsZero() || r.isGone(ctx, o)) {
			r.reportOrphan(ctx, o.Object, errStopped)
		}
	}
	return nil
}

// stopTimeout bounds the live reads of all orphans when the manager stops.
const stopTimeout = 10 * time.Second

// isGone reports whether an orphan is gone that no pass has read. An object that exists has its next pass in another
// process. If the API server does not answer, the event of the deletion counts.
func (r *core) isGone(ctx context.Context, o *memory.Orphan) bool {
	err := r.engine.Live().Get(ctx, client.ObjectKeyFromObject(o.Object), r.kind.New())
	return err != nil && (o.Gone || apierr.Reader.NotFound(err))
}
