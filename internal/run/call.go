// Package run calls handlers for observers, and binds observers to links.
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
	Err      error // the returned error, or ErrGoexit if the handler ended its goroutine
	Panic    any   // the value of the panic; nil: none
}

// Any returns the result; nil unless Returned.
func (e End[Res]) Any() any {
	if !e.Returned {
		return nil
	}
	return e.Result
}

// Bound returns o bound to link, or o itself if it has no method Bind or Bind
// returns nil. Bind prepares the data about a link once, when the chain is
// composed.
func Bound[O, L any](o O, link *L) O {
	if b, ok := any(o).(interface{ Bind(link *L) O }); ok {
		if to := b.Bind(link); any(to) != nil {
			return to
		}
	}
	return o
}

// Call calls h, and then calls ended once, also if h panics or ends its
// goroutine. A panic continues with the same value.
func Call[Req, Res any, H ~func(context.Context, Req) (Res, error)](ctx context.Context, req Req, h H, ended func(End[Res])) (res Res, err error) {
	var end End[Res]
	defer func() {
		if end.Returned {
			return
		}
		if end.Panic = recover(); end.Panic == nil {
			end.Err = ErrGoexit
		}
		ended(end)
		if end.Panic != nil {
			panic(end.Panic)
		}
	}()
	res, err = h(ctx, req)
	end = End[Res]{Result: res, Returned: true, Err: err}
	ended(end)
	return res, err
}
