package chain_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
)

// Cluster is the resource that the examples reconcile.
type Cluster struct {
	Name  string
	Nodes int
}

// Outcome is the result.
type Outcome struct{ Message string }

// These aliases name the types of the request and the result once.
type (
	Handler    = chain.Handler[*Cluster, Outcome]
	Middleware = chain.Middleware[*Cluster, Outcome]
)

// apply does the work. It is the end of the chains in the examples.
func apply(_ context.Context, c *Cluster) (Outcome, error) {
	fmt.Println("apply", c.Name)
	return Outcome{"applied"}, nil
}

var errQuota = errors.New("out of quota")

// quota makes a link that stops clusters with too many nodes: for them it
// returns an error and does not call next.
func quota(nodes int) Middleware {
	return chain.Named("quota", func(next Handler) Handler {
		return func(ctx context.Context, c *Cluster) (Outcome, error) {
			if c.Nodes > nodes {
				return Outcome{}, fmt.Errorf("%s: %w", c.Name, errQuota)
			}
			return next(ctx, c)
		}
	})
}

// printing makes a link that prints when it is entered and left.
func printing(name string) Middleware {
	return chain.Named(name, func(next Handler) Handler {
		return func(ctx context.Context, c *Cluster) (Outcome, error) {
			fmt.Println("enter", name)
			defer fmt.Println("leave", name)
			return next(ctx, c)
		}
	})
}

// A call enters the links in the order of the chain, and leaves them in reverse
// order.
func Example() {
	handle := chain.New(printing("lock"), printing("audit"), printing("quota")).Then(apply)

	out, err := handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Println(out.Message, err)
	// Output:
	// enter lock
	// enter audit
	// enter quota
	// apply prod
	// leave quota
	// leave audit
	// leave lock
	// applied <nil>
}

// printer is a complete observer. One value can observe chains of all types.
type printer struct{}

func (printer) Enabled(context.Context) bool { return true }
func (printer) Enter(ctx context.Context, l *chain.Link) context.Context {
	fmt.Println(">", l.Name)
	return ctx
}
func (printer) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
	verdict, _ := e.Verdict()
	fmt.Println("<", l.Name, verdict)
}

// An observer is notified when a link is entered and left, on every outcome.
func ExampleChain_Observe() {
	handle := chain.New(printing("lock"), quota(3)).Observe(printer{}).Then(apply)

	_, _ = handle(context.Background(), &Cluster{Name: "prod", Nodes: 5})
	// Output:
	// > lock
	// enter lock
	// > quota
	// < quota error
	// leave lock
	// < lock error
}
