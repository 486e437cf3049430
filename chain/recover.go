package chain

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/internal/stack"
)

// PanicError is a panic turned into an error, by [Recover] or by packages that
// run chains. Test for it with errors.As. If the panic's value is an error,
// errors.Is and errors.As find that error too.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the frames of the panicking goroutine, the panic first
	Link  string // the link that was running; empty if unknown
}

// Error returns the value of the panic, and the link if it is known. It does not
// contain the stack.
func (e *PanicError) Error() string {
	if e.Link == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	return fmt.Sprintf("panic in link %s: %v", e.Link, e.Value)
}

// Unwrap returns the value of the panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover is a link that turns a panic of its inner links into a [*PanicError],
// with the zero result. Outer links see an ordinary error. Recover is itself
// the Middleware: New(chain.Recover, audit).
func Recover[Req, Res any](next Handler[Req, Res]) Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &PanicError{Value: v, Stack: stack.Panic()}
			}
		}()
		return next(ctx, req)
	}
}
