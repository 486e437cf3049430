package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/flow/why"
)

// Engine holds what the reconcilers of a manager share: which object waits for
// which objects, and which kinds are watched for them. Get it with [Of]. It is
// safe for concurrent use.
type Engine struct {
	cache   cache.Cache
	live    client.Reader
	scheme  *apiruntime.Scheme
	index   *index.Index
	sets    sets
	touches touches
	digests byversion.Cache[*digests]
	catalog *catalog
	stopped context.Context // done when the manager has stopped

	mu        sync.Mutex
	own       []*Own // the kinds of the reconcilers
	reporters []Reporter
	leads     []func() bool
	names     map[schema.GroupKind]string  // the reconciler of each kind
	policy    map[schema.GroupKind]policy  // the kinds that options name
	watches   map[schema.GroupKind]*watch  // the kinds with an informer
	refused   map[schema.GroupKind]refusal // the kinds that cannot be watched now
	interval  time.Duration                // of the fallback; 0: no reconciler was added

	fields    map[fieldKey]*field               // the indexes of queries
	listed    []FieldQuery                      // the queries that are known before the start
	readiness map[schema.GroupKind][]ready.Func // of the options, besides ready.Of

	written map[schema.GroupKind][]func(client.Object) uint64 // see Writes

	definitions definitions

	Spans          Spans    // of the passes of all reconcilers
	wakers         sync.Map // of *Waker, by schema.GroupKind
	reporterOfKind sync.Map // of Reporter, by schema.GroupKind
}

// Own reads the objects of a reconciler's kind so that a pass sees the writes of the
// pass before it: a pass that does not see the token of an operation starts a second
// one. controller-runtime's client can wait until the cache has a write, but only if
// the options of the manager say so, and it waits without an end while the watch is
// broken, and so do all workers. So Own remembers each write until the cache has it,
// and reads live until then. It also wakes objects whose changes a broken watch hides.
type Own struct {
	engine  *Engine
	stale   stale
	gvk     schema.GroupVersionKind
	cached  client.Reader
	wait    time.Duration        // bounds a live read
	object  func() client.Object // makes an object to read into
	watched *watch               // the informer of the controller; nil: not yet. Only the fallback uses it
	hidden  bool                 // the log has the objects that the cache lacks. Only the fallback uses it
}

// Reporter is a reconciler that reports which of its objects are not ready.
type Reporter interface {
	// Unready calls add for each object that is not ready, without the awaited
	// objects. Its Ref has the namespace of the object, if that has one. unseen is the number of objects of unknown state: their conditions
	// do not say that they are ready, and no pass over them has ended since the
	// start of the program. ready is the number of the others. If healthy, Unready
	// calls add for these, too.
	Unready(ctx context.Context, healthy bool, add func(why.Object)) (ready, unseen int, err error)
	// Keeps reports whether a finalizer of an object of the reconciler keeps at, the
	// object of ref, which a user deletes.
	Keeps(ctx context.Context, name types.NamespacedName, ref checks.Ref, at client.Object) bool
	// View returns the view of checks of an object that was read for ref.
	View(obj client.Object, ref checks.Ref) checks.Object
	// Decided reports whether the last pass since the start of the program has found
	// an object not ready, or an earlier pass has for good.
	Decided(ctx context.Context, name types.NamespacedName) bool
	// Describe returns the flow of the reconciler.
	Describe() why.Flow
}

// definitions watches the metadata of the definitions, from the first missing
// kind on. Waiters of a missing kind make no requests: after an event of a
// definition, the engine reads discovery for all of them. If the operator may not
// watch definitions, or an aggregated API server has the kind, the waiters are
// requeued and look it up again. The fields need the lock of the engine.
type definitions struct {
	watched bool
	next    time.Time     // when to ask again whether the operator may watch definitions
	events  chan struct{} // an event has come since settle has looked; nil: not watched
}

// digests are the digests of one version of an object. A pass over an object that
// has not changed computes none.
type digests struct{ full, follow once }

// once is a digest that is computed when it is first needed; 0: not yet.
type once struct{ atomic.Uint64 }

func (o *once) get(compute func() uint64) uint64 {
	h := o.Load()
	if h == 0 {
		h = compute()
		o.Store(h)
	}
	return h
}

// Cache returns the cache of the manager.
func (e *Engine) Cache() client.Reader { return e.cache }

// Live returns the reader that reads past the cache.
func (e *Engine) Live() client.Reader { return e.live }

// Forget drops what an object waits for, because the object is gone or waits for
// nothing any more.
func (e *Engine) Forget(waiter index.ID) { e.index.Forget(waiter) }

// watchOf returns the informer of a kind and whether it is in sync. w is nil if
// there is none.
func (e *Engine) watchOf(gk schema.GroupKind) (w *watch, state kindState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	w = e.watches[gk]
	if w != nil {
		w.used.Store(true) // with the lock, so that stopIdle sees it
	}
	if w != nil && toolscache.IsDone(w.synced) {
		return w, synced
	}
	return w, starting
}
