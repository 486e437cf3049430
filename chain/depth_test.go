package chain_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
)

// countingContext counts the calls of Value.
type countingContext struct {
	context.Context
	n *int
}

func (c countingContext) Value(key any) any {
	*c.n++
	return c.Context.Value(key)
}

// derives is an observer that returns a new context for each link.
type derives struct {
	chain.Observer
	n *int
}

func (d derives) Enter(ctx context.Context, _ *chain.Link) context.Context {
	return countingContext{ctx, d.n}
}

// A link finds the state of its call after a few contexts, whatever the number
// of outer links. Else the cost of each link would grow with the chain.
func TestDepth(t *testing.T) {
	searched := func(links int) (n int) {
		var c chain.Chain[request, string]
		for range links {
			c = c.Append(chain.Named("link", through))
		}
		c = c.Observe(derives{&recorder{}, &n}).Observe(&recorder{})
		_ = trace(c.Then(stopped.end()))
		return n
	}
	few, many := searched(10), searched(100)
	if many > 11*few {
		t.Errorf("10 links search %d contexts and 100 links search %d, which is more than 11 times as many", few, many)
	}
}
