package ctrlx

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/overwrite"
)

// queue is the work queue of a controller.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// overwrites finds the writes of other writers to the conditions Ready,
// Reconciling and Stalled, and corrects them.
type overwrites struct {
	writes  overwrite.Writes
	backoff overwrite.Backoff
	queue   atomic.Pointer[queue] // nil until the controller starts
}

// overwritten returns the predicate that lets the events of causes pass, and
// those of overwritten conditions. A delayed correction is added to the queue
// instead.
func (r *Reconciler[T]) overwritten(causes predicate.Predicate) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  causes.Create,
		GenericFunc: causes.Generic,
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.overwrites.writes.Forget(e.Object.GetUID())
			r.keep(client.ObjectKeyFromObject(e.Object), false)
			return causes.Delete(e)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			if u, foreign := r.foreign(e.ObjectOld, e.ObjectNew); foreign {
				return !r.postponed(u) || asked.Update(e)
			}
			return causes.Update(e)
		},
	}
}

// foreign reports whether another writer changed an owned condition between two
// versions of an object.
func (r *Reconciler[T]) foreign(before, now client.Object) (u overwrite.Update, foreign bool) {
	was, ok := before.(T)
	is, ok2 := now.(T)
	if !ok || !ok2 || was.GetUID() != is.GetUID() || was.GetResourceVersion() == is.GetResourceVersion() {
		return u, false
	}
	defer func() {
		if recover() != nil { // the next pass calls the same function of the user, and reports the panic
			foreign = false
		}
	}()
	u = overwrite.Update{Was: was, Is: is, Before: r.conditions.get(was), Now: r.conditions.get(is)}
	return u, r.overwrites.writes.Foreign(u) && !r.leaves(is)
}

// leaves reports whether no pass would correct the conditions of obj: it is
// finished, or its last pass left the status as it was.
func (r *Reconciler[T]) leaves(obj T) bool {
	return r.memory.Get(client.ObjectKeyFromObject(obj)).Kept || r.conditions.finished(obj)
}

// postponed records a foreign update. It returns false if a pass has to follow
// at once; otherwise a later pass is in the queue.
func (r *Reconciler[T]) postponed(u overwrite.Update) bool {
	name := types.NamespacedName{Namespace: u.Is.GetNamespace(), Name: u.Is.GetName()}
	delay, schedule := r.overwrites.backoff.Notice(name, u.Is.GetUID(), r.opt.now(), u.Note())
	return !schedule || delay > 0 && r.overwrites.enqueue(name, delay)
}

// enqueue adds a pass after a delay to the queue, if there is a queue already.
func (o *overwrites) enqueue(name types.NamespacedName, delay time.Duration) bool {
	q := o.queue.Load()
	if q == nil {
		return false
	}
	(*q).AddAfter(reconcile.Request{NamespacedName: name}, delay)
	return true
}

// writing calls write, which replaces the conditions of obj that the pass read.
func (r *Reconciler[T]) writing(obj T, read, written []metav1.Condition, write func() error) error {
	r.overwrites.writes.Begin(obj.GetUID(), obj.GetResourceVersion(), read, written)
	err := write()
	u, foreign := r.overwrites.writes.End(obj.GetUID(), obj.GetResourceVersion(), r.conditions.get(obj), err)
	if foreign && !r.postponed(u) {
		r.overwrites.enqueue(client.ObjectKeyFromObject(obj), 0)
	}
	return err
}

// readyBefore returns the condition Ready of the last pass: as it was before
// another writer changed it, or else as it was read.
func (r *Reconciler[T]) readyBefore(read T) *metav1.Condition {
	if note, ok := r.overwrites.backoff.Peek(client.ObjectKeyFromObject(read), read.GetUID()); ok {
		return note.Ready
	}
	return meta.FindStatusCondition(r.conditions.get(read), "Ready")
}

// correct ends a pass after which the conditions of obj are those of its
// verdict. If the pass corrected them, and another writer had changed them, it
// reports that writer.
func (r *Reconciler[T]) correct(ctx context.Context, obj T, corrected bool) {
	r.keep(client.ObjectKeyFromObject(obj), false)
	note, ok := r.overwrites.backoff.Take(client.ObjectKeyFromObject(obj), obj.GetUID())
	if !ok || !corrected {
		return
	}
	verbosity := 0
	if note.Count > 1 {
		verbosity = 1
	}
	log.FromContext(ctx).V(verbosity).Info("another writer changed the conditions of the object; they are corrected", "conditions", note.Types,
		"writer", note.Writer.Manager, "operation", note.Writer.Operation, "time", note.Writer.Time, "correction", note.Count)
	r.tell(obj, &metav1.Condition{Reason: ReasonOverwritten, Message: strings.Join(note.Types, ", ") + ": changed by " + note.Writer.String() +
		"; corrected, because " + r.name + " owns these conditions: configure the writer to leave them unchanged"}, classify.Warning, "")
}

// keep records whether a pass left the conditions of an object as they are: another
// controller may own them.
func (r *Reconciler[T]) keep(name types.NamespacedName, kept bool) {
	if r.memory.Get(name).Kept != kept {
		r.memory.Change(name, func(e *memory.Entry) { e.Kept = kept })
	}
}
