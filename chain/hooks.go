package chain

import (
	"context"

	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/stack"
)

// Before makes a link that calls fn first. If fn returns an error, the link
// returns that error with the zero result and runs no inner link. Give
// both types, because Go cannot infer Res from fn: Before[*Request,
// Outcome](lock). A nil fn panics.
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

// After makes a link that calls fn with the result of the inner links, if they
// returned no error. The link returns an error of fn together with that result.
// A nil fn panics.
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
// gets the zero result and [ErrGoexit]. fn cannot change the outcome, unless it
// panics itself. A nil fn panics.
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

// hook names a link after its kind and the function that it calls, as in
// "Before(team.lock)".
func hook[Req, Res any](kind string, fn any, isNil bool, link Middleware[Req, Res]) Middleware[Req, Res] {
	if isNil {
		panic("chain: " + kind + ": the function is nil")
	}
	name, _ := funcName(fn)
	return Named(kind+"("+name+")", link)
}
