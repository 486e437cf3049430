package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// WithOwns reconciles an object when an object changes whose controlling owner
// reference names it, as Owns of controller-runtime's builder does. object is an
// empty object of the owned kind, for example &corev1.ConfigMap{}. An event has
// to pass all predicates. Without a predicate, each write of an owned object
// causes a pass, also a write by Apply. See "Other sources" in docs/ctrlx.md.
//
// A nil object and a nil predicate panic. A kind that the scheme of the manager
// does not know is an error of [Reconciler.SetupWithManager].
func WithOwns(object client.Object, predicates ...predicate.Predicate) Option {
	return watch{option: "WithOwns", object: object, owned: true, predicates: predicates}.given()
}

// WithWatches reconciles the objects that events names for an event of another
// object, as Watches of controller-runtime's builder does. object is an empty
// object of the watched kind. It may be a *metav1.PartialObjectMetadata with a
// kind, to watch the metadata only. An event has to pass all predicates:
//
//	ctrlx.WithWatches(&v1.Plan{}, handler.EnqueueRequestsFromMapFunc(databasesOf), predicate.GenerationChangedPredicate{})
//
// object may be of the reconciled kind. This adds causes of a pass, and removes
// none, for example a change of the labels:
//
//	ctrlx.WithWatches(&v1.Database{}, &handler.EnqueueRequestForObject{}, predicate.LabelChangedPredicate{})
//
// If events or a predicate panics, the process continues and logs the panic with
// the name of the reconciler. A panic of events loses the event; the objects
// that it concerns are reconciled at the resync. An event passes a predicate that
// panics. See "Other sources" in docs/ctrlx.md.
//
// Checks need no such option: the manager watches what they read.
// [WithWatchedKinds] only names the kinds that references may use.
//
// A nil object, nil events and a nil predicate panic. A kind that the scheme of
// the manager does not know is an error of [Reconciler.SetupWithManager].
func WithWatches(object client.Object, events handler.EventHandler, predicates ...predicate.Predicate) Option {
	if setup.IsNil(events) {
		panic("ctrlx: WithWatches: the event handler is nil: give one, for example handler.EnqueueRequestsFromMapFunc(...)")
	}
	return watch{option: "WithWatches", object: object, events: events, predicates: predicates}.given()
}

// WithSource adds any other source of controller-runtime, for example
// source.Channel. [Reconciler.Poke] is simpler for an event that names its
// object. The predicates of a source are its own. A nil source panics.
//
// A panic in Start is an error of the manager. The library cannot catch a later
// panic of a source: controller-runtime logs it and the process ends. Prefer
// [WithWatches] to source.Kind for this reason. See "Other sources" in
// docs/ctrlx.md.
func WithSource(s source.Source) Option {
	if setup.IsNil(s) {
		panic("ctrlx: WithSource: the source is nil")
	}
	return func(o *options) { o.watches = append(o.watches, watch{option: "WithSource", source: s}) }
}

// watch is a source of events that an option added. Either object or source is
// set.
type watch struct {
	option     string
	object     client.Object
	owned      bool                 // events is the handler of owner references
	events     handler.EventHandler // nil if owned
	predicates []predicate.Predicate
	source     source.Source
}

// given returns the option that adds w.
func (w watch) given() Option {
	if setup.IsNil(w.object) {
		panic(fmt.Sprintf("ctrlx: %s: the object is nil: give an empty object of the kind", w.option))
	}
	for i, p := range w.predicates {
		if setup.IsNil(p) {
			panic(fmt.Sprintf("ctrlx: %s: predicate %d is nil", w.option, i+1))
		}
	}
	return func(o *options) { o.watches = append(o.watches, w) }
}

// sources returns the sources that options added. kinds are the kinds of
// unstructured objects: the engine must not stop their informers.
func (r *Reconciler[T]) sources(mgr manager.Manager) (all []source.Source, kinds []schema.GroupKind, err error) {
	for _, w := range r.opt.watches {
		s := w.source
		if s == nil {
			gvk, err := apiutil.GVKForObject(w.object, mgr.GetScheme())
			if err != nil {
				return nil, nil, fmt.Errorf("ctrlx: %s: %s(%T): add the type to the manager's scheme: %w", r.name, w.option, w.object, err)
			}
			if _, ok := w.object.(*unstructured.Unstructured); ok {
				kinds = append(kinds, gvk.GroupKind())
			}
			events := w.events
			if w.owned {
				events = handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), r.kind.New(), handler.OnlyControllerOwner())
			}
			g := guarded{mgr.GetLogger().WithValues("controller", r.name, "option", w.option, "watchedKind", gvk.GroupKind().String())}
			s = source.Kind(mgr.GetCache(), w.object, g.events(events), g.predicates(w.predicates)...)
		}
		all = append(all, causing{s, r.name, r.caused})
	}
	return all, kinds, nil
}

// caused notes that an event concerns an object, before a request for it is in
// the queue.
func (r *core) caused(name types.NamespacedName) {
	if r.settles {
		r.memory.Caused(name)
	}
}

// causing is a source whose events cause whole passes: the first pass over an
// object in this process is not left out after such an event.
type causing struct {
	source.Source
	name  string
	cause func(types.NamespacedName)
}

// Start implements source.Source.
func (s causing) Start(ctx context.Context, q queue) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("ctrlx: %s: the source %s panicked: %v\n%s", s.name, s, v, debug.Stack())
		}
	}()
	prioritized, ok := q.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok {
		return fmt.Errorf("ctrlx: %s: the work queue is a %T: this version of controller-runtime is not supported", s.name, q)
	}
	return s.Source.Start(ctx, causingQueue{prioritized, s.cause})
}

// WaitForSync implements source.SyncingSource. The controller begins its first
// pass after the first list of each kind is in the queue.
func (s causing) WaitForSync(ctx context.Context) error {
	if syncing, ok := s.Source.(source.SyncingSource); ok {
		return syncing.WaitForSync(ctx)
	}
	return nil
}

// String returns the name of the source for the log of controller-runtime.
func (s causing) String() string {
	if named, ok := s.Source.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s.Source)
}

// causingQueue calls cause for each request before the request is in the queue.
type causingQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	cause func(types.NamespacedName)
}

func (q causingQueue) Add(req reconcile.Request) {
	q.cause(req.NamespacedName)
	q.PriorityQueue.Add(req)
}

func (q causingQueue) AddAfter(req reconcile.Request, d time.Duration) {
	q.cause(req.NamespacedName)
	q.PriorityQueue.AddAfter(req, d)
}

func (q causingQueue) AddRateLimited(req reconcile.Request) {
	q.cause(req.NamespacedName)
	q.PriorityQueue.AddRateLimited(req)
}

// AddWithOpts adds requests. Handlers of controller-runtime give events of the
// first list a low priority. These events cause no pass of their own: the first
// list of the reconciled kind causes one, which may be left out.
func (q causingQueue) AddWithOpts(o priorityqueue.AddOpts, reqs ...reconcile.Request) {
	if o.Priority == nil || *o.Priority > handler.LowPriority {
		for _, req := range reqs {
			q.cause(req.NamespacedName)
		}
	}
	q.PriorityQueue.AddWithOpts(o, reqs...)
}

// guarded catches the panics of the user's functions for events. In an informer,
// such a panic ends the process.
type guarded struct{ log logr.Logger }

var errEventPanic = errors.New("a function for the events of another object panicked")

// caught logs a panic. about is an object of the event; nil: it is not known.
func (g guarded) caught(v any, about client.Object, consequence string) {
	if v == nil {
		return
	}
	var name string
	if !setup.IsNil(about) {
		name = client.ObjectKeyFromObject(about).String()
	}
	g.log.Error(errEventPanic, consequence, "panic", fmt.Sprint(v), "object", name, "stack", string(debug.Stack()))
}

const lostEvent = "the event is lost: the objects that it concerns are reconciled at the resync"

// events returns h without its panics. Events of the first list have a low
// priority, whatever h does.
func (g guarded) events(h handler.EventHandler) handler.EventHandler {
	h = handler.WithLowPriorityWhenUnchanged(h)
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Create(ctx, e, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			defer func() { g.caught(recover(), e.ObjectNew, lostEvent) }()
			h.Update(ctx, e, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Delete(ctx, e, q)
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Generic(ctx, e, q)
		},
	}
}

const passedEvent = "the event passes the predicate"

// predicates returns predicates without their panics. An event passes a
// predicate that panics.
func (g guarded) predicates(all []predicate.Predicate) []predicate.Predicate {
	var safe []predicate.Predicate
	for _, p := range all {
		safe = append(safe, predicate.Funcs{
			CreateFunc: func(e event.CreateEvent) bool {
				return g.passes(e.Object, func() bool { return p.Create(e) })
			},
			UpdateFunc: func(e event.UpdateEvent) bool {
				return g.passes(e.ObjectNew, func() bool { return p.Update(e) })
			},
			DeleteFunc: func(e event.DeleteEvent) bool {
				return g.passes(e.Object, func() bool { return p.Delete(e) })
			},
			GenericFunc: func(e event.GenericEvent) bool {
				return g.passes(e.Object, func() bool { return p.Generic(e) })
			},
		})
	}
	return safe
}

// passes returns what ask returns, and true if it panics.
func (g guarded) passes(about client.Object, ask func() bool) (passes bool) {
	defer func() {
		if v := recover(); v != nil {
			g.caught(v, about, passedEvent)
			passes = true
		}
	}()
	return ask()
}
