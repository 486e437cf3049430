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

// namespaces creates the missing namespaces of new objects, as the policy says. A
// namespace that the set has is an object like others.
func namespaces(next WaveHandler) WaveHandler {
	return func(ctx context.Context, w *Wave) (Result, error) {
		var names []string
		for _, i := range w.pending {
			ns := w.Objects[i].Ref.Namespace
			inSet := slices.ContainsFunc(w.Set.Objects, func(o *Object) bool {
				return o.stage == stageNamespaces && o.Ref.Name == ns
			})
			if w.Results[i].Object == nil && ns != "" && ns != w.Component.GetNamespace() && !inSet && !slices.Contains(names, ns) {
				names = append(names, ns)
			}
		}
		for _, name := range names {
			if err := w.namespace(ctx, name); err != nil {
				return Result{}, fmt.Errorf("wave %d of %d is not written: the namespace %s: %w", w.Number, w.Of, name, err)
			}
		}
		return next(ctx, w)
	}
}

// namespace creates a namespace if it is missing. Without a right to read
// namespaces, the create decides.
func (w *Wave) namespace(ctx context.Context, name string) error {
	if w.config.namespaces == MissingNamespacesDoNotCreate {
		return nil // the API server refuses the objects
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(kindNamespace.WithVersion("v1"))
	err := w.access.live.Get(ctx, client.ObjectKey{Name: name}, live)
	switch {
	case err == nil:
		return nil
	case !apierrors.IsNotFound(err):
		return err
	case w.Plan != nil:
		if !w.absent[name] {
			w.planned(name)
			w.Plan.add(w, Change{Ref: checks.Ref{Kind: "Namespace", Name: name}, Action: ActionCreate})
		}
		return nil
	}
	ns := &unstructured.Unstructured{} // the scheme may lack the core group
	ns.SetGroupVersionKind(live.GroupVersionKind())
	ns.SetName(name)
	err = w.access.client.Create(ctx, ns, client.FieldOwner(w.system.name))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// planned notes a namespace that a plan creates.
func (s *Set) planned(name string) {
	if s.absent == nil {
		s.absent = map[string]bool{}
	}
	s.absent[name] = true
}
