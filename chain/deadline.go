package chain

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DeadlineError says which [Deadline] ran out. It is the cause of the context (context.Cause), and wraps errors that
// the deadline led to. errors.Is finds context.DeadlineExceeded in it.
type DeadlineError struct {
	Link  string        // the name of the link whose time ran out
	After time.Duration // the time it was given
	Err   error         // what the link returned; nil in the cause of the context
}

func (e *DeadlineError) Error() string {
	if e.Err == nil || e.Err == context.DeadlineExceeded {
		return fmt.Sprintf("link %s was not done within %s", e.Link, e.After)
	}
	return fmt.Sprintf("link %s was not done within %s: %v", e.Link, e.After, e.Err)
}

// Unwrap gives context.DeadlineExceeded, and the error that it led to.
func (e *DeadlineError) Unwrap() []error {
	if e.Err == nil {
		return []error{context.DeadlineExceeded}
	}
	return []error{context.DeadlineExceeded, e.Err}
}

// Deadline makes a link that gives link, and all links behind it, the time d by a deadline of the context. Work is not
// cut off: it ends when it looks at its context. If it then returns an error that is a context.DeadlineExceeded, the
// error is made a [*DeadlineError], which names the link. Its name is "Deadline(5s, name)". A d that is not positive
// and a nil link panic.
func Deadline[Req, Res any](d time.Duration, link Middleware[Req, Res]) Middleware[Req, Res] {
	if link == nil {
		panic("chain: Deadline: the link is nil")
	}
	name := NameOf(link)
	if d <= 0 {
		panic(fmt.Sprintf("chain: Deadline: link %s is given %s: give a positive duration", name, d))
	}
	cause := &DeadlineError{Link: name, After: d}
	return Named(fmt.Sprintf("Deadline(%s, %s)", d, name), func(next Handler[Req, Res]) Handler[Req, Res] {
		inner := link(next)
		if inner == nil {
			return nil // Then says which link this is
		}
		return func(ctx context.Context, req Req) (Res, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, d, cause)
			defer cancel()
			res, err := inner(ctx, req)
			if err != nil && context.Cause(ctx) == error(cause) && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, cause) {
				err = &DeadlineError{Link: name, After: d, Err: err}
			}
			return res, err
		}
	})
}
