package status

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
)

// Writers notices other writers of the conditions that a reconciler owns.
type Writers struct {
	Kind   *object.Kind
	Memory *memory.Store
	Now    func() time.Time
	// Leads reports whether the controller may run: before, another process writes the conditions. Nil: it may.
	Leads func() bool
	// Add puts an object into the queue, for a pass after a delay. started is false if the controller has not started.
	Add func(name types.NamespacedName, after time.Duration) (started bool)
}

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
func hashOfOwned(all []metav1.Condition) uint64 {
	var texts []string
	for _, t := range owned {
		if c := meta.FindStatusCondition(all, t); c != nil {
			texts = append(texts, t, string(c.Status), c.Reason, c.Message, fmt.Sprint(c.ObservedGeneration))
		}
	}
	return memory.Hash(texts...)
}

// Events returns the predicate that lets the events of causes pass, and those of
// overwritten conditions. A delayed correction is added to the queue instead, and does
// not replace the events of asked.
func (w *Writers) Events(asked, causes predicate.Predicate) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  causes.Create,
		GenericFunc: causes.Generic,
		DeleteFunc: func(e event.DeleteEvent) bool {
			w.Memory.Change(client.ObjectKeyFromObject(e.Object), func(e *memory.Entry) { // the next object of the name may come before a pass
				e.Verdict, e.TimedOut, e.Silent, e.Kept, e.Follows = memory.Verdict{}, false, false, false, nil
			})
			return causes.Delete(e)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			if foreign, now := w.foreign(e.ObjectOld, e.ObjectNew); foreign {
				return now || asked.Update(e)
			}
			return causes.Update(e)
		},
	}
}

// foreign reports whether another writer changed an owned condition between two versions
// of an object, and notes it. now reports whether a pass has to follow at once: otherwise a
// later pass is in the queue.
func (w *Writers) foreign(was, is client.Object) (foreign, now bool) {
	defer func() { _ = recover() }() // the next pass calls the same function of the user, and reports the panic
	if was.GetUID() != is.GetUID() || w.Leads != nil && !w.Leads() {
		return
	}
	all := w.Kind.Conditions(is)
	changed := Changed(w.Kind.Conditions(was), all)
	name := client.ObjectKeyFromObject(is)
	known := w.Memory.Get(name)
	if last := known.Written; last != nil && last.UID == is.GetUID() {
		version := is.GetResourceVersion()
		if order, _ := resourceversion.CompareResourceVersion(version, last.Version); order < 0 {
			return // our write has replaced it
		}
		if version == last.Version || hashOfOwned(all) == last.Conditions {
			changed = nil
		}
		if !last.Running {
			w.wrote(name, nil)
		}
	}
	if len(changed) == 0 || known.Kept || w.Kind.Finished(is) { // no pass would correct it
		return
	}
	return true, w.noted(name, w.Kind.Conditions(was), changed, writerOf(was.GetManagedFields(), is.GetManagedFields()), is.GetUID())
}

// noted notes a foreign write. It reports whether a pass has to follow at once.
func (w *Writers) noted(name types.NamespacedName, before []metav1.Condition, changed []string, writer string, uid types.UID) bool {
	now := w.Now()
	var delay time.Duration
	var scheduled bool
	w.Memory.Change(name, func(e *memory.Entry) {
		f := memory.Fight{UID: uid}
		if e.Fight != nil && e.Fight.UID == uid && now.Sub(e.Fight.Due) <= calm {
			f = *e.Fight
		}
		if !f.Noted { // the verdict before the first write is the reconciler's own
			f.Ready = meta.FindStatusCondition(before, "Ready").DeepCopy()
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
	// If it is scheduled, a pass is in the queue. If the controller has not started, the event causes one.
	return !scheduled && (delay == 0 || !w.Add(name, delay))
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

// Passed records whether a pass left the conditions of an object as they are, because
// another controller may own them. It takes the note of a foreign write that came before
// the pass began; nil: there is none. A later one is for the next pass.
func (w *Writers) Passed(name types.NamespacedName, uid types.UID, kept bool) (noted *memory.Fight) {
	if e := w.Memory.Get(name); e.Kept == kept && e.Fight == nil { // almost always
		return nil
	}
	w.Memory.Change(name, func(e *memory.Entry) {
		e.Kept = kept
		if f := e.Fight; f != nil && f.UID == uid && f.Noted && !f.Scheduled {
			next := *f
			next.Noted = false
			noted, e.Fight = f, &next
		}
	})
	return noted
}

// writerOf returns the newest field manager of an update of the status, as a message
// shows it. before and now are the managed fields before and after it.
func writerOf(before, now []metav1.ManagedFieldsEntry) string {
	var newest *metav1.ManagedFieldsEntry
	var alone bool // newest is the only one of its second
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
	if !alone || newest.Manager == "" {
		return "an unknown writer"
	}
	return fmt.Sprintf("the field manager %q (%s at %s)", newest.Manager, newest.Operation, newest.Time.UTC().Format(time.RFC3339))
}
