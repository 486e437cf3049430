package dependents

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/flow"
)

// create creates an object that does not exist. It never changes one that
// appeared after the read.
func create(next Handler) Handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		if r.Live != nil {
			return next(ctx, r)
		}
		u, err := r.marked()
		if err != nil {
			return Result{}, err
		}
		if r.ssa() {
			// No object has this version, so the API server refuses to change
			// one that exists.
			u.SetResourceVersion("1")
			err = r.writer().Apply(ctx, client.ApplyConfigurationFromUnstructured(u), r.manager())
		} else {
			err = r.writer().Create(ctx, u, r.manager())
		}
		switch {
		case apierrors.IsAlreadyExists(err):
			return Result{}, r.conflict("another writer created it after this pass had read it")
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			err = fmt.Errorf("it cannot be created, because its namespace is being deleted: %w", err)
			if r.via.target {
				return Result{}, err // the manager does not watch the namespaces of this cluster
			}
			return Result{}, flow.WaitFor(err, checks.Ref{Kind: "Namespace", Name: r.ref.Namespace})
		case definition.Unserved(err):
			return Result{}, fmt.Errorf("the API server does not serve its kind as the operator knows it: "+
				"install the definition, or restart the operator if the kind has another scope now: %w", err)
		case err != nil:
			return Result{}, err
		}
		return r.wrote(Created, u)
	}
}

// conflict returns an error that makes the next pass read the object again.
func (r *Request) conflict(text string) error {
	kind := schema.GroupResource{Group: r.gvk.Group, Resource: r.gvk.Kind}
	return apierrors.NewConflict(kind, r.ref.Name, errors.New(text))
}
