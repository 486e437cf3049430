package ctrlx

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/sources"
)

// WithOwns reconciles an object when an object changes whose controlling owner
// reference names it, as Owns of controller-runtime's builder does. object is an
// empty object of the owned kind, for example &corev1.ConfigMap{}. An event has
// to pass all predicates. Without a predicate, each write of an owned object
// causes a pass, also a write by Apply. See docs/ctrlx/other-sources.md.
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
// panics. See docs/ctrlx/other-sources.md.
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
// [WithWatches] to source.Kind for this reason. See
// docs/ctrlx/other-sources.md.
func WithSource(s source.Source) Option {
	if setup.IsNil(s) {
		panic("ctrlx: WithSource: the source is nil")
	}
	return option(func(o *options) { o.watches = append(o.watches, sources.Watch{Option: "WithSource", Source: s}) })
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
	return option(func(o *options) { o.watches = append(o.watches, w) })
}

// WithWatchedKinds names kinds that the manager may watch because a reference
// names them. It is needed for the kinds of Kubernetes itself, for example
// Deployment, and for kinds that the scheme does not know. All reconcilers of
// the manager share the kinds; the option adds to them.
//
// ConfigMap and Secret need no option: without one, the manager watches their
// metadata only, and a typed check and [Read] read the data from the API server.
// Name them here to hold the data in memory.
//
// The kind "*" stands for all kinds of the group, and the group "*" with the
// kind "*" for all kinds. Then a user who can name any kind in a reference
// decides which kinds are held in memory; the rights of the operator are the
// only limit. The informer of such a kind stops ten minutes after its last use,
// unless the scheme knows the kind. Name a kind exactly if other code of the
// operator watches it, too.
//
// An empty kind, the group "*" with another kind, and a call without kinds
// panic.
func WithWatchedKinds(kinds ...schema.GroupKind) Option {
	kinds = mustNameKinds("WithWatchedKinds", ", or *", kinds)
	return option(func(o *options) { o.watched = append(o.watched, kinds...) })
}

// WithUnwatchedKinds names kinds that the manager must not watch, for example the
// kinds of client.CacheOptions.DisableFor. Each pass reads their objects live.
// Nothing wakes a resource that waits for such an object: it is requeued by the
// back-off. All reconcilers of the manager share the kinds. An empty kind, "*",
// and a call without kinds panic.
func WithUnwatchedKinds(kinds ...schema.GroupKind) Option {
	kinds = mustNameKinds("WithUnwatchedKinds", "", kinds)
	return option(func(o *options) { o.unwatched = append(o.unwatched, kinds...) })
}

// mustNameKinds returns a copy of kinds. It panics unless they are kinds with names. A text
// for orAll allows "*", too.
func mustNameKinds(option, orAll string, kinds []schema.GroupKind) []schema.GroupKind {
	if len(kinds) == 0 {
		panic(fmt.Sprintf("ctrlx: %s: give at least one kind", option))
	}
	for _, gk := range kinds {
		all := orAll != "" && gk.Kind == "*"
		if gk.Kind == "" || !all && (gk.Group == "*" || gk.Kind == "*") {
			panic(fmt.Sprintf("ctrlx: %s: %q: give the name of a kind%s", option, gk, orAll))
		}
	}
	return slices.Clone(kinds)
}

// WithIndex indexes the objects of a kind by a field, so that a query can select
// them by its Field and Value. The set names the kind and the field; nothing else of
// it counts. The function values returns the values of the field of an object, and
// only reads the object. W is a pointer to the struct of the kind, and may be any kind
// of the manager's scheme. The manager watches the kind. All reconcilers of the
// manager share the index. The index and its queries can share one value:
//
//	var ofCluster = checks.Query{Group: "example.com", Kind: "Database", Field: "spec.cluster"}
//
//	ctrlx.WithIndex(ofCluster, func(d *Database) []string { return []string{d.Spec.Cluster} })
//	checks.Unused("databases", func(c *Cluster) checks.Query { return ofCluster.WithValue(c.Name) })
//
// The manager does not start if a query of [checks.Unused] or [checks.Unique] names
// a field without an index. To find that out, the reconciler calls the function of
// the query with an empty object. A query whose function needs more than that, and
// the query of another check, fails in the first pass that lists it.
//
// If the function values panics, each query over the field fails, and the error names
// the object. A set without a kind or a field, a nil function, and a W that is no
// pointer to a struct panic. SetupWithManager fails if the scheme does not know W, or
// has it for another kind than the set's, and if a field of a kind is indexed twice.
func WithIndex[W client.Object](set checks.Query, values func(obj W) []string) Option {
	t := reflect.TypeFor[W]()
	if strings.TrimSpace(set.Field) == "" || set.Kind == "" || values == nil {
		panic(fmt.Sprintf("ctrlx: WithIndex: %q: give the kind and the field of the set, and a function", set.Field))
	}
	object.MustBeStruct(fmt.Sprintf("WithIndex: %q", set.Field), t)
	index := engine.Index{Kind: engine.KindOf(set.Ref()), Field: set.Field, Values: func(obj client.Object) ([]string, error) {
		w, ok := obj.(W)
		if !ok {
			return nil, fmt.Errorf("the object is a %T and the function takes a %s: give the version that the scheme prefers", obj, t)
		}
		return values(w), nil
	}}
	return option(func(o *options) { o.indexes = append(o.indexes, indexOption{index, newOf[W]()}) })
}

// indexesIn returns the indexes. It returns an error if a scheme has another kind for one.
func (o *options) indexesIn(scheme *runtime.Scheme) (all []engine.Index, err error) {
	for _, x := range o.indexes {
		gvk, err := apiutil.GVKForObject(x.object, scheme)
		if err != nil {
			return nil, fmt.Errorf("WithIndex: %q: add the type to the manager's scheme: %w", x.Field, err)
		}
		if x.Kind != gvk.GroupKind() {
			return nil, fmt.Errorf("WithIndex: %q: the set is of %s, and the function takes a %T, which is %s: give one kind", x.Field, x.Kind, x.object, gvk.GroupKind())
		}
		all = append(all, x.Index)
	}
	return all, nil
}

// listed returns the sets that checks of the reconciler list by a field, as the checks
// name them for an empty object.
func (r *Reconciler[T]) listed() (all []engine.FieldQuery) {
	for _, c := range []checks.Chain[T]{r.ext.EntryCheck, r.ext.GetCheck, r.ext.PreCheck, r.ext.PostCheck, r.ext.DeleteCheck} {
		for _, link := range c.Links() {
			if tag, ok := link.Tag.(interface {
				Listed(request any, note func(set any))
			}); ok {
				tag.Listed(&checks.Request[T]{Resource: newOf[T]()}, func(set any) {
					ref, _ := set.(checks.Ref)
					if q, ok := ref.Query(); ok && q.Field != "" {
						all = append(all, engine.FieldQuery{By: r.name + ": the check " + link.Name, Kind: engine.KindOf(ref), Field: q.Field})
					}
				})
			}
		}
	}
	return all
}
