package engine

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Own reads the objects of one kind so that a pass sees the writes of the pass
// before it: a pass that does not see the token of an operation starts a second
// one. controller-runtime's client can wait until the cache has a write, but it
// waits without an end while the watch is broken, and so do all workers. So Own
// remembers each write until the cache has it, and reads live until then.
type Own struct {
	stale  Stale
	kind   schema.GroupKind
	cached client.Reader
	live   client.Reader
	wait   time.Duration        // bounds a live read
	object func() client.Object // makes an object to read into
}

// NewOwn returns the reads and writes of a kind. cached is the manager's client,
// object makes an object of the kind, and wait bounds each live read.
func NewOwn(kind schema.GroupKind, cached, live client.Reader, wait time.Duration, object func() client.Object) *Own {
	return &Own{kind: kind, cached: cached, live: live, wait: wait, object: object}
}

// FromCache are options of a read from the cache, without a copy and without
// waiting. The object shares memory with the cache, so nothing may change it.
var FromCache = []client.GetOption{client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency}

// Read reads an object, in no older version than this process wrote. The object
// shares memory with the cache: do not change it.
func (o *Own) Read(ctx context.Context, name types.NamespacedName) (client.Object, error) {
	obj := o.object()
	err := o.cached.Get(ctx, name, obj, FromCache...)
	id := ID(o.kind, name)
	k, stale := o.stale.get(id)
	switch {
	case !stale || client.IgnoreNotFound(err) != nil, k.gone && err != nil:
		return obj, err
	case err == nil && k.metBy(obj.GetResourceVersion(), false):
		o.stale.Clear(id)
		return obj, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	obj = o.object() // the first one shares memory with the cache
	if err = o.live.Get(ctx, name, obj); client.IgnoreNotFound(err) == nil {
		o.stale.Mark(id, versionOf(obj, err)) // no later pass may see an older version
	}
	return obj, err
}

// Wrote notes that this process wrote obj, which has the answer of the API
// server.
func (o *Own) Wrote(ctx context.Context, obj client.Object) {
	name, version := client.ObjectKeyFromObject(obj), obj.GetResourceVersion()
	id := ID(o.kind, name)
	if !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0 {
		version = "" // the API server deleted it with its last finalizer
	}
	// In this order: an event between the two removes the mark, or came before the cache is read.
	o.stale.Mark(id, version)
	cached := o.object()
	err := o.cached.Get(ctx, name, cached, FromCache...)
	if client.IgnoreNotFound(err) == nil && !older(versionOf(cached, err), version) {
		o.stale.Clear(id)
	}
}

// Saw notes the version of an object that a live read returned; empty: it does
// not exist.
func (o *Own) Saw(name types.NamespacedName, version string) { o.stale.Mark(ID(o.kind, name), version) }

// Gone reports whether this process knows that an object does not exist, and the
// cache may still have it.
func (o *Own) Gone(name types.NamespacedName) bool {
	k, _ := o.stale.get(ID(o.kind, name))
	return k.gone
}

// Events notes which versions the cache has. It lets all events pass.
func (o *Own) Events() predicate.Predicate {
	heard := func(obj client.Object, deleted bool) bool {
		o.stale.Heard(o.id(obj), obj.GetResourceVersion(), deleted)
		return true
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return heard(e.Object, false) },
		UpdateFunc: func(e event.UpdateEvent) bool { return heard(e.ObjectNew, false) },
		DeleteFunc: func(e event.DeleteEvent) bool { return heard(e.Object, true) },
	}
}

func (o *Own) id(obj client.Object) index.ID { return ID(o.kind, client.ObjectKeyFromObject(obj)) }
