package chain_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// These benchmarks and tests compare a chain with the same functions nested by
// hand. A request has six words and a result two, as in reconcilers. Larger
// results would measure copying.

type (
	words struct{ a, b, c, d, e, f int }
	pair  struct{ a, b int }

	worker = chain.Handler[words, pair]
	layer  = chain.Middleware[words, pair]
)

// through1 and through2 are links that only call next. There are two, and they
// are not inlined, so that the compiler cannot know the next function, neither in
// the chain nor in the nested functions.
//
//go:noinline
func through1(next worker) worker {
	return func(ctx context.Context, w words) (pair, error) { return next(ctx, w) }
}

//go:noinline
func through2(next worker) worker {
	return func(ctx context.Context, w words) (pair, error) { return next(ctx, w) }
}

//go:noinline
func work(_ context.Context, w words) (pair, error) {
	return pair{w.a + w.b + w.c, w.d + w.e + w.f}, nil
}

// layers makes n links.
func layers(n int) []layer {
	out := make([]layer, n)
	for i := range out {
		out[i] = through1
		if i%2 == 1 {
			out[i] = through2
		}
	}
	return out
}

// nested nests n links by hand: through1(through2(through1(work))).
func nested(n int) worker {
	h := worker(work)
	for i := n - 1; i >= 0; i-- {
		if i%2 == 1 {
			h = through2(h)
		} else {
			h = through1(h)
		}
	}
	return h
}

// disabled is an observer that is not enabled.
type disabled struct{}

func (disabled) Enabled(context.Context) bool                             { return false }
func (disabled) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (disabled) Exit(context.Context, *chain.Link, chain.Exit)            {}

// variants are the handlers to compare with nested functions.
var variants = []struct {
	name  string
	made  func(n int) worker
	bound float64 // the loose limit of its time divided by that of nested functions, from 10 links on
}{
	{"Chain", func(n int) worker { return chain.New(layers(n)...).Then(work) }, 1.25},
	{"Disabled1", func(n int) worker { return chain.New(layers(n)...).Observe(disabled{}).Then(work) }, 2},
	{"Disabled3", func(n int) worker {
		return chain.New(layers(n)...).Observe(disabled{}).Observe(disabled{}).Observe(disabled{}).Then(work)
	}, 3},
}

var sizes = []int{1, 5, 10, 50}

// times repeats a call 100 times, because one call is too short to measure.
func times(h worker) func() {
	ctx := context.Background()
	return func() {
		for range 100 {
			_, _ = h(ctx, words{a: 1, f: 6})
		}
	}
}

// BenchmarkCall measures a call. x-nested is its time divided by that of the
// nested functions; the two are measured in turn.
func BenchmarkCall(b *testing.B) {
	for _, s := range variants {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/links=%d", s.name, n), func(b *testing.B) {
				h, ctx := s.made(n), b.Context()
				b.ReportAllocs()
				for b.Loop() {
					_, _ = h(ctx, words{a: 1, f: 6})
				}
				b.ReportMetric(ratio.Of(times(h), times(nested(n)), ratio.Options{Samples: 200}), "x-nested")
			})
		}
	}
}

// A call allocates nothing without an enabled observer.
func TestCallsDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, s := range variants {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/links=%d", s.name, n), func(t *testing.T) {
				h, ctx := s.made(n), t.Context()
				if got := testing.AllocsPerRun(100, func() { _, _ = h(ctx, words{a: 1, f: 6}) }); got != 0 {
					t.Errorf("a call allocates %v times, want 0", got)
				}
			})
		}
	}
}

// Then allocates one closure for each link, which the link's own function
// makes, and nothing else.
func TestThenAllocatesLinksOnly(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, n := range sizes {
		c := chain.New(layers(n)...)
		if got := testing.AllocsPerRun(100, func() { c.Then(work) }); got != float64(n) {
			t.Errorf("Then of %d links allocates %v times, want %d", n, got, n)
		}
	}
}

// The links of this package allocate nothing in a call without a panic.
func TestLinksDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	cases := map[string]struct {
		reason string
		link   layer
	}{
		"Named":   {"a name has no cost in a call", chain.Named("through", through1)},
		"Recover": {"a call without a panic needs no PanicError", chain.Recover[words, pair]},
		"Before":  {"the link only calls the function", chain.Before[words, pair](func(context.Context, words) error { return nil })},
		"After":   {"the link only calls the function", chain.After(func(context.Context, words, pair) error { return nil })},
		"Finally": {"the deferred call does not allocate", chain.Finally(func(context.Context, words, pair, error) {})},
		"When":    {"the link only calls the predicate", chain.When(func(context.Context, words) bool { return true }, through1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, ctx := chain.New(tc.link).Then(work), t.Context()
			if got := testing.AllocsPerRun(100, func() { _, _ = h(ctx, words{a: 1, f: 6}) }); got != 0 {
				t.Errorf("%s: a call allocates %v times, want 0", tc.reason, got)
			}
		})
	}
}

// A chain takes as long as functions nested by hand. The bounds are loose,
// because machines are shared. BenchmarkCall reports exact figures.
func TestCallRatio(t *testing.T) {
	ratio.InVerify(t)
	for _, s := range variants {
		for _, n := range []int{10, 50} {
			t.Run(fmt.Sprintf("%s/links=%d", s.name, n), func(t *testing.T) {
				if got := ratio.Of(times(s.made(n)), times(nested(n)), ratio.Options{Samples: 20, Sample: 200_000}); got > s.bound {
					t.Errorf("took %.2f times as long as nested functions, want at most %.2f", got, s.bound)
				}
			})
		}
	}
}
