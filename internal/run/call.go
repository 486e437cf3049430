// Package run calls handlers for observers.
package run

import (
	"context"
	"errors"
)

// ErrGoexit is chain.ErrGoexit.
var ErrGoexit = errors.New("chain: the goroutine was ended by runtime.Goexit")

// End describes how a call ended.
type End[Res any] struct {
	Result   Res   // the result; zero unless Returned
	Returned bool  // the handler returned
	Err      error // the error that it returned, or ErrGoexit if it ended its goroutine
	Panic    any   // the value of the panic; nil: none
}

// Any returns the result; nil unless Returned.
func (e End[Res]) Any() any {
	if !e.Returned {
		return nil
	}
	return e.Result
}

// Bound returns the observer that o binds to link, or o itself. An observer O
// may have a method Bind, which prepares its data about a link while the chain
// is composed; nil means the observer itself.
func Bound[O, L any](o O, link *L) O {
	if b, ok := any(o).(interface{ Bind(link *L) O }); ok {
		if to := b.Bind(link); any(to) != nil {
			return to
		}
	}
	return o
}

// Call calls h, and then calls left once, however h ended. A panic continues
// with the same value.
func Call[Req, Res any, H ~func(context.Context, Req) (Res, error)](ctx context.Context, req Req, h H, left func(End[Res])) (res Res, err error) {
	var end End[Res]
	defer func() {
		if end.Returned {
			return
		}
		if end.Panic = recover(); end.Panic == nil {
			end.Err = ErrGoexit
		}
		left(end)
		if end.Panic != nil {
			panic(end.Panic)
		}
	}()
	res, err = h(ctx, req)
	end = End[Res]{Result: res, Returned: true, Err: err}
	left(end)
	return res, err
}
