package chaintest_test

import (
	"context"
	"flag"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/internal/testing/fake"
)

// request is the request of the links of these tests.
type request struct {
	Name  string
	Nodes int
	Tags  map[string]string
	Next  *request
}

// outcome is their result.
type outcome struct{ Message string }

type (
	handler = chain.Handler[*request, outcome]
	link    = chain.Middleware[*request, outcome]
	links   = chain.Chain[*request, outcome]
)

// around makes a link that calls fn.
func around(name string, fn func(ctx context.Context, req *request, next handler) (outcome, error)) link {
	return chain.Named(name, func(next handler) handler {
		return func(ctx context.Context, req *request) (outcome, error) { return fn(ctx, req, next) }
	})
}

// pass makes a link that only calls next.
func pass(name string) link {
	return around(name, func(ctx context.Context, req *request, next handler) (outcome, error) { return next(ctx, req) })
}

// requests makes requests whose Next may be nil.
var requests = rapid.Custom(func(t *rapid.T) *request {
	of := func(name string) *request {
		return &request{Name: rapid.StringN(0, 8, -1).Draw(t, name), Nodes: rapid.Int().Draw(t, "nodes"), Tags: map[string]string{"a": name}}
	}
	r := of("name")
	if rapid.Bool().Draw(t, "has next") {
		r.Next = of("next")
	}
	return r
})

var outcomes = rapid.Make[outcome]()

// laws calls chaintest.Laws with the generators of these tests.
func laws(t rapid.TB, c links, opts ...chaintest.Option) {
	t.Helper()
	chaintest.Laws(t, c, requests, outcomes, opts...)
}

// run calls fn with a fake test in a new goroutine, which fn may end.
func run(t testing.TB, fn func(rapid.TB)) *fake.T {
	f := &fake.T{Title: t.Name()}
	return f.Run(func() { fn(f) })
}

func set(t *testing.T, name, value string) {
	t.Helper()
	f := flag.Lookup(name)
	before := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
