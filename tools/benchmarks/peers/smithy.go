package main

import (
	"context"
	"strconv"

	"github.com/aws/smithy-go/middleware"
)

// Differences of smithy-go: a call goes through the five steps of a stack. All
// links are in the first step. Links are interfaces with a name, and get the
// next one as an argument. Input and output are structs around any. The links
// are made once, also where each call makes a new stack.

type passSmithy[A, B any] struct{ id string }

func (p *passSmithy[A, B]) ID() string { return p.id }

func (p *passSmithy[A, B]) HandleInitialize(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error) {
	return next.HandleInitialize(ctx, in)
}

func tenSmithy[A any]() []middleware.InitializeMiddleware {
	return []middleware.InitializeMiddleware{
		&passSmithy[A, d0]{newID()}, &passSmithy[A, d1]{newID()}, &passSmithy[A, d2]{newID()}, &passSmithy[A, d3]{newID()}, &passSmithy[A, d4]{newID()},
		&passSmithy[A, d5]{newID()}, &passSmithy[A, d6]{newID()}, &passSmithy[A, d7]{newID()}, &passSmithy[A, d8]{newID()}, &passSmithy[A, d9]{newID()},
	}
}

var smithyLinks = fifty(tenSmithy[d0], tenSmithy[d1], tenSmithy[d2], tenSmithy[d3], tenSmithy[d4])

// newID returns a new identifier. The links of a stack need different ones.
func newID() string {
	ids++
	return "pass" + strconv.Itoa(ids)
}

var ids int

var smithyEnd = middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
	ended()
	return response, middleware.Metadata{}, nil
})

func newSmithy(n int) middleware.Handler {
	stack := middleware.NewStack("peers", func() any { return response })
	for _, l := range smithyLinks[:n] {
		if err := stack.Initialize.Add(l, middleware.After); err != nil {
			panic(err)
		}
	}
	return middleware.DecorateHandler(smithyEnd, stack)
}

func smithyReused(n int) func(int) {
	h := newSmithy(n)
	return func(calls int) {
		for range calls {
			_, _, _ = h.Handle(ctx, &request)
		}
	}
}

func smithyBuilt(n int) func(int) {
	return func(calls int) {
		for range calls {
			_, _, _ = newSmithy(n).Handle(ctx, &request)
		}
	}
}
