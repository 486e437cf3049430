package chain

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/internal/stack"
)

// PanicError is a panic made into an error, by [Recover] and by those who run chains for others. Test for it with
// errors.As; if the panic's value is an error, errors.Is and errors.As see that one too.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // the frames of the panicking goroutine, the panic first
	Link  string // the link that had control; empty if that is not known
}

func (e *PanicError) Error() string {
	if e.Link == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	return fmt.Sprintf("panic in link %s: %v", e.Link, e.Value)
}

// Unwrap gives the value of the panic if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Recover is a link that turns a panic of the links behind it into a [*PanicError], with the zero result. What is in
// front of it sees an ordinary error. It is itself the Middleware: New(chain.Recover, audit).
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
