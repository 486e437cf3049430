package ctrlx

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
)

// queue is the work queue of a controller.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// owned lists the conditions that a reconciler corrects. The condition Finished
// is not among them: a person removes it to start passes again.
var owned = [...]string{"Ready", "Reconciling", "Stalled"}

// The delays of corrections after the first one, which has none. With the longest
// one, 1,000 fought objects are less than two writes a second. calm is the time
// without a foreign write after which the delays start again. It is longer than a
// writer that reacts to each correction needs.
const firstDelay, longestDelay, calm = time.Second, 10 * time.Minute, 20 * time.Minute

// changedTypes returns the owned conditions in which two lists differ. It allocates
// nothing if there are none.
func changedTypes(a, b []metav1.Condition) (changed []string) {
	for _, t := range owned {
		if !status.Same(meta.FindStatusCondition(a, t), meta.FindStatusCondition(b, t)) {
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

// overwritten returns the predicate that lets the events of causes pass, and
// those of overwritten conditions. A delayed correction is added to the queue
// instead.
func (r *core) overwritten(causes predicate.Predicate) predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  causes.Create,
		GenericFunc: causes.Generic,
		DeleteFunc: func(e event.DeleteEvent) bool {
			r.keep(client.ObjectKeyFromObject(e.Object), false)
			return causes.Delete(e)
		},
		UpdateFunc: func(e event.UpdateEvent) bool {
			if delay, foreign := r.foreign(e.ObjectOld, e.ObjectNew); foreign {
				return delay == 0 || asked.Update(e)
			}
			return causes.Update(e)
		},
	}
}

// foreign reports whether another writer changed an owned condition between two
// versions of an object, and notes it. A pass has to follow at once if the delay is
// 0; otherwise a later pass is in the queue.
func (r *core) foreign(was, is client.Object) (delay time.Duration, foreign bool) {
	if !r.kind.Is(was) || !r.kind.Is(is) || was.GetUID() != is.GetUID() || was.GetResourceVersion() == is.GetResourceVersion() {
		return 0, false
	}
	defer func() {
		if recover() != nil { // the next pass calls the same function of the user, and reports the panic
			foreign = false
		}
	}()
	all := r.kind.Conditions(is)
	changed := changedTypes(r.kind.Conditions(was), all)
	name := client.ObjectKeyFromObject(is)
	known := r.memory.Get(name)
	if w := known.Written; w != nil && w.UID == is.GetUID() {
		version := is.GetResourceVersion()
		if order, err := resourceversion.CompareResourceVersion(version, w.Version); err == nil && order < 0 {
			return 0, false // our write has replaced it
		}
		if version == w.Version || hashOfOwned(all) == w.Conditions {
			changed = nil
		}
		if !w.Running {
			r.wrote(name, nil)
		}
	}
	if len(changed) == 0 || known.Kept || r.finished(is) { // no pass would correct it
		return 0, false
	}
	return r.postponed(name, r.kind.Conditions(was), changed, writerOf(was.GetManagedFields(), is.GetManagedFields()), is.GetUID()), true
}

// postponed notes a foreign write. It returns 0 if a pass has to follow at once.
func (r *core) postponed(name types.NamespacedName, before []metav1.Condition, changed []string, writer string, uid types.UID) (delay time.Duration) {
	now, scheduled, q := r.opt.now(), false, r.queue.Load()
	r.memory.Change(name, func(e *memory.Entry) {
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

// correctionBegins notes that a pass begins, before it reads the object. A foreign write from
// now on needs another pass.
func (r *core) correctionBegins(name types.NamespacedName) {
	if f := r.memory.Get(name).Fight; f != nil && f.Scheduled {
		r.memory.Change(name, func(e *memory.Entry) {
			next := *e.Fight
			next.Scheduled = false
			e.Fight = &next
		})
	}
}

// writing calls write, which replaces the conditions of obj that the pass read. An
// update that the watch reports is ours if it has the written conditions, because the
// API server may have done a request that failed.
func (r *core) writing(obj client.Object, written []metav1.Condition, write func() error) error {
	name := client.ObjectKeyFromObject(obj)
	w := memory.Written{UID: obj.GetUID(), Version: obj.GetResourceVersion(), Conditions: hashOfOwned(written), Running: true}
	running := w
	r.wrote(name, &running)
	err := write()
	w.Running = false
	switch {
	case err == nil:
		w.Version, w.Conditions = obj.GetResourceVersion(), hashOfOwned(r.kind.Conditions(obj))
	case apierrors.IsNotFound(err): // no later event has this UID
		r.wrote(name, nil)
		return err
	}
	r.wrote(name, &w)
	return err
}

func (r *core) wrote(name types.NamespacedName, w *memory.Written) {
	r.memory.Change(name, func(e *memory.Entry) { e.Written = w })
}

// readyBefore returns the condition Ready of the last pass: as it was before
// another writer changed it, or else as it was read.
func (r *core) readyBefore(read client.Object) *metav1.Condition {
	if f := r.memory.Get(client.ObjectKeyFromObject(read)).Fight; f != nil && f.UID == read.GetUID() && f.Noted {
		return f.Ready
	}
	return meta.FindStatusCondition(r.kind.Conditions(read), "Ready")
}

// correct ends a pass after which the conditions of obj are those of its
// verdict. If the pass corrected them, and another writer had changed them, it
// reports that writer.
func (r *core) correct(ctx context.Context, obj client.Object, corrected bool) {
	name := client.ObjectKeyFromObject(obj)
	r.keep(name, false)
	f := r.foughtIn(name, obj.GetUID())
	if f == nil || !corrected {
		return
	}
	verbosity := 0
	if f.Count > 1 {
		verbosity = 1
	}
	log.FromContext(ctx).V(verbosity).Info("another writer changed the conditions of the object; they are corrected", "conditions", f.Types,
		"writer", f.Writer, "correction", f.Count)
	r.tell(obj, &metav1.Condition{Reason: ReasonOverwritten, Message: strings.Join(f.Types, ", ") + ": changed by " + f.Writer +
		"; corrected, because " + r.name + " owns these conditions: configure the writer to leave them unchanged"}, classify.Warning, "")
}

// foughtIn takes the foreign write that came before the pass began; nil: there is
// none. A later one is for the next pass.
func (r *core) foughtIn(name types.NamespacedName, uid types.UID) *memory.Fight {
	f := r.memory.Get(name).Fight
	if f == nil || f.UID != uid || !f.Noted || f.Scheduled {
		return nil
	}
	r.memory.Change(name, func(e *memory.Entry) {
		next := *f
		next.Noted, next.Ready, next.Types, next.Writer = false, nil, nil, ""
		if e.Fight == f {
			e.Fight = &next
		}
	})
	return f
}

// keep records whether a pass left the conditions of an object as they are: another
// controller may own them.
func (r *core) keep(name types.NamespacedName, kept bool) {
	if r.memory.Get(name).Kept != kept {
		r.memory.Change(name, func(e *memory.Entry) { e.Kept = kept })
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
