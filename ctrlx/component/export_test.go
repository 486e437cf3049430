package component

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
)

// Process runs passes over the sets of components, one at a time, without package
// ctrlx. A new Process knows nothing, as after a restart.
type Process[T Component] struct {
	y       *system
	r       *Reconciler[T]
	cluster dependents.Cluster
	// Target is the client of the deployment target; nil: that of the cluster.
	Target client.Client
}

// NewProcess returns a process of a reconciler.
func NewProcess[T Component](r *Reconciler[T], c dependents.Cluster, preferred func() ([]*metav1.APIResourceList, error)) *Process[T] {
	y, err := r.systemOf(c, r.dependentsOf(c))
	if err != nil {
		panic(err)
	}
	y.preferred = preferred
	return &Process[T]{y: y, r: r, cluster: c}
}

// Pass applies or deletes the dependents of a component. The client of the cluster
// takes the place of the cache.
func (p *Process[T]) Pass(ctx context.Context, c T) (checks.Result, error) {
	y, a := p.y, p.y.clients.Own
	if p.Target != nil {
		var err error
		if y, err = p.r.systemOf(p.cluster, p.r.dependentsOf(target{p.Target})); err != nil {
			return checks.Result{}, err
		}
		y.preferred = p.y.preferred
		a = again.Target(p.Target)
	}
	return (&Set{Component: c, state: &state{system: y, access: a}}).run(ctx)
}

// target is the cluster of a deployment target.
type target struct{ client.Client }

func (t target) GetClient() client.Client    { return t.Client }
func (t target) GetAPIReader() client.Reader { return t.Client }

// Run runs a pass as the reconciler does.
func Run[T Component](ctx context.Context, r *Reconciler[T], c T) error {
	_, err := r.run(ctx, &checks.Request[T]{Resource: c})
	return err
}

// Changes returns the changes of fields between two states of an object.
func Changes(from, to client.Object) []string {
	texts, _ := changes(dependents.Result{Pending: &dependents.Request{Live: from}, Object: to}, "shop.example.com", false)
	return texts
}

// Name returns the name of a wave, as in "wave 1 of 3".
func (s *Set) Name() string { return s.name() }
