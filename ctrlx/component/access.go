package component

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// access is the way to the cluster of the dependents in one pass, for requests
// that are not about one dependent.
type access struct {
	client client.Client
	live   client.Reader
	target bool // the client is that of the deployment target: another identity, or another cluster
}

// access returns the access of a pass. It needs the context of the pass.
func (y *system) access(ctx context.Context) (access, error) {
	c, err := ctrlx.ClientFromContext(ctx)
	if err != nil {
		return access{}, err
	}
	if setup.IsSame(c, y.cluster.GetClient()) {
		return y.own(), nil
	}
	return accessOf(c, c, true), nil
}

// own returns the access to the cluster of the manager.
func (y *system) own() access {
	return accessOf(y.cluster.GetClient(), y.cluster.GetAPIReader(), false)
}

func accessOf(c client.Client, live client.Reader, target bool) access {
	return access{client: again.Client(c), live: again.Reader(live), target: target}
}

// awaited returns the objects whose change may end a wait. No event reports the
// objects of a deployment target, and the manager would read its own cluster,
// with its own rights.
func (s *Set) awaited(refs []checks.Ref) []checks.Ref {
	if s.access.target {
		return nil
	}
	return refs
}

// remote reports whether the client of the pass may be of another cluster than
// the manager: it finds kinds by another mapper.
func (s *Set) remote() bool {
	return !setup.IsSame(s.system.cluster.GetClient().RESTMapper(), s.access.client.RESTMapper())
}

// uncached is a cluster whose client reads past the cache, for a plan outside of
// a pass: it starts no watches.
type uncached struct{ dependents.Cluster }

// GetClient implements [dependents.Cluster].
func (u uncached) GetClient() client.Client {
	return uncachedClient{u.Cluster.GetClient(), u.Cluster.GetAPIReader()}
}

type uncachedClient struct {
	client.Client
	live client.Reader
}

// Get implements client.Reader.
func (c uncachedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.live.Get(ctx, key, obj, opts...)
}
