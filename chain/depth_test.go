package chain_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
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
type derives struct {
	chain.Observer
	n *int
}

func (d derives) Enter(ctx context.Context, _ *chain.Link) context.Context { return hop{ctx, d.n} }

// A link finds the state of its call within a few contexts, however many links
// are around it. Else the cost of a link would grow with the chain.
func TestDepth(t *testing.T) {
	hops := func(links int) (n int) {
		var c chain.Chain[request, string]
		for range links {
			c = c.Append(chain.Named("link", through))
		}
		c = c.Observe(derives{&recorder{}, &n}).Observe(&recorder{})
		_ = trace(c.Then(stopped.end()))
		return n
	}
	few, many := hops(10), hops(100)
	if many > 11*few {
		t.Errorf("10 links search %d contexts and 100 links search %d, which is more than 11 times as many", few, many)
	}
}
