package again

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Access is the way to the cluster of dependents in one pass.
type Access struct {
	Client client.Client // reads from the cache, and writes
	Live   client.Reader // reads past the cache
	// Target reports that the client is that of the deployment target of a
	// pass. It has another identity than the manager, or another cluster.
	Target bool
}

// Target returns the access by the client of a deployment target.
func Target(c client.Client) Access {
	w := writer{c, reader{c}}
	return Access{Client: w, Live: w, Target: true}
}

// Cluster is the cluster that a constructor got.
type Cluster struct {
	Client client.Client  // makes each request once
	Own    Access         // outside of a pass with a deployment target
	Engine *engine.Engine // of the manager; nil: the cluster is no manager
}

// Of returns the cluster of a manager, or of anything with its two clients.
func Of(c interface {
	GetClient() client.Client
	GetAPIReader() client.Reader
}) (*Cluster, error) {
	cl, live := c.GetClient(), reader{c.GetAPIReader()}
	y := &Cluster{Client: cl, Own: Access{Client: writer{cl, reader{cl}}, Live: live}}
	mgr, ok := c.(manager.Manager)
	if !ok {
		return y, nil
	}
	var err error
	y.Engine, err = engine.Of(mgr)
	return y, err
}

var errOtherManager = errors.New("dependents: the pass has a deployment target, and New got another manager: " +
	"give New the manager of the reconciler")

// clientOf returns the client of the deployment target of a pass. Tests replace it.
var clientOf = ctrlx.ClientFromContext

// Access returns the access of a call. In a pass with a deployment target it is by
// the client of the target: the rights of the manager must never count in its place.
// Outside of such a pass, and for a cluster that is no manager, it is the own one.
func (y *Cluster) Access(ctx context.Context) (Access, error) {
	pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass)
	if !ok || y.Engine == nil || !pass.Remote {
		return y.Own, nil
	}
	c, err := clientOf(ctx)
	switch {
	case err != nil:
		return Access{}, err
	case pass.Engine != y.Engine:
		return Access{}, errOtherManager
	case setup.IsSame(c, y.Client):
		return y.Own, nil
	}
	return Target(c), nil
}
