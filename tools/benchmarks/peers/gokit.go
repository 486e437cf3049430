package main

import (
	"context"

	"github.com/go-kit/kit/endpoint"
)

// Differences of go-kit: the request and the response are any. A pointer is
// stored in an any without an allocation, the six words by value are not. The
// response is a pointer in both variants.

//go:noinline
func passGokit[A, B any](next endpoint.Endpoint) endpoint.Endpoint {
	return func(ctx context.Context, request any) (any, error) { return next(ctx, request) }
}

func endGokit(context.Context, any) (any, error) {
	ended()
	return response, nil
}

func tenGokit[A any]() []endpoint.Middleware {
	return []endpoint.Middleware{
		passGokit[A, d0], passGokit[A, d1], passGokit[A, d2], passGokit[A, d3], passGokit[A, d4],
		passGokit[A, d5], passGokit[A, d6], passGokit[A, d7], passGokit[A, d8], passGokit[A, d9],
	}
}

var gokitLinks = fifty(tenGokit[d0], tenGokit[d1], tenGokit[d2], tenGokit[d3], tenGokit[d4])

func newGokit(n int) endpoint.Endpoint {
	return endpoint.Chain(gokitLinks[0], gokitLinks[1:n]...)(endGokit)
}

func gokitPointer(n int) func(int) {
	h := newGokit(n)
	return func(calls int) {
		for range calls {
			_, _ = h(ctx, &request)
		}
	}
}

func gokitBoxed(n int) func(int) {
	h := newGokit(n)
	return func(calls int) {
		for range calls {
			_, _ = h(ctx, request)
		}
	}
}
