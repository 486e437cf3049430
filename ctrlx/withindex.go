package ctrlx

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// indexOption is an index of [WithIndex]. Its kind is known when the scheme is.
type indexOption struct {
	field  string
	object client.Object
	values func(client.Object) ([]string, error)
}

// WithIndex indexes the objects of the kind W by a field, so that a query can
// select them ([checks.Query], Field and Value). The function values returns the
// values of the field of an object, and only reads the object. W is a pointer to
// the struct of the kind, and may be any kind of the manager's scheme. The
// manager watches the kind. All reconcilers of the manager share the index.
//
//	ctrlx.WithIndex("spec.cluster", func(d *Database) []string { return []string{d.Spec.Cluster} })
//
// The manager does not start if a query of [checks.Unused] or [checks.Unique] names
// a field without an index. To find that out, the reconciler calls the function of
// the query with an empty object. A query whose function needs more than that, and
// the query of another check, fails in the first pass that lists it.
//
// If the function values panics, each query over the field fails, and the error names
// the object. An empty field, a nil function and a W that is no pointer to a
// struct panic. SetupWithManager fails if the scheme does not know W, and if a
// field of a kind is indexed twice.
func WithIndex[W client.Object](field string, values func(obj W) []string) Option {
	t := reflect.TypeFor[W]()
	switch {
	case strings.TrimSpace(field) == "" || values == nil:
		panic(fmt.Sprintf("ctrlx: WithIndex: %q: give the name of the field and a function", field))
	case t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct:
		panic(fmt.Sprintf("ctrlx: WithIndex: %q: %s is no pointer to a struct: give the type that the scheme knows", field, t))
	}
	x := indexOption{field, newOf[W](), func(obj client.Object) ([]string, error) {
		w, ok := obj.(W)
		if !ok {
			return nil, fmt.Errorf("the object is a %T and the function takes a %s: give the version that the scheme prefers", obj, t)
		}
		return values(w), nil
	}}
	return func(o *options) { o.indexes = append(o.indexes, x) }
}

// indexesIn returns the indexes, with the kinds that a scheme has for them.
func (o *options) indexesIn(scheme *runtime.Scheme) (all []engine.Index, err error) {
	for _, x := range o.indexes {
		gvk, err := apiutil.GVKForObject(x.object, scheme)
		if err != nil {
			return nil, fmt.Errorf("WithIndex: %q: add the type to the manager's scheme: %w", x.field, err)
		}
		all = append(all, engine.Index{Kind: gvk.GroupKind(), Field: x.field, Values: x.values})
	}
	return all, nil
}

// listed returns the sets that checks of the reconciler list by a field, as the checks
// name them for an empty object.
func (r *Reconciler[T]) listed() (all []engine.FieldQuery) {
	for _, c := range []checks.Chain[T]{r.ext.EntryCheck, r.ext.GetCheck, r.ext.PreCheck, r.ext.PostCheck, r.ext.DeleteCheck} {
		for _, link := range c.Links() {
			tag, ok := link.Tag.(interface {
				Listed(request any, note func(set any))
			})
			if !ok {
				continue
			}
			tag.Listed(&checks.Request[T]{Resource: newOf[T]()}, func(set any) {
				ref, _ := set.(checks.Ref)
				if q, ok := ref.Query(); ok && q.Field != "" {
					all = append(all, engine.FieldQuery{By: link.Name, Kind: kindOf(ref), Field: q.Field})
				}
			})
		}
	}
	return all
}
