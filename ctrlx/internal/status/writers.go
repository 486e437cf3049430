package status

import (
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
)

// Writers notices other writers of the conditions that a reconciler owns.
type Writers struct {
	Kind   *object.Kind
	Memory *memory.Store
	Now    func() time.Time
	Queue  atomic.Pointer[Queue] // nil until the controller starts
}

// Queue is the work queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// owned lists the conditions that a reconciler corrects. The condition Finished
// is not among them: a person removes it to start passes again.
var owned = [...]string{"Ready", "Reconciling", "Stalled"}

// The delays of corrections after the first one, which has none. With the longest
// one, 1,000 fought objects are less than two writes a second. calm is the time
// without a foreign write after which the delays start again. It is longer than a
// writer that reacts to each correction needs.
const firstDelay, longestDelay, calm = time.Second, 10 * time.Minute, 20 * time.Minute

// Changed returns the owned conditions in which two lists differ. It allocates
// nothing if there are none.
func Changed(a, b []metav1.Condition) (changed []string) {
	for _, t := range owned {
		if !Same(meta.FindStatusCondition(a, t), meta.FindStatusCondition(b, t)) {
			changed = append(changed, t)
		}
	}
	return changed
}

// hashOfOwned returns a hash of the owned conditions.
func hashOfOwned(all []metav1.Condition) (h uint64) {
	for _, t := range owned {
		if c := meta.FindStatusCondition(all, t); c != nil {
			h = h*31 + memory.Hash(t, string(c.Status), c.Reason, c.Message, strconv.FormatInt(c.ObservedGeneration, 10))
		}
	}
	return h
}

// Events returns the predicate that lets the events of causes pass, and those of
// overwritten conditions. asked are the causes that a delayed correction does not replace. A delayed correction is added to the queue
// instead.
func (w *Writers) Events(asked, causes predicate.Predicate) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  causes.Create,
		GenericFunc: causes.Generic,
		DeleteFunc: func(e event.DeleteEvent) bool {
			w.Keep(client.ObjectKeyFromObject(e.Object), false)
			return causes.Delete(e)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			if delay, foreign := w.foreign(e.ObjectOld, e.ObjectNew); foreign {
				return delay == 0 || asked.Update(e)
			}
			return causes.Update(e)
		},
	}
}

// foreign reports whether another writer changed an owned condition between two
// versions of an object, and notes it. A pass has to follow at once if the delay is
// 0; otherwise a later pass is in the queue.
func (w *Writers) foreign(was, is client.Object) (delay time.Duration, foreign bool) {
	if !w.Kind.Is(was) || !w.Kind.Is(is) || was.GetUID() != is.GetUID() || was.GetResourceVersion() == is.GetResourceVersion() {
		return 0, false
	}
	defer func() {
		if recover() != nil { // the next pass calls the same function of the user, and reports the panic
			foreign = false
		}
	}()
	all := w.Kind.Conditions(is)
	changed := Changed(w.Kind.Conditions(was), all)
	name := client.ObjectKeyFromObject(is)
	known := w.Memory.Get(name)
	if last := known.Written; last != nil && last.UID == is.GetUID() {
		version := is.GetResourceVersion()
		if order, err := resourceversion.CompareResourceVersion(version, last.Version); err == nil && order < 0 {
			return 0, false // our write has replaced it
		}
		if version == last.Version || hashOfOwned(all) == last.Conditions {
			changed = nil
		}
		if !last.Running {
			w.wrote(name, nil)
		}
	}
	if len(changed) == 0 || known.Kept || w.Kind.Finished(is) { // no pass would correct it
		return 0, false
	}
	return w.postponed(name, w.Kind.Conditions(was), changed, writerOf(was.GetManagedFields(), is.GetManagedFields()), is.GetUID()), true
}

// postponed notes a foreign write. It returns 0 if a pass has to follow at once.
func (w *Writers) postponed(name types.NamespacedName, before []metav1.Condition, changed []string, writer string, uid types.UID) (delay time.Duration) {
	now, scheduled, q := w.Now(), false, w.Queue.Load()
	w.Memory.Change(name, func(e *memory.Entry) {
		f := memory.Fight{UID: uid}
		if e.Fight != nil && e.Fight.UID == uid && now.Sub(e.Fight.Due) <= calm {
			f = *e.Fight
		}
		if !f.Noted { // the verdict before the first write is the reconciler's own
			f.Ready = nil
			if ready := meta.FindStatusCondition(before, "Ready"); ready != nil {
				f.Ready = ready.DeepCopy()
			}
		}
		f.Noted, f.Types, f.Writer = true, changed, writer
		if scheduled = f.Scheduled; !scheduled {
			if f.Count > 0 {
				delay = memory.Delay(f.Count-1, firstDelay, longestDelay)
			}
			f.Count++
			f.Scheduled, f.Due = true, now.Add(delay)
		}
		e.Fight = &f
	})
	switch {
	case scheduled:
		return longestDelay // a pass is in the queue
	case delay > 0 && q == nil: // the controller has not started
		return 0
	case delay > 0:
		(*q).AddAfter(reconcile.Request{NamespacedName: name}, delay)
	}
	return delay
}

// Writing calls write, which replaces the conditions of obj that the pass read. An
// update that the watch reports is ours if it has the written conditions, because the
// API server may have done a request that failed.
func (w *Writers) Writing(obj client.Object, written []metav1.Condition, write func() error) error {
	name := client.ObjectKeyFromObject(obj)
	now := memory.Written{UID: obj.GetUID(), Version: obj.GetResourceVersion(), Conditions: hashOfOwned(written), Running: true}
	running := now
	w.wrote(name, &running)
	err := write()
	now.Running = false
	switch {
	case err == nil:
		now.Version, now.Conditions = obj.GetResourceVersion(), hashOfOwned(w.Kind.Conditions(obj))
	case apierrors.IsNotFound(err): // no later event has this UID
		w.wrote(name, nil)
		return err
	}
	w.wrote(name, &now)
	return err
}

func (w *Writers) wrote(name types.NamespacedName, last *memory.Written) {
	w.Memory.Change(name, func(e *memory.Entry) { e.Written = last })
}

// ReadyBefore returns the condition Ready of the last pass: as it was before
// another writer changed it, or else as it was read.
func (w *Writers) ReadyBefore(read client.Object) *metav1.Condition {
	if f := w.Memory.Get(client.ObjectKeyFromObject(read)).Fight; f != nil && f.UID == read.GetUID() && f.Noted {
		return f.Ready
	}
	return meta.FindStatusCondition(w.Kind.Conditions(read), "Ready")
}

// Passed records whether a pass left the conditions of an object as they are, as Keep
// does. It takes the foreign write that came before the pass began; nil: there is none. A
// later one is for the next pass.
func (w *Writers) Passed(name types.NamespacedName, uid types.UID, kept bool) *memory.Fight {
	e := w.Memory.Get(name)
	f, ours := e.Fight, e.Fight != nil && e.Fight.UID == uid && e.Fight.Noted && !e.Fight.Scheduled
	if e.Kept != kept || ours {
		w.Memory.Change(name, func(e *memory.Entry) {
			if e.Kept = kept; ours && e.Fight == f {
				next := *f
				next.Noted, next.Ready, next.Types, next.Writer = false, nil, nil, ""
				e.Fight = &next
			}
		})
	}
	if !ours {
		return nil
	}
	return f
}

// Keep records whether a pass left the conditions of an object as they are: another
// controller may own them.
func (w *Writers) Keep(name types.NamespacedName, kept bool) {
	if w.Memory.Get(name).Kept != kept {
		w.Memory.Change(name, func(e *memory.Entry) { e.Kept = kept })
	}
}

// writerOf returns the newest field manager of an update of the status, as a message
// shows it. before and now are the managed fields before and after it.
func writerOf(before, now []metav1.ManagedFieldsEntry) string {
	var newest *metav1.ManagedFieldsEntry
	alone := true
	for i := range now {
		e := &now[i]
		if e.Subresource != "" && e.Subresource != "status" || e.Time == nil || slices.ContainsFunc(before, func(b metav1.ManagedFieldsEntry) bool {
			return b.Manager == e.Manager && b.Operation == e.Operation && b.Subresource == e.Subresource && b.APIVersion == e.APIVersion && b.Time.Equal(e.Time)
		}) {
			continue
		}
		switch {
		case newest == nil || newest.Time.Before(e.Time):
			newest, alone = e, true
		case newest.Time.Equal(e.Time) && newest.Manager != e.Manager:
			alone = false
		}
	}
	if newest == nil || !alone || newest.Manager == "" {
		return "an unknown writer"
	}
	return fmt.Sprintf("the field manager %q (%s at %s)", newest.Manager, newest.Operation, newest.Time.UTC().Format(time.RFC3339))
}
