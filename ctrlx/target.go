package ctrlx

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
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
	if target == nil {
		panic("ctrlx: WithTargetClient: the function is nil")
	}
	return func(o *options) { o.deployBy("WithTargetClient", target) }
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
	return p.local, nil
}

// targeting is a function that finds the client of the deployment target.
type targeting[T client.Object] func(ctx context.Context, local client.Client, resource T) (client.Client, error)

// link returns the link on Pass that finds the client for the inner links.
func (find targeting[T]) link(name string) flow.PassMiddleware[T] {
	return chain.Named(name, func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			p := passOf(ctx)
			if p == nil {
				return flow.Outcome{}, errNoContext
			}
			c, err := find(ctx, p.local, obj)
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
