package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// NewOwn returns the reads and writes of the kind of a reconciler. cached is the
// manager's client, object makes an object of the kind, and wait bounds each live read.
func (e *Engine) NewOwn(gvk schema.GroupVersionKind, cached client.Reader, wait time.Duration, object func() client.Object) *Own {
	o := &Own{engine: e, gvk: gvk, cached: cached, wait: wait, object: object}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.own = append(e.own, o)
	return o
}

// owns returns the kinds of the reconcilers.
func (e *Engine) owns() []*Own {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clip(e.own)
}

// FromCache are options of a read from the cache, without a copy and without
// waiting. The object shares memory with the cache, so nothing may change it.
var FromCache = []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency}

// Read reads an object, in no older version than this process wrote. The object
// shares memory with the cache: do not change it.
func (o *Own) Read(ctx context.Context, name types.NamespacedName) (client.Object, error) {
	obj := o.object()
	err := o.cached.Get(ctx, name, obj, FromCache...)
	if err != nil && strings.Contains(err.Error(), unknownNamespace) { // a Poke may name any namespace
		return obj, apierrors.NewNotFound(schema.GroupResource{Group: o.gvk.Group, Resource: o.gvk.Kind}, name.String())
	}
	k, stale := o.stale.get(name)
	switch {
	case !stale || client.IgnoreNotFound(err) != nil, k.gone && err != nil:
		return obj, err
	case err == nil && k.metBy(obj.GetResourceVersion(), false):
		o.stale.clear(name, k)
		return obj, nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	obj = o.object() // the first one shares memory with the cache
	switch err = o.engine.live.Get(ctx, name, obj); {
	case err == nil:
		ends := obj.GetUID()
		if k.uid == ends && k.ends != "" {
			ends = k.ends // as the write that found this object said
		}
		o.note(ctx, name, known{version: obj.GetResourceVersion(), uid: obj.GetUID(), ends: ends}) // no later pass may see an older version
	case client.IgnoreNotFound(err) == nil:
		o.Vanished(name)
	}
	return obj, err
}

// Wrote notes that this process wrote obj, which has the answer of the API
// server. was is the UID of the object that was to be written: if obj is another one, a live read
// has found it, and the deletion of the first one ends the note, because the cache need not select obj.
func (o *Own) Wrote(ctx context.Context, obj client.Object, was types.UID) {
	version := obj.GetResourceVersion()
	if !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0 {
		version = "" // the API server deleted it with its last finalizer
	}
	o.note(ctx, client.ObjectKeyFromObject(obj), known{version: version, uid: obj.GetUID(), ends: was})
}

// note marks the version of an object that a write or a live read returned, unless the
// cache has it. If there was no mark, or one of [Own.check], the cache had the object before.
// If it has it no more, the object left the selector of the cache, and another process has it.
func (o *Own) note(ctx context.Context, name types.NamespacedName, to known) {
	// In this order: an event between the two removes the mark, or came before the cache is read.
	was, k := o.stale.mark(name, to)
	cached := o.object()
	err := o.cached.Get(ctx, name, cached, FromCache...)
	left := err != nil && !was.gone && was.uid == ""
	if client.IgnoreNotFound(err) == nil && (left || !Older(versionOf(cached, err), to.version)) {
		o.stale.clear(name, k)
	}
}

// Vanished notes that a live read did not find an object.
func (o *Own) Vanished(name types.NamespacedName) { o.stale.mark(name, known{}) }

// Gone reports whether this process knows that an object does not exist, and the
// cache may still have it.
func (o *Own) Gone(name types.NamespacedName) bool {
	k, _ := o.stale.get(name)
	return k.gone
}

// Events notes which versions the cache has. It lets all events pass.
func (o *Own) Events() predicate.Predicate {
	heard := func(obj client.Object, deleted bool) bool {
		o.stale.heard(obj, deleted)
		return true
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return heard(e.Object, false) },
		UpdateFunc: func(e event.UpdateEvent) bool { return heard(e.ObjectNew, false) },
		DeleteFunc: func(e event.DeleteEvent) bool { return heard(e.Object, true) },
	}
}

// watch returns the informer of the controller; nil: it is not in sync yet.
func (o *Own) watch(ctx context.Context) *watch {
	if _, started := o.engine.wakers.Load(o.gvk.GroupKind()); !started {
		return nil
	}
	if o.watched == nil {
		informer, err := o.engine.cache.GetInformer(ctx, o.object(), cache.BlockUntilSynced(false))
		if err != nil {
			return nil // the controller reports it
		}
		o.watched = &watch{kind: kind{gvk: o.gvk, policy: watched}, informer: informer, synced: informer.HasSyncedChecker(), everywhere: true}
	}
	if !toolscache.IsDone(o.watched.synced) {
		return nil
	}
	return o.watched
}

// check compares all objects of the kind with the cache, if the watch of the
// controller may be broken. An object that differs gets a pass, which reads it live.
//
// An object that the cache lacks gets none: the cache may have a selector, and another
// process may reconcile the object. The log names the fix.
func (o *Own) check(ctx context.Context, w *watch) error {
	e, gk := o.engine, o.gvk.GroupKind()
	current, err := e.current(ctx, w)
	if err != nil || current {
		return err
	}
	cached, err := e.cachedVersions(ctx, w, "")
	if err != nil {
		return err
	}
	scopes := map[string]struct{}{}
	if !w.divided() {
		scopes[""] = struct{}{} // also if the cache is empty: it may hide all objects
	}
	for id := range cached {
		scopes[w.scope(id.Namespace)] = struct{}{}
	}
	live := map[index.ID]string{}
	for scope := range scopes {
		if err := e.listVersions(ctx, w, scope, func(id index.ID, version string) { live[id] = version }); err != nil {
			return err
		}
	}
	now, err := e.cachedVersions(ctx, w, "")
	if err != nil {
		return err
	}
	for id, version := range cached {
		// The watch works if the object has moved in the cache since then. Its event causes a pass if one is due.
		if now[id] == version && version != live[id] {
			if was, is := o.stale.mark(nameOf(id), known{version: live[id]}); was != is { // without a UID, because the cache had the object
				e.wake(id)
			}
		}
	}
	hidden := 0
	for id := range live {
		if _, ok := now[id]; !ok {
			hidden++
		}
	}
	w.failed = false
	if hidden > 0 && !o.hidden && !w.divided() {
		log.FromContext(ctx).Error(errHidden, "restart the operator, unless the manager's cache selects objects", "kind", gk.String(), "objects", hidden)
	}
	o.hidden = hidden > 0
	return nil
}

// errHidden is the error of objects that the cache lacks.
var errHidden = errors.New("the watch of a reconciler may be broken: the API server has objects that the cache lacks, and they get no pass")
