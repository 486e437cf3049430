package ctrlx

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/gauges"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

// Reconciler reconciles one kind of object under controller-runtime. Make it with [New], and give it to a manager with
// [Reconciler.SetupWithManager]. It implements reconcile.Reconciler.
type Reconciler[T client.Object] struct {
	core
	ops       flow.Operations[T]
	ext       flow.Extensions[T]
	hooks     []edit[T]
	preDelete []checks.Middleware[T] // hooks, the first links of DeleteCheck
	onDelete  bool                   // a hook runs when objects are deleted
	flow      *flow.Reconciler[T]    // of them all
	target    targeting[T]           // nil: there is no deployment target but the manager's cluster
}

// core is the part of a reconciler that does not depend on the type of its objects.
type core struct {
	name      string
	kind      *object.Kind
	opt       options
	backoff   *flow.Backoff
	now       func() time.Time
	resync    time.Duration // of the back-off, for time-outs
	finalizes bool
	remote    bool // there is a deployment target
	deleting  func(client.Object) bool
	memory    gauges.Counted
	observer  chain.Observer // nil: none

	// What SetupWithManager gives.
	engine   *engine.Engine
	waker    *engine.Waker
	client   client.Client
	recorder events.EventRecorder
	own      *engine.Own // reads that see the writes of this process
	pokes    pokes
	keeps    func(obj client.Object, ref checks.Ref, other client.Object) bool // nil: it keeps none
	limit    time.Duration                                                     // the deadline of a pass; not positive: it has none
	writers  status.Writers

	interrupter *interrupter // nil: nothing interrupts a pass

	elected  func() <-chan struct{}     // see electedOf
	stopped  atomic.Bool                // the manager has stopped
	statuses func(client.Object) string // digestOfStatus, once for each version: an owner may have thousands of followers
	dropped  sync.Once                  // see errDropped
	clients  *identities
	program  string // identifies the running program; empty: unknown

	tokens  bool // the record stores the tokens of operations
	settles bool // settled objects are left alone after a restart
}

// id returns how the index knows an object.
func (r *core) id(name types.NamespacedName) checks.Ref {
	return engine.ID(r.kind.GroupKind(), name)
}

// forget drops what is known of an object that is gone.
func (r *core) forget(req reconcile.Request) {
	r.engine.Forget(r.id(req.NamespacedName))
	r.memory.Forget(req.NamespacedName)
	r.waker.Calm(req.NamespacedName)
}

// newOf returns an empty object to read into.
func newOf[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

// edit adds a hook to extensions, as links. gets reports whether passes have a Get.
type edit[T client.Object] func(ext *flow.Extensions[T], gets bool)

// identities holds the clients of identities. It is safe for concurrent use.
type identities struct {
	mgr     manager.Manager
	clients *lru.Cache
}

// targeting is a function that finds the client of the deployment target.
type targeting[T client.Object] func(ctx context.Context, local client.Client, resource T) (client.Client, error)
