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

// Only large clusters need an approval. Small ones skip both links of When.
func ExampleWhen() {
	large := func(_ context.Context, c *Cluster) bool { return c.Nodes >= 100 }
	c := chain.New(chain.When(large, printing("approval"), printing("audit")))
	handle := c.Then(apply)

	fmt.Println(c)
	_, _ = handle(context.Background(), &Cluster{Name: "small", Nodes: 3})
	_, _ = handle(context.Background(), &Cluster{Name: "large", Nodes: 300})
	// Output:
	// When(approval, audit)
	// apply small
	// enter approval
	// enter audit
	// apply large
	// leave audit
	// leave approval
}

// The function is called on every outcome. After a panic it gets a PanicError,
// and then the panic continues to the outer links.
func ExampleFinally() {
	unlock := func(_ context.Context, c *Cluster, _ Outcome, err error) { fmt.Println("unlock", c.Name, "after", err) }
	broken := func(context.Context, *Cluster) (Outcome, error) { panic("no credentials") }
	handle := chain.New(chain.Recover, chain.Finally(unlock)).Then(broken)

	_, err := handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Println(err)
	// Output:
	// unlock prod after panic: no credentials
	// panic: no credentials
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
