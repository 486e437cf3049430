package ctrlx

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A pass has to see what the one before has written: who does not see the token of an operation begins a second one. The
// cache has it a little later. Controller-runtime's client can be told to wait for that; but while the watch is broken it
// waits without an end, and so do all workers. So what was written here is remembered until the cache has it, and read live
// until then.

// fromCache reads without a copy, and without waiting.
var fromCache = []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency}

// read reads an object, not older than what was written here. What is in it the cache shares with others, so it is never
// changed.
func (r *Reconciler[T]) read(ctx context.Context, req reconcile.Request) (T, error) {
	obj := r.newObject()
	err := r.client.Get(ctx, req.NamespacedName, obj, fromCache...)
	id := r.self.id(req.NamespacedName)
	known, behind := r.own.lag(id)
	switch {
	case !behind || client.IgnoreNotFound(err) != nil, known.gone && err != nil:
		return obj, err
	case err == nil && known.metBy(obj.GetResourceVersion(), false):
		r.own.clear(id)
		return obj, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.opt.sync)
	defer cancel()
	obj = r.newObject()
	if err = r.engine.live.Get(ctx, req.NamespacedName, obj); client.IgnoreNotFound(err) == nil {
		r.own.mark(id, versionOf(obj, err)) // no later pass may see what was before that
	}
	return obj, err
}

// wrote remembers what was written, if it was.
func (r *Reconciler[T]) wrote(ctx context.Context, obj T, err error) error {
	if err != nil {
		return err
	}
	r.exists(ctx, obj)
	name := client.ObjectKeyFromObject(obj)
	id, version := r.self.id(name), obj.GetResourceVersion()
	if !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0 {
		version = "" // it went with its last finalizer
	}
	// In this order: an event that comes in between takes the mark away, or was there before the cache is looked at.
	r.own.mark(id, version)
	cached := r.newObject()
	if err := r.client.Get(ctx, name, cached, fromCache...); client.IgnoreNotFound(err) == nil && !older(versionOf(cached, err), version) {
		r.own.clear(id)
	}
	return nil
}

// arrivals notes what the cache has by now. It lets all events pass.
func (r *Reconciler[T]) arrivals() predicate.Predicate {
	heard := func(obj client.Object, deleted bool) bool {
		r.own.heard(r.self.id(client.ObjectKeyFromObject(obj)), obj.GetResourceVersion(), deleted)
		return true
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return heard(e.Object, false) },
		UpdateFunc: func(e event.UpdateEvent) bool { return heard(e.ObjectNew, false) },
		DeleteFunc: func(e event.DeleteEvent) bool { return heard(e.Object, true) },
	}
}

// versionOf is the version of what was read; "": it is not there.
func versionOf(obj client.Object, err error) string {
	if err != nil {
		return ""
	}
	return obj.GetResourceVersion()
}
