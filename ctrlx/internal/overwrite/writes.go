package overwrite

import (
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Owned lists the conditions that a reconciler corrects. The condition Finished
// is not among them: a person removes it to start passes again.
var Owned = [...]string{"Ready", "Reconciling", "Stalled"}

// Changed reports whether two lists of conditions differ in an owned condition.
// The time of the last transition does not count. Changed allocates nothing.
func Changed(a, b []metav1.Condition) bool {
	for _, t := range Owned {
		if !Same(meta.FindStatusCondition(a, t), meta.FindStatusCondition(b, t)) {
			return true
		}
	}
	return false
}

// changedTypes returns the owned conditions in which two lists differ.
func changedTypes(a, b []metav1.Condition) (types []string) {
	for _, t := range Owned {
		if !Same(meta.FindStatusCondition(a, t), meta.FindStatusCondition(b, t)) {
			types = append(types, t)
		}
	}
	return types
}

// Same reports whether two conditions are equal but for the time of their last
// transition. Nil stands for a condition that is not there.
func Same(a, b *metav1.Condition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.ObservedGeneration == b.ObservedGeneration
}

// Update is a change of an object that the watch reports.
type Update struct {
	Was, Is     metav1.Object      // the object before and after the update
	Before, Now []metav1.Condition // its conditions
}

// Writes holds the writes of a reconciler that the watch has not reported yet,
// the last one of each object. The zero Writes is ready to use. Its methods may
// be called by several goroutines at once.
type Writes struct {
	n  atomic.Int32 // the length of of, so that Foreign takes no lock while it is 0
	mu sync.Mutex
	of map[types.UID]*write
}

// write is the last write of an object. Its lists hold the owned conditions.
type write struct {
	version string             // the version that a pass last read or wrote; "": the watch has reported it
	done    []metav1.Condition // of that version; nil: the watch has reported it
	tried   []metav1.Condition // of a request that runs, or that failed and may be done; nil: none
	running bool               // the request has no answer yet
	heard   string             // the last version that the watch reported while the request ran; "": none
	held    *Update            // the last changing update while the request ran; nil: none
}

// is reports whether conditions are those of a request.
func is(conditions, request []metav1.Condition) bool {
	return request != nil && !Changed(conditions, request)
}

// Begin records a write before its request: the version and the conditions of
// the object that the pass read, and the conditions that it writes. No update up
// to that version is foreign, because the write replaces it.
func (w *Writes) Begin(uid types.UID, version string, read, written []metav1.Condition) {
	read, written = owned(read), owned(written)
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of[uid]
	if at == nil {
		if w.of == nil {
			w.of = map[types.UID]*write{}
		}
		at = &write{}
		w.of[uid] = at
		w.n.Add(1)
	}
	at.tried, at.running, at.heard, at.held = written, true, "", nil
	if at.version == "" || !older(version, at.version) {
		at.version, at.done = version, read
	}
}

// owned returns a copy of the owned conditions. The answer to a request is read
// into the list of the object.
func owned(all []metav1.Condition) []metav1.Condition {
	some := make([]metav1.Condition, 0, len(Owned))
	for _, t := range Owned {
		if c := meta.FindStatusCondition(all, t); c != nil {
			some = append(some, *c)
		}
	}
	return some
}

// End records the answer to a write: the version and the conditions of the
// object, or the error. It returns the last foreign update that came while the
// request ran. The API server may have changed the conditions, for example
// because the definition does not have all their fields.
//
// The API server may have done a request that failed, for example after a
// time-out. After such an error, Writes keeps the conditions.
func (w *Writes) End(uid types.UID, version string, conditions []metav1.Condition, err error) (held Update, foreign bool) {
	conditions = owned(conditions)
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of[uid]
	if at == nil {
		return held, false // the object was deleted meanwhile
	}
	if err == nil {
		at.tried = conditions
	}
	reported := err == nil && at.heard != "" && !older(at.heard, version)
	if at.held != nil {
		held = *at.held
		ours := is(held.Now, at.tried)
		reported = reported || ours
		if foreign = !ours && !is(held.Now, at.done); err == nil {
			foreign = !ours && older(version, held.Is.GetResourceVersion())
		}
	}
	at.running, at.held = false, nil
	switch {
	case err == nil:
		at.version, at.done, at.tried = version, at.tried, nil
	case apierrors.IsNotFound(err): // no later event has this UID
		w.drop(uid)
		return held, foreign
	case refused(err):
		at.tried = nil
	}
	if reported || at.done == nil && at.tried == nil {
		w.drop(uid)
	}
	return held, foreign
}

// refused reports whether err proves that the API server did not do a request.
func refused(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsForbidden(err)
}

// Foreign reports whether an update is a write of another writer to an owned
// condition. Call it for each update, in order. Updates that come while a
// request of the reconciler runs wait for [Writes.End].
func (w *Writes) Foreign(u Update) bool {
	changed := Changed(u.Before, u.Now)
	if w.n.Load() == 0 {
		return changed
	}
	uid, version := u.Is.GetUID(), u.Is.GetResourceVersion()
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of[uid]
	if at == nil {
		return changed
	}
	if at.version != "" && older(version, at.version) {
		return false
	}
	known := version == at.version
	if at.running {
		at.heard = version
		if changed && !known {
			held := u
			at.held = &held
		}
		return false
	}
	ours := known || is(u.Now, at.done) || is(u.Now, at.tried)
	if at.version, at.done = "", nil; at.tried == nil || is(u.Now, at.tried) {
		w.drop(uid)
	}
	return changed && !ours
}

// Forget drops the write of an object that is deleted.
func (w *Writes) Forget(uid types.UID) {
	if w.n.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(uid)
}

// drop is called with the lock held.
func (w *Writes) drop(uid types.UID) {
	if _, ok := w.of[uid]; ok {
		delete(w.of, uid)
		w.n.Add(-1)
	}
}

// older reports whether version a is older than version b. Versions that cannot
// be compared are not.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
