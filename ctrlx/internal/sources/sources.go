// Package sources makes the sources of events that options of a reconciler add. A panic
// of a user's function does not end the process.
package sources

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

	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Watch is a source of events that an option added. Either Object or Source is set.
type Watch struct {
	Option     string
	Object     client.Object
	Owned      bool                 // the events are those of owned objects
	Events     handler.EventHandler // nil if Owned
	Predicates []predicate.Predicate
	Source     source.Source
}

// Of returns the sources of a reconciler with a name, whose objects have the type of
// object. It calls cause before a request for an object is in the queue. kinds are the
// kinds of unstructured objects: the engine must not stop their informers.
func Of(watches []Watch, mgr manager.Manager, name string, object client.Object, cause func(types.NamespacedName)) (all []source.Source, kinds []schema.GroupKind, err error) {
	for _, w := range watches {
		s := w.Source
		if s == nil {
			gvk, err := apiutil.GVKForObject(w.Object, mgr.GetScheme())
			if err != nil {
				return nil, nil, fmt.Errorf("ctrlx: %s: %s(%T): add the type to the manager's scheme: %w", name, w.Option, w.Object, err)
			}
			if _, ok := w.Object.(*unstructured.Unstructured); ok {
				kinds = append(kinds, gvk.GroupKind())
			}
			events := w.Events
			if w.Owned {
				events = handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), object, handler.OnlyControllerOwner())
			}
			g := Recovering{mgr.GetLogger().WithValues("controller", name, "option", w.Option, "watchedKind", gvk.GroupKind().String())}
			s = source.Kind(mgr.GetCache(), w.Object, g.Events(events), g.Predicates(w.Predicates)...)
		}
		all = append(all, causing{s, name, cause})
	}
	return all, kinds, nil
}

// causing is a source whose events cause whole passes: the first pass over an
// object in this process is not left out after such an event.
type causing struct {
	source.Source
	name  string
	cause func(types.NamespacedName)
}

// Start implements source.Source.
func (s causing) Start(ctx context.Context, q engine.Queue) (err error) {
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

// These do what they do in controller-runtime.
func (q causingQueue) Add(req reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, req) }
func (q causingQueue) AddAfter(req reconcile.Request, d time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: d}, req)
}
func (q causingQueue) AddRateLimited(req reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, req)
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

// Recovering catches the panics of the user's functions for events. In an informer,
// such a panic ends the process.
type Recovering struct{ Log logr.Logger }

var errEventPanic = errors.New("a function for the events of another object panicked")

// caught logs a panic. about is an object of the event; nil: it is not known.
func (g Recovering) caught(v any, about client.Object, consequence string) {
	if v == nil {
		return
	}
	var name string
	if !setup.IsNil(about) {
		name = client.ObjectKeyFromObject(about).String()
	}
	g.Log.Error(errEventPanic, consequence, "panic", fmt.Sprint(v), "object", name, "stack", string(debug.Stack()))
}

const lostEvent = "the event is lost: the objects that it concerns are reconciled at the resync"

// Events returns h without its panics. [handler.Funcs] gives events of the first
// list, and of a resync, a low priority, whatever h does.
func (g Recovering) Events(h handler.EventHandler) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q engine.Queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Create(ctx, e, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q engine.Queue) {
			defer func() { g.caught(recover(), e.ObjectNew, lostEvent) }()
			h.Update(ctx, e, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q engine.Queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Delete(ctx, e, q)
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q engine.Queue) {
			defer func() { g.caught(recover(), e.Object, lostEvent) }()
			h.Generic(ctx, e, q)
		},
	}
}

const passedEvent = "the event passes the predicate"

// Predicates returns predicates without their panics. An event passes a
// predicate that panics.
func (g Recovering) Predicates(all []predicate.Predicate) []predicate.Predicate {
	var safe []predicate.Predicate
	for _, p := range all {
		safe = append(safe, predicate.Funcs{
			CreateFunc:  func(e event.CreateEvent) bool { return g.passes(e.Object, func() bool { return p.Create(e) }) },
			UpdateFunc:  func(e event.UpdateEvent) bool { return g.passes(e.ObjectNew, func() bool { return p.Update(e) }) },
			DeleteFunc:  func(e event.DeleteEvent) bool { return g.passes(e.Object, func() bool { return p.Delete(e) }) },
			GenericFunc: func(e event.GenericEvent) bool { return g.passes(e.Object, func() bool { return p.Generic(e) }) },
		})
	}
	return safe
}

// passes returns what ask returns, and true if it panics.
func (g Recovering) passes(about client.Object, ask func() bool) (passes bool) {
	defer func() {
		if v := recover(); v != nil {
			g.caught(v, about, passedEvent)
			passes = true
		}
	}()
	return ask()
}
