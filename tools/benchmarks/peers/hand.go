package peers

import (
	"context"

	"github.com/windlass-go/windlass/chain"
)

type (
	handler = chain.Handler[words, pair]
	link    = func(next handler) handler
)

// pass is the link of the nested closures and of this library.
//
//go:noinline
func pass[A, B any](next handler) handler {
	return func(ctx context.Context, w words) (pair, error) { return next(ctx, w) }
}

func tenPass[A any]() []link {
	return []link{
		pass[A, d0], pass[A, d1], pass[A, d2], pass[A, d3], pass[A, d4],
		pass[A, d5], pass[A, d6], pass[A, d7], pass[A, d8], pass[A, d9],
	}
}

var links = fifty(tenPass[d0], tenPass[d1], tenPass[d2], tenPass[d3], tenPass[d4])

//go:noinline
func end(_ context.Context, w words) (pair, error) {
	ended()
	return pair{w.a + w.b + w.c, w.d + w.e + w.f}, nil
}

func nest(n int) handler {
	h := handler(end)
	for i := n - 1; i >= 0; i-- {
		h = links[i](h)
	}
	return h
}

func byHand(n int) func(int) { return calls(nest(n)) }

func calls(h handler) func(int) {
	return func(calls int) {
		for range calls {
			_, _ = h(ctx, request)
		}
	}
}
