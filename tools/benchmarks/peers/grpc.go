package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Differences of grpc: a call goes through a client, and the last link replaces
// the network. A link has seven arguments, with request and reply as any. Its
// next is made for each call.

//go:noinline
func passGRPC[A, B any]() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		return next(ctx, method, req, reply, cc, opts...)
	}
}

func tenGRPC[A any]() []grpc.UnaryClientInterceptor {
	return []grpc.UnaryClientInterceptor{
		passGRPC[A, d0](), passGRPC[A, d1](), passGRPC[A, d2](), passGRPC[A, d3](), passGRPC[A, d4](),
		passGRPC[A, d5](), passGRPC[A, d6](), passGRPC[A, d7](), passGRPC[A, d8](), passGRPC[A, d9](),
	}
}

var grpcLinks = fifty(tenGRPC[d0], tenGRPC[d1], tenGRPC[d2], tenGRPC[d3], tenGRPC[d4])

func endGRPC(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
	ended()
	return nil
}

func grpcCalls(n int) func(int) {
	client, err := grpc.NewClient("passthrough:peers.invalid",
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithChainUnaryInterceptor(firstAnd(grpcLinks, n, endGRPC)...))
	if err != nil {
		panic(err)
	}
	return func(calls int) {
		for range calls {
			if err := client.Invoke(ctx, "/service/method", &request, response); err != nil {
				panic(err)
			}
		}
	}
}
