package chain

import (
	"context"

	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/stack"
)

// Before makes a link that calls fn before the inner links. If fn returns an
// error, the link returns that error with the zero result, and no inner link
// runs. Go cannot infer Res from fn, so write both types: Before[*Request,
// Outcome](lock). Before panics if fn is nil.
func Before[Req, Res any](fn func(ctx context.Context, req Req) error) Middleware[Req, Res] {
	return hook("Before", fn, fn == nil, func(next Handler[Req, Res]) Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			if err := fn(ctx, req); err != nil {
				var zero Res
				return zero, err
			}
			return next(ctx, req)
		}
	})
}

// After makes a link that calls fn with the result of the inner links if they
// return no error. If fn returns an error, the link returns it with that
// result. After panics if fn is nil.
func After[Req, Res any](fn func(ctx context.Context, req Req, res Res) error) Middleware[Req, Res] {
	return hook("After", fn, fn == nil, func(next Handler[Req, Res]) Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			res, err := next(ctx, req)
			if err == nil {
				err = fn(ctx, req, res)
			}
			return res, err
		}
	})
}

// Finally makes a link that calls fn on every outcome of the inner links, with
// their result and error. If they panic, fn gets the zero result and a
// [*PanicError], and then the panic continues. If they end the goroutine, fn
// gets the zero result and [ErrGoexit]. fn changes the outcome only if it
// panics. Finally panics if fn is nil.
func Finally[Req, Res any](fn func(ctx context.Context, req Req, res Res, err error)) Middleware[Req, Res] {
	return hook("Finally", fn, fn == nil, func(next Handler[Req, Res]) Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			return run.Call(ctx, req, next, func(end run.End[Res]) {
				if end.Panic != nil {
					end.Err = &PanicError{Value: end.Panic, Stack: stack.Panic()}
				}
				fn(ctx, req, end.Result, end.Err)
			})
		}
	})
}

// hook names link after its kind and the function fn that it calls, as in
// "Before(team.lock)". It panics if fn is nil.
func hook[Req, Res any](kind string, fn any, isNil bool, link Middleware[Req, Res]) Middleware[Req, Res] {
	if isNil {
		panic("chain: " + kind + ": the function is nil")
	}
	name, _ := funcName(fn)
	return Named(kind+"("+name+")", link)
}
