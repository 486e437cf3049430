package component

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// Process runs passes over the sets of components, one at a time, without package
// ctrlx. A new Process knows nothing, as after a restart.
type Process[T Component] struct {
	y *system
	// Target is the client of the deployment target; nil: that of the cluster.
	Target client.Client
}

// NewProcess returns a process of a reconciler.
func NewProcess[T Component](r *Reconciler[T], c dependents.Cluster, preferred func(context.Context) ([]*metav1.APIResourceList, error)) *Process[T] {
	y, err := r.systemOf(c)
	if err != nil {
		panic(err)
	}
	y.types = catalog{preferred}
	return &Process[T]{y: y}
}

// Missing sets the time since which a wave waits for a kind.
func (p *Process[T]) Missing(gvk schema.GroupVersionKind, since time.Time) {
	p.y.missing.Store(gvk, since)
}

// Pass applies or deletes the dependents of a component. The client of the cluster
// takes the place of the cache.
func (p *Process[T]) Pass(ctx context.Context, c T) (Result, error) {
	cl := p.y.cluster.GetClient()
	find := func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		mapping, err := cl.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
		if err != nil {
			return checks.Object{}, err
		}
		found, err := cl.Scheme().New(mapping.GroupVersionKind)
		if err != nil {
			return checks.Object{}, err
		}
		obj := found.(client.Object)
		err = cl.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, obj)
		obj.GetObjectKind().SetGroupVersionKind(mapping.GroupVersionKind)
		if err != nil {
			return checks.Object{Ref: ref}, client.IgnoreNotFound(err)
		}
		return checks.Object{Ref: ref, Value: obj}, nil
	}
	s := &Set{Component: c, system: p.y, access: (&access{client: cl, find: find, live: p.y.cluster.GetAPIReader()}).withDryRun()}
	if p.Target != nil {
		s.access = (&access{client: p.Target, live: p.Target}).withDryRun()
	}
	if err := s.configure(ctx); err != nil {
		return Result{}, err
	}
	if c.GetDeletionTimestamp() != nil {
		return s.remove(ctx)
	}
	return s.apply(ctx)
}
