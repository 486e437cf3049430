package existing

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
)

// Resolver finds owners and references by a reader of the API server, for chains of checks that no [ctrlx.Reconciler] runs. It
// reads as [ctrlx.New] does, but it watches nothing, so nothing wakes a resource that waits. Make it with [NewResolver].
type Resolver struct {
	reader    client.Reader
	scheme    *runtime.Scheme
	readiness view.Readinesses
	foreign   view.ForeignReferences
}

// NewResolver returns a Resolver, usually with the client and the scheme of the manager. A kind that the scheme does not
// know is read unstructured if reader is a client.Client.
//
// It takes the options [ctrlx.WithReadiness] and [ctrlx.WithForeignReferences]. Any other panics, and so do a nil reader and a nil scheme.
func NewResolver(reader client.Reader, scheme *runtime.Scheme, opts ...ctrlx.Option) *Resolver {
	if reader == nil || scheme == nil {
		panic("ctrlx: NewResolver: the reader or the scheme is nil: give mgr.GetClient() and mgr.GetScheme()")
	}
	const only = "WithReadiness and WithForeignReferences"
	o := shared("NewResolver", only, opts)
	r := &Resolver{reader, scheme, o.Readiness, o.Foreign}
	o.Readiness, o.Foreign = nil, nil
	if !reflect.ValueOf(o).IsZero() {
		panic("ctrlx: NewResolver: it takes " + only + ": leave out the other options")
	}
	return r
}

// In returns a resolver for the references of a resource in namespace, in which a [checks.Ref] without a namespace is
// looked up.
func (r *Resolver) In(namespace string) checks.Resolver {
	return r.finder(namespace).WithID
}

// Lister returns a lister of sets for a resource. A [checks.Query] without a
// namespace lists the namespace of the resource, and the resource itself is
// marked in the list. The reader selects by the field of a query. A client of a
// manager needs an index of that field, made with the manager's
// [client.FieldIndexer]; the index of [ctrlx.WithIndex] is for reconcilers only. A
// reader without the index returns an error. A list of more than 10,000 objects
// is an error, unless the query has NamesOnly.
func (r *Resolver) Lister(resource client.Object) checks.Lister {
	return func(ctx context.Context, q checks.Query) ([]checks.Object, error) {
		all, err := r.list(ctx, resource, q)
		if err != nil {
			return nil, fmt.Errorf("ctrlx: %s: %w", q, err)
		}
		return all, nil
	}
}

func (r *Resolver) list(ctx context.Context, resource client.Object, q checks.Query) ([]checks.Object, error) {
	gvk, err := r.kind(checks.Ref{Group: q.Group, Kind: q.Kind}, "")
	if err != nil {
		return nil, err
	}
	namespace := q.Namespace
	switch {
	case r.clusterScoped(engine.NewObject(r.scheme, gvk)), namespace == checks.AllNamespaces:
		namespace = ""
	case namespace == "":
		namespace = resource.GetNamespace()
	}
	if err := r.foreign.Refused(resource.GetNamespace(), checks.Ref{Group: q.Group, Kind: q.Kind, Namespace: namespace, Set: q.Ref().Set}); err != nil {
		return nil, err
	}
	listed, err := engine.List(ctx, r.reader, r.scheme, gvk, namespace, q)
	if err != nil {
		return nil, err
	}
	all := r.readiness.Objects(listed, q, checks.Ref{Namespace: resource.GetNamespace()})
	for i, obj := range listed {
		all[i].Self = obj.GetUID() == resource.GetUID() && resource.GetUID() != ""
	}
	return all, nil
}

// clusterScoped reports whether the reader knows that the kind of obj has no namespaces.
func (r *Resolver) clusterScoped(obj client.Object) bool {
	scopes, ok := r.reader.(interface {
		IsObjectNamespaced(runtime.Object) (bool, error)
	})
	if !ok {
		return false
	}
	namespaced, err := scopes.IsObjectNamespaced(obj)
	return err == nil && !namespaced
}

// Owner finds the owner that the controlling owner reference of obj names. It is the zero Object without one, and an
// Object without Value if there is no object of that name and UID.
func (r *Resolver) Owner(ctx context.Context, obj client.Object) (checks.Object, error) {
	return view.Owner(ctx, obj, nil, r.finder(obj.GetNamespace()))
}

// finder returns the finder for a resource in namespace.
func (r *Resolver) finder(namespace string) view.Finder {
	return func(ctx context.Context, ref checks.Ref, w view.Wanted) (checks.Object, error) {
		gvk, err := r.kind(ref, w.Version)
		if err != nil {
			return checks.Object{}, fmt.Errorf("ctrlx: %s: %w", ref, err)
		}
		obj := engine.NewObject(r.scheme, gvk)
		switch {
		case r.clusterScoped(obj):
			ref.Namespace = ""
		case ref.Namespace == "":
			ref.Namespace = namespace
		}
		if err := r.foreign.Refused(namespace, ref); err != nil {
			return checks.Object{}, fmt.Errorf("ctrlx: %s: %w", ref, err)
		}
		err = r.reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj)
		switch {
		case apierr.Reader.NotFound(err):
			return checks.Object{Ref: ref}, nil
		case err != nil:
			return checks.Object{}, fmt.Errorf("ctrlx: %s: %w", ref, err)
		}
		found := r.readiness.Object(obj, ref, w.UID)
		if view.IsForeign(namespace, ref.Namespace) {
			found = view.WithoutText(found)
		}
		return found, nil
	}
}

// kind finds the version in which a kind is read: the scheme's preferred one, or version, or the API server's preferred one.
func (r *Resolver) kind(ref checks.Ref, version string) (schema.GroupVersionKind, error) {
	gk := schema.GroupKind{Group: ref.Group, Kind: ref.Kind}
	if known := engine.VersionsOf(r.scheme, gk); len(known) > 0 {
		version = known[0]
	}
	if version != "" {
		return gk.WithVersion(version), nil
	}
	mapper, ok := r.reader.(interface{ RESTMapper() meta.RESTMapper })
	if !ok {
		return schema.GroupVersionKind{}, fmt.Errorf("the scheme does not know the kind %s: add its types to the scheme", gk)
	}
	mapping, err := mapper.RESTMapper().RESTMapping(gk)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("the kind is not in the scheme, and the API server does not tell its version: %w", err)
	}
	return mapping.GroupVersionKind, nil
}
