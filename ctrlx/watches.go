package ctrlx

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/sources"
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
	return watching(sources.Watch{Option: "WithOwns", Object: object, Owned: true, Predicates: predicates})
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
	return watching(sources.Watch{Option: "WithWatches", Object: object, Events: events, Predicates: predicates})
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
	return func(o *options) { o.watches = append(o.watches, sources.Watch{Option: "WithSource", Source: s}) }
}

// watching returns the option that adds w.
func watching(w sources.Watch) Option {
	if setup.IsNil(w.Object) {
		panic(fmt.Sprintf("ctrlx: %s: the object is nil: give an empty object of the kind", w.Option))
	}
	for i, p := range w.Predicates {
		if setup.IsNil(p) {
			panic(fmt.Sprintf("ctrlx: %s: predicate %d is nil", w.Option, i+1))
		}
	}
	return func(o *options) { o.watches = append(o.watches, w) }
}

// caused notes that an event concerns an object, before a request for it is in
// the queue.
func (r *core) caused(name types.NamespacedName) {
	if r.settles {
		r.memory.Caused(name)
	}
}
