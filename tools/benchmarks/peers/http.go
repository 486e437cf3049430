package peers

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/justinas/alice"
)

// Differences of alice and chi: they compose http.Handlers. A handler is an
// interface that takes a response writer, here nil, and a pointer to the
// request. It returns no result.

//go:noinline
func passHTTP[A, B any](next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
}

func endHTTP(http.ResponseWriter, *http.Request) { ended() }

func tenAlice[A any]() []alice.Constructor {
	return []alice.Constructor{
		passHTTP[A, d0], passHTTP[A, d1], passHTTP[A, d2], passHTTP[A, d3], passHTTP[A, d4],
		passHTTP[A, d5], passHTTP[A, d6], passHTTP[A, d7], passHTTP[A, d8], passHTTP[A, d9],
	}
}

func tenChi[A any]() []func(http.Handler) http.Handler {
	return []func(http.Handler) http.Handler{
		passHTTP[A, d0], passHTTP[A, d1], passHTTP[A, d2], passHTTP[A, d3], passHTTP[A, d4],
		passHTTP[A, d5], passHTTP[A, d6], passHTTP[A, d7], passHTTP[A, d8], passHTTP[A, d9],
	}
}

var (
	aliceLinks = fifty(tenAlice[d0], tenAlice[d1], tenAlice[d2], tenAlice[d3], tenAlice[d4])
	chiLinks   = fifty(tenChi[d0], tenChi[d1], tenChi[d2], tenChi[d3], tenChi[d4])
)

func newAlice(n int) http.Handler {
	return alice.New(aliceLinks[:n]...).Then(http.HandlerFunc(endHTTP))
}
func newChi(n int) http.Handler { return chi.Chain(chiLinks[:n]...).Handler(http.HandlerFunc(endHTTP)) }

func aliceCalls(n int) func(int) { return callsHTTP(newAlice(n)) }
func chiCalls(n int) func(int)   { return callsHTTP(newChi(n)) }

func callsHTTP(h http.Handler) func(int) {
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		panic(err)
	}
	return func(calls int) {
		for range calls {
			h.ServeHTTP(nil, r)
		}
	}
}
