package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// engine is what the reconcilers of a manager share: who waits for what, and what is watched for them.
type engine struct {
	cache   cache.Cache
	live    client.Reader
	mapper  meta.RESTMapper
	scheme  *runtime.Scheme
	index   *index.Index
	behind  behind
	blocked blocked

	mu          sync.Mutex
	kinds       map[schema.GroupKind]*kind // those that were asked for
	refused     map[schema.GroupKind]refusal
	definitions bool           // it is watched which kinds are installed
	installs    map[string]int // how often it is still looked for the missing kinds of a group
	names       map[kindOf]string
	every       time.Duration // how often what is waited for is read live

	wakers  sync.Map      // of *waker, by kindOf
	stopped chan struct{} // closed when the manager stops
}

// kindOf is a kind whose objects wait.
type kindOf struct{ group, kind string }

func (k kindOf) id(name types.NamespacedName) index.ID {
	return index.ID{Group: k.group, Kind: k.kind, Namespace: name.Namespace, Name: name.Name}
}

// kind is one that is waited for.
type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	informer   cache.Informer // nil: the kind is not installed
	asked      time.Time      // when that was found out
}

// refusal is why a kind cannot be watched. It is not found out anew in each pass, so that those who wait for such a kind do
// not keep all workers busy.
type refusal struct {
	err   error
	until time.Time
}

const refusedFor = 5 * time.Second

var engines = struct {
	sync.Mutex
	of map[manager.Manager]*engine
}{of: map[manager.Manager]*engine{}}

// engineOf is the engine of a manager, made when the first reconciler asks for it.
func engineOf(mgr manager.Manager) (*engine, error) {
	engines.Lock()
	defer engines.Unlock()
	if e := engines.of[mgr]; e != nil {
		return e, nil
	}
	e := &engine{
		cache: mgr.GetCache(), live: mgr.GetAPIReader(), mapper: mgr.GetRESTMapper(), scheme: mgr.GetScheme(),
		kinds: map[schema.GroupKind]*kind{}, refused: map[schema.GroupKind]refusal{}, installs: map[string]int{},
		names: map[kindOf]string{}, stopped: make(chan struct{}),
	}
	e.index = index.New(e.wake)
	// A manager that has stopped is not started again.
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		e.poll(ctx)
		close(e.stopped)
		e.blocked.stop()
		engines.Lock()
		defer engines.Unlock()
		delete(engines.of, mgr)
		return nil
	}))
	if err != nil {
		return nil, err
	}
	engines.of[mgr] = e
	return e, nil
}

// add registers a kind whose objects wait, and are looked after so often.
func (e *engine) add(k kindOf, name string, every time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if other, ok := e.names[k]; ok {
		return fmt.Errorf("ctrlx: %s: the kind %s has the reconciler %s already", name, k.kind, other)
	}
	e.names[k] = name
	if e.every == 0 || every < e.every {
		e.every = every
	}
	return nil
}

// waker says where the waiters of a kind are woken.
func (e *engine) waker(k kindOf, w *waker) { e.wakers.Store(k, w) }

func (e *engine) wake(waiter index.ID) {
	if w, ok := e.wakers.Load(kindOf{waiter.Group, waiter.Kind}); ok {
		w.(*waker).wake(waiter)
	}
}

// look reads an object for a pass. The order is what loses no wake-up: it is registered, watched, read, and what was read
// is remembered. A UID says which object of that name is meant.
func (e *engine) look(ctx context.Context, p *index.Pass, id index.ID, uid types.UID, wait time.Duration, readiness readinesses) (checks.Object, error) {
	seen := p.Register(id)
	ref := checks.Ref{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	gk := schema.GroupKind{Group: id.Group, Kind: id.Kind}
	k, err := e.watched(ctx, gk, id.Namespace, wait)
	if err != nil {
		return checks.Object{}, fmt.Errorf("ctrlx: %s: %w", ref, err)
	}
	if k.informer == nil {
		seen.Saw(digest.NotFound)
		return checks.Object{Ref: ref}, nil
	}
	obj := newObject(e.scheme, k.gvk)
	if err := e.read(ctx, id, obj, wait); err != nil {
		if apierrors.IsNotFound(err) {
			seen.Saw(digest.NotFound)
			return checks.Object{Ref: ref}, nil
		}
		return checks.Object{}, fmt.Errorf("ctrlx: %s: %w", ref, err)
	}
	seen.Saw(digest.Of(obj))
	return readiness.object(obj, ref, uid), nil
}

// read reads an object from the cache, unless that is behind of what is known.
func (e *engine) read(ctx context.Context, id index.ID, obj client.Object, wait time.Duration) error {
	name := types.NamespacedName{Namespace: id.Namespace, Name: id.Name}
	if !e.behind.has(id) {
		return e.cache.Get(ctx, name, obj)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	err := e.live.Get(ctx, name, obj)
	if client.IgnoreNotFound(err) == nil {
		e.behind.mark(id, versionOf(obj, err)) // no later pass may see what was before that
	}
	return err
}

// watched is a kind whose first list has come, or one that is not installed.
func (e *engine) watched(ctx context.Context, gk schema.GroupKind, namespace string, wait time.Duration) (*kind, error) {
	if k := e.kind(gk); k != nil && k.informer != nil && k.informer.HasSynced() { // almost always, without a timer
		return k, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	k, err := e.watch(ctx, gk, namespace)
	if err == nil && k.informer != nil {
		err = e.synced(ctx, gk, k, wait)
	}
	return k, err
}

// watch sees to it that a kind is watched, if it is installed.
func (e *engine) watch(ctx context.Context, gk schema.GroupKind, namespace string) (*kind, error) {
	if k, err := e.known(gk); k != nil || err != nil {
		return k, err
	}
	k, err := e.discover(gk)
	switch {
	case err != nil:
		return nil, err
	case k.gvk.Version == "":
		return e.miss(ctx, gk, k)
	}
	// An informer that the API server refuses would stay for good, and hold up every controller that starts after it.
	if err := e.allowed(ctx, k.gvk, namespace); err != nil {
		return nil, e.refuse(gk, fmt.Errorf("the kind cannot be watched: %w", err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if k := e.kinds[gk]; k != nil && k.informer != nil { // somebody was faster
		return k, nil
	}
	if err := e.inform(ctx, k); err != nil {
		return nil, err
	}
	e.kinds[gk] = k
	return k, nil
}

// known is what is known of a kind, or why it cannot be watched; neither, if it has to be found out.
func (e *engine) known(gk schema.GroupKind) (*kind, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.kinds[gk]
	switch {
	case k != nil && k.informer != nil && k.informer.HasSynced():
		return k, nil
	case time.Now().Before(e.refused[gk].until):
		return nil, e.refused[gk].err
	case k == nil || k.informer != nil:
		return k, nil
	}
	granted := missingIfNot
	if e.definitions {
		granted = missingIfWatched
	}
	if time.Since(k.asked) > granted {
		return nil, nil
	}
	return k, nil
}

// refuse remembers for a while why a kind cannot be watched.
func (e *engine) refuse(gk schema.GroupKind, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused[gk] = refusal{err, time.Now().Add(refusedFor)}
	return err
}

// allowed asks the API server whether a kind may be listed: everywhere or, for caches that keep to some namespaces, in that of
// the object.
func (e *engine) allowed(ctx context.Context, gvk schema.GroupVersionKind, namespace string) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := e.live.List(ctx, list, client.Limit(1))
	if apierrors.IsForbidden(err) && namespace != "" && e.live.List(ctx, list, client.Limit(1), client.InNamespace(namespace)) == nil {
		return nil
	}
	return err
}

func (e *engine) kind(gk schema.GroupKind) *kind {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kinds[gk]
}

// discover asks the API server for a kind. One that is not installed has no version.
func (e *engine) discover(gk schema.GroupKind) (*kind, error) {
	mapping, err := e.mapper.RESTMapping(gk, versionsOf(e.scheme, gk)...)
	switch {
	case meta.IsNoMatchError(err):
		return &kind{gvk: gk.WithVersion(""), namespaced: true, asked: time.Now()}, nil
	case err != nil:
		return nil, fmt.Errorf("what the API server knows of the kind: %w", err)
	}
	return &kind{gvk: mapping.GroupVersionKind, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}, nil
}

// inform starts the informer of a kind, without waiting for it.
func (e *engine) inform(ctx context.Context, k *kind) error {
	// The informer lives as long as the manager; the context is for starting it.
	informer, err := e.cache.GetInformer(ctx, newObject(e.scheme, k.gvk), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching the kind: %w", err)
	}
	if _, err := informer.AddEventHandler(e.handler(k)); err != nil {
		return fmt.Errorf("watching the kind: %w", err)
	}
	k.informer = informer
	return nil
}

// handler tells the index of changes. It runs in the informer's goroutine, so it calls nobody else.
func (e *engine) handler(k *kind) toolscache.ResourceEventHandler {
	changed := func(o any, gone bool) {
		if unknown, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = unknown.Obj
		}
		obj, ok := o.(client.Object)
		if !ok {
			return
		}
		id := index.ID{Group: k.gvk.Group, Kind: k.gvk.Kind, Namespace: obj.GetNamespace(), Name: obj.GetName()}
		d := digest.NotFound
		if !gone {
			d = digest.Of(obj)
		}
		e.behind.heard(id, obj.GetResourceVersion(), gone)
		e.index.Changed(id, d)
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(o, false) },
		UpdateFunc: func(_, o any) { changed(o, false) },
		DeleteFunc: func(o any) { changed(o, true) },
	}
}

// namespaced tells whether a kind has namespaces, if that is known.
func (e *engine) namespaced(gk schema.GroupKind) (namespaced, known bool) {
	k := e.kind(gk)
	if k == nil {
		var err error
		if k, err = e.discover(gk); err != nil {
			return false, false
		}
	}
	return k.namespaced, k.gvk.Version != ""
}

// watches tells whether whoever waits for an object is woken.
func (e *engine) watches(id index.ID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.kinds[schema.GroupKind{Group: id.Group, Kind: id.Kind}]
	return k != nil && (k.informer == nil && e.definitions || k.informer != nil && k.informer.HasSynced())
}

// synced waits for the first list of a kind.
func (e *engine) synced(ctx context.Context, gk schema.GroupKind, k *kind, wait time.Duration) error {
	if k.informer.HasSynced() || toolscache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return e.refuse(gk, fmt.Errorf("%w within %s", errNotSynced, wait))
}

var errNotSynced = errors.New("the kind is not watched yet: its first list did not come")
