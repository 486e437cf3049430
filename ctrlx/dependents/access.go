package dependents

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// access is the way to the cluster of the dependents in one call.
type access struct {
	client client.Client
	live   client.Reader
	find   checks.Resolver // of a pass of the manager: it reads from the cache, and registers; nil: there is none
	// target reports that the client is that of the deployment target of a
	// pass. It has another identity than the manager, or another cluster.
	target bool
}

var errOtherManager = errors.New("dependents: the pass has a deployment target, and New got another manager: " +
	"give New the manager of the reconciler")

// access returns the access of a call. In a pass with a deployment target it is
// the client of the target: the rights of the manager must never count in its
// place. Outside of such a pass, and with a cluster that is no manager, it is
// the cluster that New got.
func (d *Dependents) access(ctx context.Context) (access, error) {
	own := d.own
	pass, ok := ctx.Value(engine.PassKey{}).(*engine.InPass)
	if !ok || d.engine == nil {
		return own, nil
	}
	if pass.Engine == d.engine {
		own.find = pass.Find
	}
	if !pass.Remote {
		return own, nil
	}
	c, err := ctrlx.ClientFromContext(ctx)
	switch {
	case err != nil:
		return access{}, err
	case pass.Engine != d.engine:
		return access{}, errOtherManager
	case setup.IsSame(c, d.client):
		return own, nil
	}
	c = again.Client(c)
	return access{client: c, live: c, target: true}, nil
}
