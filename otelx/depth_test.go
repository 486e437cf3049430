package otelx_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// hop is a context that counts how often it is searched.
type hop struct {
	context.Context
	n *int
}

func (h hop) Value(key any) any {
	*h.n++
	return h.Context.Value(key)
}

// derives is an observer that returns a context of its own for each link.
type derives struct{ n *int }

func (derives) Enabled(context.Context) bool                               { return true }
func (d derives) Enter(ctx context.Context, _ *chain.Link) context.Context { return hop{ctx, d.n} }
func (derives) Exit(context.Context, *chain.Link, chain.Exit)              {}
func manyLinks[Req, Res any](n int, link chain.Middleware[Req, Res]) (c chain.Chain[Req, Res]) {
	for i := range n {
		c = c.Append(chain.Named(fmt.Sprint("link", i), link))
	}
	return c
}

// Spans of links nest, and a link finds the state of its pass or call within a few contexts nevertheless. Else the cost of
// a link would grow with the chain.
func TestDepth(t *testing.T) {
	through := func(next flow.Handler[*pool]) flow.Handler[*pool] {
		return func(ctx context.Context, req *flow.Request[*pool]) (flow.Progress, error) { return next(ctx, req) }
	}
	cases := map[string]struct {
		reason string
		run    func(o, other chain.Observer, links int)
	}{
		"Chain": {"a chain that stands alone", func(o, other chain.Observer, links int) {
			h := manyLinks(links, around).Observe(o).Observe(other).Then(func(context.Context, bool) (int, error) { return 1, nil })
			tracer := (&otelfake.Recorder{}).Tracer("")
			ctx, _ := tracer.Start(t.Context(), "request")
			_, _ = h(ctx, false)
		}},
		"Pass": {"links of a pass", func(o, other chain.Observer, links int) {
			e := flow.Extensions[*pool]{Apply: manyLinks(links, through)}
			flow.New("Pool", operations, e, flow.WithObserver(o), flow.WithObserver(other)).Reconcile(t.Context(), &pool{"fine"})
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hops := func(links int) (n int) {
				tc.run((&world{}).observer(otelx.WithLinkSpans()), derives{&n}, links)
				return n
			}
			few, many := hops(10), hops(100)
			if many > 11*few {
				t.Errorf("%s: 10 links search %d contexts and 100 links search %d, which is more than 11 times as many", tc.reason, few, many)
			}
		})
	}
}
