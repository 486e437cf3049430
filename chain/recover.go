package chain

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/internal/stack"
)

// PanicError is a panic that [Recover], or a package that runs chains, turned
// into an error. Test for it with errors.As. If the panic value is an error,
// errors.Is and errors.As find that error, too.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the frames of the panicking goroutine, the panic first
	Link  string // the link that was running; empty if unknown
}

// Error returns the panic value, and the link if it is known. It omits the
// stack.
func (e *PanicError) Error() string {
	if e.Link == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	return fmt.Sprintf("panic in link %s: %v", e.Link, e.Value)
}

// Unwrap returns the panic value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover is a link that turns a panic of its inner links into a [*PanicError].
// It returns that error with the zero result. Use the function itself as the
// link: New(chain.Recover, audit).
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
