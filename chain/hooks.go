package chain

import (
	"context"

	"github.com/windlass-go/windlass/internal/stack"
)

// Before makes a link that calls fn first. If fn returns an error, the link
// returns that error with the zero result and runs no inner link. Give the
// result type, which Go cannot infer from fn: Before[Outcome](lock). A nil fn
// panics.
func Before[Res, Req any](fn func(ctx context.Context, req Req) error) Middleware[Req, Res] {
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
			return finally(ctx, req, next, fn)
		}
	})
}

func finally[Req, Res any](ctx context.Context, req Req, next Handler[Req, Res], fn func(context.Context, Req, Res, error)) (res Res, err error) {
	returned := false
	defer func() {
		if returned {
			fn(ctx, req, res, err)
			return
		}
		var zero Res
		v := recover()
		if v == nil {
			fn(ctx, req, zero, ErrGoexit)
			return
		}
		fn(ctx, req, zero, &PanicError{Value: v, Stack: stack.Panic()})
		panic(v)
	}()
	res, err = next(ctx, req)
	returned = true
	return res, err
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
