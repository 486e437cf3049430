package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	scheme  *runtime.Scheme
	index   *index.Index
	behind  behind
	blocked blocked
	catalog *catalog

	mu              sync.Mutex
	kinds           map[schema.GroupKind]*kind // the watched kinds
	refused         map[schema.GroupKind]refusal
	watchable       map[schema.GroupKind]bool // the kinds that options name
	definitions     bool                      // definitions are watched
	definitionsNext time.Time                 // when to ask again whether they may be watched
	settling        bool                      // settle runs
	settleUntil     time.Time
	names           map[kindOf]string
	every           time.Duration // how often what is waited for is read live

	wakers  sync.Map        // of *waker, by kindOf
	stopped context.Context // done when the manager has stopped
}

// kindOf is a kind whose objects wait.
type kindOf struct{ group, kind string }

func (k kindOf) id(name types.NamespacedName) index.ID {
	return index.ID{Group: k.group, Kind: k.kind, Namespace: name.Namespace, Name: name.Name}
}

// kind is a watched kind.
type kind struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	informer   cache.Informer // nil until inform
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
	stopped, stop := context.WithCancel(context.Background())
	e := &engine{
		cache: mgr.GetCache(), live: mgr.GetAPIReader(), scheme: mgr.GetScheme(),
		kinds: map[schema.GroupKind]*kind{}, refused: map[schema.GroupKind]refusal{}, watchable: map[schema.GroupKind]bool{},
		names: map[kindOf]string{}, stopped: stopped,
	}
	e.index = index.New(e.wake)
	e.catalog = &catalog{
		list: discover(mgr.GetConfig(), mgr.GetHTTPClient()), listed: e.installed, stopped: stopped, defined: map[string]time.Time{},
	}
	// A manager that has stopped is not started again.
	err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		e.poll(ctx)
		stop()
		e.blocked.stop()
		engines.Lock()
		defer engines.Unlock()
		delete(engines.of, mgr)
		return nil
	}))
	if err != nil {
		stop()
		return nil, err
	}
	engines.of[mgr] = e
	return e, nil
}

// add registers a kind whose objects wait. every is the interval between live
// reads of awaited objects, watchable are the kinds that its options name.
func (e *engine) add(k kindOf, name string, every time.Duration, watchable []schema.GroupKind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if other, ok := e.names[k]; ok {
		return fmt.Errorf("ctrlx: %s: the kind %s has the reconciler %s already", name, k.kind, other)
	}
	e.names[k] = name
	if e.every == 0 || every < e.every {
		e.every = every
	}
	for _, gk := range watchable {
		e.watchable[gk] = true
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
	if k == nil {
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

// watched returns a kind whose first list has come. It returns nil if the kind
// is missing.
func (e *engine) watched(ctx context.Context, gk schema.GroupKind, namespace string, wait time.Duration) (*kind, error) {
	if k := e.kind(gk); k != nil && k.informer.HasSynced() { // almost always, without a timer
		return k, nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	k, err := e.watch(ctx, gk, namespace)
	if err == nil && k != nil {
		err = e.synced(ctx, gk, k, wait)
	}
	return k, err
}

// watch starts the watch of a kind, unless it runs already. It returns nil if
// the kind is missing.
func (e *engine) watch(ctx context.Context, gk schema.GroupKind, namespace string) (*kind, error) {
	if k, err := e.known(gk); k != nil || err != nil {
		return k, err
	}
	k, err := e.discover(ctx, gk)
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return nil, e.missingKind(ctx)
	}
	// An informer that the API server refuses would stay for good, and hold up every controller that starts after it.
	if err := e.allowed(ctx, k.gvk, namespace); err != nil {
		if apierrors.IsNotFound(err) {
			e.catalog.drop(gk)
		}
		return nil, e.refuse(gk, fmt.Errorf("the kind cannot be watched: %w", err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if k := e.kinds[gk]; k != nil { // another pass was faster
		return k, nil
	}
	if err := e.inform(ctx, k); err != nil {
		return nil, err
	}
	e.kinds[gk] = k
	return k, nil
}

// known returns a watched kind, or the reason why the kind cannot be watched.
// It returns neither if that has to be found out.
func (e *engine) known(gk schema.GroupKind) (*kind, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.kinds[gk]
	if k != nil && k.informer.HasSynced() {
		return k, nil
	}
	if r, ok := e.refused[gk]; ok {
		if time.Now().Before(r.until) {
			return nil, r.err
		}
		delete(e.refused, gk)
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

// discover looks a kind up in discovery: the version that the scheme prefers,
// or else the API server. It returns nil if the kind is missing, and an error
// for a kind that is not watched.
func (e *engine) discover(ctx context.Context, gk schema.GroupKind) (*kind, error) {
	if !e.mayWatch(gk) {
		return nil, &kindNotWatchedError{gk}
	}
	served, found, err := e.catalog.find(ctx, gk)
	switch {
	case err != nil:
		return nil, fmt.Errorf("what the API server knows of the kind: %w", err)
	case !found:
		return nil, nil
	case len(served.versions) == 0:
		return nil, apierrors.NewMethodNotSupported(schema.GroupResource{Group: gk.Group, Resource: gk.Kind}, "watch")
	}
	k := &kind{gvk: gk.WithVersion(served.versions[0]), namespaced: served.namespaced}
	if typed := versionsOf(e.scheme, gk); len(typed) > 0 {
		i := slices.IndexFunc(typed, func(v string) bool { return slices.Contains(served.versions, v) })
		if i < 0 {
			return nil, nil
		}
		k.gvk.Version = typed[i]
	}
	return k, nil
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

// namespaced reports whether a kind has namespaces. known is false if the
// kind is missing, or is not watched.
func (e *engine) namespaced(ctx context.Context, gk schema.GroupKind, wait time.Duration) (namespaced, known bool) {
	k := e.kind(gk)
	if k == nil {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		k, _ = e.discover(ctx, gk)
	}
	return k != nil && k.namespaced, k != nil
}

// watches reports whether a change of an object wakes its waiters.
func (e *engine) watches(id index.ID) bool {
	gk := schema.GroupKind{Group: id.Group, Kind: id.Kind}
	if k := e.kind(gk); k != nil {
		return k.informer.HasSynced()
	}
	return e.mayWatch(gk) && e.catalog.wakes(gk)
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
