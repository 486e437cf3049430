package component

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// namespaces creates the missing namespaces of new objects, as the policy says.
// A namespace that the set has is an object like others.
func namespaces(next WaveHandler) WaveHandler {
	return func(ctx context.Context, w *Wave) (Result, error) {
		var names []string
		for _, i := range w.pending {
			ns := w.Objects[i].Ref.Namespace
			exists := ns == w.Component.GetNamespace() && !w.remote() // the component is in it
			inSet := func(o *Object) bool { return o.stage == stageNamespaces && o.Ref.Name == ns }
			if w.results[i].Object != nil || ns == "" || exists || slices.Contains(names, ns) {
				continue
			}
			if !slices.ContainsFunc(w.Set.Objects, inSet) {
				names = append(names, ns)
			}
		}
		for _, name := range names {
			if err := w.namespace(ctx, name); err != nil {
				return Result{}, fmt.Errorf("%s is not written: the namespace %s: %w", w, name, err)
			}
		}
		return next(ctx, w)
	}
}

// namespace creates a namespace if it is missing. It needs the right to get
// namespaces.
func (w *Wave) namespace(ctx context.Context, name string) error {
	if w.config.namespaces == MissingNamespacesDoNotCreate {
		return nil // the API server refuses the objects
	}
	live, err := w.liveNamespace(ctx, name)
	switch {
	case err != nil || live != nil:
		return err
	case w.Plan != nil:
		if ref := (checks.Ref{Kind: kindNamespace.Kind, Name: name}); !w.Plan.creates(ref) {
			w.Plan.Changes = append(w.Plan.Changes, Change{Wave: w.String(), Ref: ref, Action: create})
		}
		return nil
	}
	ns := &unstructured.Unstructured{} // the scheme may lack the core group
	ns.SetGroupVersionKind(kindNamespace.WithVersion("v1"))
	ns.SetName(name)
	err = w.access.client.Create(ctx, ns, w.system.dependents.FieldOwner())
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// liveNamespace reads a namespace past the cache; nil: it does not exist.
func (s *Set) liveNamespace(ctx context.Context, name string) (client.Object, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(kindNamespace.WithVersion("v1"))
	err := s.access.live.Get(ctx, client.ObjectKey{Name: name}, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}
