package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

// WithTargetClient sets the function that returns the client by which a resource is
// deployed, for example of another cluster. Each pass calls it with the manager's
// client, to read credentials. It should keep clients that are costly to make.
// Operations, checks and hooks get the client from [ClientFromContext], except
// post-read hooks. An error and a nil client fail the pass.
//
// A nil function panics, and so does this option together with [WithImpersonation], or twice.
func WithTargetClient[T client.Object](target func(ctx context.Context, local client.Client, resource T) (client.Client, error)) Option {
	setup.MustEdit("ctrlx: WithTargetClient", target)
	return option(func(o *options) { o.deployBy("WithTargetClient", target) })
}

// deployBy notes the one option that sets the client of the deployment target.
func (o *options) deployBy(option string, given any) {
	if o.targetBy != "" {
		panic(fmt.Sprintf("ctrlx: New: %s is given, and %s is, too: there is one client for the deployment target", option, o.targetBy))
	}
	o.targetBy, o.target = option, given
}

type targetKey struct{}

var (
	errNoContext = errors.New("ctrlx: ClientFromContext: the context has no pass: use the context that the function was given")
	errNoTarget  = errors.New("ctrlx: ClientFromContext: the client of the deployment target is not known yet: links of the user on Pass and post-read hooks run before the link that finds it")
)

// ClientFromContext returns the client of the deployment target, for operations,
// checks and hooks: the client of [WithTargetClient] or [WithImpersonation], or the
// manager's without such an option. It returns an error outside of a pass. With such
// an option, it also returns an error in links on Pass and in post-read hooks, because
// the client is not known yet.
func ClientFromContext(ctx context.Context) (client.Client, error) {
	if c, ok := ctx.Value(targetKey{}).(client.Client); ok {
		return c, nil
	}
	p := passOf(ctx)
	switch {
	case p == nil:
		return nil, errNoContext
	case p.in.Remote:
		return nil, errNoTarget
	}
	return p.of.client, nil
}

// link returns the link on Pass that finds the client for the inner links.
func (find targeting[T]) link(name string, r *core) flow.PassMiddleware[T] {
	return chain.Named(name, func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			c, err := find(ctx, r.client, obj)
			switch {
			case err != nil:
				return flow.Outcome{}, fmt.Errorf("the client of the deployment target: %w", err)
			case c == nil:
				return flow.Outcome{}, errors.New("the client of the deployment target is nil: give a client, or an error")
			}
			return next(context.WithValue(ctx, targetKey{}, c), obj)
		}
	})
}

// WithImpersonation sets the identity with which a resource is deployed. Its
// operations, checks and hooks, except post-read hooks, get a client with that
// identity from [ClientFromContext]. The client does not read from a cache. The zero
// configuration means the manager's own client. The manager needs the right to
// impersonate.
//
// A nil function panics, and so does this option together with [WithTargetClient], or twice.
func WithImpersonation[T client.Object](as func(resource T) rest.ImpersonationConfig) Option {
	setup.MustEdit("ctrlx: WithImpersonation", as)
	return option(func(o *options) { o.deployBy("WithImpersonation", as) })
}

// maxIdentities is the number of identities whose clients are kept.
const maxIdentities = 512

// client returns the client of an identity.
func (i *identities) client(as rest.ImpersonationConfig) (client.Client, error) {
	key := fmt.Sprintf("%q", as) // the keys of maps are sorted
	if c, ok := i.clients.Get(key); ok {
		return c.(client.Client), nil
	}
	config := rest.CopyConfig(i.mgr.GetConfig())
	config.Impersonate = as // the caller may change its slices and its map later
	config.Impersonate.Groups = slices.Clone(as.Groups)
	config.Impersonate.Extra = maps.Clone(as.Extra)
	for name, values := range as.Extra {
		config.Impersonate.Extra[name] = slices.Clone(values)
	}
	c, err := client.New(config, client.Options{Scheme: i.mgr.GetScheme(), Mapper: i.mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("impersonating %q: %w", as.UserName, err)
	}
	i.clients.Add(key, c)
	return c, nil
}

// impersonating finds the client of the identity that a resource is deployed as.
func impersonating[T client.Object](as func(T) rest.ImpersonationConfig, r *core) targeting[T] {
	return func(_ context.Context, local client.Client, obj T) (client.Client, error) {
		identity := as(obj)
		switch {
		case identity.UserName != "":
			return r.clients.client(identity)
		case identity.UID != "" || len(identity.Groups) > 0 || len(identity.Extra) > 0:
			return nil, errors.New("groups, a UID or extra fields without a user: give rest.ImpersonationConfig a UserName")
		}
		return local, nil
	}
}
