package chain_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
)

// Cluster is what the examples reconcile, Outcome what comes of it.
type Cluster struct {
	Name  string
	Nodes int
}

type Outcome struct{ Message string }

// Say each type once, and the rest reads like prose.
type (
	Handler    = chain.Handler[*Cluster, Outcome]
	Middleware = chain.Middleware[*Cluster, Outcome]
)

// apply does the work: it is the end of the chains below.
func apply(_ context.Context, c *Cluster) (Outcome, error) {
	fmt.Println("apply", c.Name)
	return Outcome{"applied"}, nil
}

// audit is a link: a function that makes a handler of the next one.
func audit(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		fmt.Println("audit: begin", c.Name)
		out, err := next(ctx, c)
		fmt.Println("audit: end, error:", err)
		return out, err
	}
}

var errQuota = errors.New("out of quota")

// quota makes a link. It does not call next for clusters that are too large, which stops everything behind it.
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

// say makes a link that says when it is entered and left.
func say(name string) Middleware {
	return chain.Named(name, func(next Handler) Handler {
		return func(ctx context.Context, c *Cluster) (Outcome, error) {
			fmt.Println("enter", name)
			defer fmt.Println("leave", name)
			return next(ctx, c)
		}
	})
}

// Links are entered in the order in which they are given, and left in the reverse order.
func Example() {
	handle := chain.New(say("lock"), say("audit"), say("quota")).Then(apply)

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

// A link that does not call next stops everything behind it. Those in front see what it returned.
func ExampleNew() {
	handle := chain.New(audit, quota(3)).Then(apply)

	_, err := handle(context.Background(), &Cluster{Name: "prod", Nodes: 5})
	fmt.Println(err, errors.Is(err, errQuota))
	// Output:
	// audit: begin prod
	// audit: end, error: prod: out of quota
	// prod: out of quota true
}

// A chain is a value: appending makes a new one, and the one it was made of stays what it was.
func ExampleChain_Append() {
	base := chain.New(say("lock"))
	small := base.Append(quota(3))
	large := base.Append(say("approval"), quota(100))

	fmt.Println(base)
	fmt.Println(small)
	fmt.Println(large)
	// Output:
	// lock
	// lock -> quota
	// lock -> approval -> quota
}

// Whole chains are nested by Extend, which keeps their names.
func ExampleChain_Extend() {
	platform := chain.New(say("lock"), say("audit"))
	team := chain.New(say("approval"), quota(3))

	fmt.Println(platform.Extend(team))
	// Output: lock -> audit -> approval -> quota
}

// A chain is composed once, and called as often as needed; each Then may have another end.
func ExampleChain_Then() {
	checks := chain.New(quota(3))
	create := checks.Then(apply)
	remove := checks.Then(func(_ context.Context, c *Cluster) (Outcome, error) { return Outcome{"deleted " + c.Name}, nil })

	fmt.Println(create(context.Background(), &Cluster{Name: "prod", Nodes: 3}))
	fmt.Println(remove(context.Background(), &Cluster{Name: "prod", Nodes: 3}))
	// Output:
	// apply prod
	// {applied} <nil>
	// {deleted prod} <nil>
}

// A chain prints its order. A link that nobody named shows where it was made, so that it can be found.
func ExampleChain_String() {
	fmt.Println(chain.New(chain.Recover, audit, quota(3)))
	// Output: Recover -> chain.audit (chain/example_test.go:33) -> quota
}

func ExampleChain_Links() {
	for _, l := range chain.New(quota(3), audit).At("Apply").Links() {
		fmt.Printf("%s: %s made at %s\n", l.Point, l.Name, l.Source)
	}
	// Output:
	// Apply: quota made at chain/example_test.go:46
	// Apply: chain.audit made at chain/example_test.go:33
}

// Named gives a link the name by which it is printed and found.
func ExampleNamed() {
	fmt.Println(chain.New(chain.Named("audit", audit), chain.Named("audit twice", audit)))
	// Output: audit -> audit twice
}

// A chain that somebody else made is changed by the names of its links.
func ExampleChain_InsertBefore() {
	platform := chain.New(say("lock"), say("audit"), quota(3))

	ours, err := platform.InsertBefore("quota", say("approval"))
	fmt.Println(ours, err)
	ours, err = ours.Without("audit")
	fmt.Println(ours, err)
	// Output:
	// lock -> audit -> approval -> quota <nil>
	// lock -> approval -> quota <nil>
}

// A name that does not occur exactly once is an error, which says where to look.
func ExampleNameError() {
	_, err := chain.New(say("lock"), quota(3)).Replace("qouta", quota(100))
	fmt.Println(err)

	var missing *chain.NameError
	fmt.Println(errors.As(err, &missing), missing.Found)
	// Output:
	// chain: Replace: no link is named "qouta" in lock -> quota
	// true 0
}

// When applies links to some requests only. Other requests go directly to the next handler.
func ExampleWhen() {
	large := func(_ context.Context, c *Cluster) bool { return c.Nodes >= 100 }
	c := chain.New(chain.When(large, say("approval"), say("audit")))
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

// Before needs no next: an error of the function is the outcome. Give both types, because the function does not show the
// result type.
func ExampleBefore() {
	lock := func(_ context.Context, c *Cluster) error { return fmt.Errorf("%s is locked", c.Name) }
	handle := chain.New(chain.Before[*Cluster, Outcome](lock)).Then(apply)

	_, err := handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Println(err)
	// Output: prod is locked
}

// After is called on success.
func ExampleAfter() {
	announce := func(_ context.Context, c *Cluster, out Outcome) error {
		fmt.Println(c.Name, "was", out.Message)
		return nil
	}
	handle := chain.New(chain.After(announce)).Then(apply)

	_, _ = handle(context.Background(), &Cluster{Name: "prod"})
	// Output:
	// apply prod
	// prod was applied
}

// Finally is called whatever happened, a panic included, which goes on afterwards.
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

// Recover is itself the link. If what was given to panic is an error, errors.Is finds it.
func ExampleRecover() {
	errNoCredentials := errors.New("no credentials")
	broken := func(context.Context, *Cluster) (Outcome, error) { panic(errNoCredentials) }
	handle := chain.New(chain.Recover, audit).Then(broken)

	_, err := handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Println(err)
	fmt.Println(errors.Is(err, errNoCredentials))
	// Output:
	// audit: begin prod
	// panic: no credentials
	// true
}

// Deadline limits the time of a link and of all behind it. Whoever waits there is told whose time ran out by the cause
// of the context; the caller by the error.
func ExampleDeadline() {
	slow := func(ctx context.Context, _ *Cluster) (Outcome, error) {
		<-ctx.Done()
		fmt.Println("cause:", context.Cause(ctx))
		return Outcome{}, ctx.Err()
	}
	handle := chain.New(chain.Deadline(time.Millisecond, quota(3))).Then(slow)

	_, err := handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Println("error:", err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// cause: link quota was not done within 1ms
	// error: link quota was not done within 1ms
	// true
}

// printer is a whole observer. It is not generic, so one serves the chains of all types.
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

// An observer sees every link entered and left, on every outcome.
func ExampleChain_Observe() {
	handle := chain.New(say("lock"), quota(3)).Observe(printer{}).Then(apply)

	_, _ = handle(context.Background(), &Cluster{Name: "prod", Nodes: 5})
	// Output:
	// > lock
	// enter lock
	// > quota
	// < quota error
	// leave lock
	// < lock error
}

// Decorate is for who needs the types: a function around each link's handler, which sees the link's name.
func ExampleChain_Decorate() {
	blame := func(l *chain.Link, h Handler) Handler {
		return func(ctx context.Context, c *Cluster) (Outcome, error) {
			out, err := h(ctx, c)
			if err != nil {
				err = fmt.Errorf("%s: %w", l.Name, err)
			}
			return out, err
		}
	}
	handle := chain.New(say("lock"), quota(3)).Decorate(blame).Then(apply)

	_, err := handle(context.Background(), &Cluster{Name: "prod", Nodes: 5})
	fmt.Println(err)
	// Output:
	// enter lock
	// leave lock
	// lock: quota: prod: out of quota
}
