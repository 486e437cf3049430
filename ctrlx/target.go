package ctrlx

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

// WithTargetClient says by which client a resource is deployed: that of another cluster, say. It is called in each pass, with
// the manager's client to read credentials by, and should remember what is costly to make. Operations, checks and hooks,
// but for post-read hooks, get what it gives from [ClientFromContext]. An error, and a nil client, fail the pass.
//
// A nil function panics, and so does this option together with [WithImpersonation], or twice.
func WithTargetClient[T client.Object](target func(ctx context.Context, local client.Client, resource T) (client.Client, error)) Option {
	if target == nil {
		panic("ctrlx: WithTargetClient: the function is nil")
	}
	return func(o *options) { o.deployBy("WithTargetClient", target) }
}

// deployBy notes the one option that says by which client resources are deployed.
func (o *options) deployBy(option string, given any) {
	if o.targetBy != "" {
		panic(fmt.Sprintf("ctrlx: New: %s is given, and %s is, too: there is one client for the deployment target", option, o.targetBy))
	}
	o.targetBy, o.target = option, given
}

type targetKey struct{}

var (
	errNoContext = errors.New("ctrlx: ClientFromContext: the context is of no pass: hand on the one that was given")
	errNoTarget  = errors.New("ctrlx: ClientFromContext: the client of the deployment target is not known yet: links of the user on Pass and post-read hooks run before it is found")
)

// ClientFromContext gives operations, checks and hooks the client of the deployment target: that of [WithTargetClient] or
// [WithImpersonation], and the manager's where there is neither. It is an error outside of a pass and where the client is
// not known yet: in links on Pass and in post-read hooks, if there is such an option.
func ClientFromContext(ctx context.Context) (client.Client, error) {
	if c, ok := ctx.Value(targetKey{}).(client.Client); ok {
		return c, nil
	}
	p := passOf(ctx)
	switch {
	case p == nil:
		return nil, errNoContext
	case p.remote:
		return nil, errNoTarget
	}
	return p.local, nil
}

// targeting is a function that finds the client of the deployment target.
type targeting[T client.Object] func(ctx context.Context, local client.Client, resource T) (client.Client, error)

// link is the link on Pass that finds the client for what is behind it.
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
