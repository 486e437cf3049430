package main

import (
	"context"
	"net/http"

	"connectrpc.com/connect"
)

// Differences of connect: a call goes through a client, which sets the headers
// of the request before the first link and checks the type of the response
// after it. The last link replaces the network. Requests and responses are
// interfaces. Between any two links runs a link of connect itself. The request
// is made once.

//go:noinline
func passConnect[A, B any]() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) { return next(ctx, r) }
	}
}

func tenConnect[A any]() []connect.Interceptor {
	return []connect.Interceptor{
		passConnect[A, d0](), passConnect[A, d1](), passConnect[A, d2](), passConnect[A, d3](), passConnect[A, d4](),
		passConnect[A, d5](), passConnect[A, d6](), passConnect[A, d7](), passConnect[A, d8](), passConnect[A, d9](),
	}
}

var connectLinks = fifty(tenConnect[d0], tenConnect[d1], tenConnect[d2], tenConnect[d3], tenConnect[d4])

func endConnect(connect.UnaryFunc) connect.UnaryFunc {
	answer := connect.NewResponse(response)
	return func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) {
		ended()
		return answer, nil
	}
}

func connectCalls(n int) func(int) {
	client := connect.NewClient[words, pair](http.DefaultClient, "https://peers.invalid/service/method",
		connect.WithInterceptors(firstAnd[connect.Interceptor](connectLinks, n, connect.UnaryInterceptorFunc(endConnect))...))
	r := connect.NewRequest(&request)
	return func(calls int) {
		for range calls {
			if _, err := client.CallUnary(ctx, r); err != nil {
				panic(err)
			}
		}
	}
}
