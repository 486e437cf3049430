package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/internal/probe"
)

// DeadlineError names the link whose [Deadline] expired. context.Cause returns
// it in the inner links, and the Deadline returns it, wrapped around their
// error. Test for it with errors.As. errors.Is finds context.DeadlineExceeded
// in it.
type DeadlineError struct {
	Link  string        // the name of the link whose time expired
	After time.Duration // the time that the link had
	Err   error         // the error that the link returned; nil in the cause of the context
}

// Error returns the link, its time limit, and Err if that is another error than
// context.DeadlineExceeded.
func (e *DeadlineError) Error() string {
	if e.Err == nil || e.Err == context.DeadlineExceeded {
		return fmt.Sprintf("link %s was not done within %s", e.Link, e.After)
	}
	return fmt.Sprintf("link %s was not done within %s: %v", e.Link, e.After, e.Err)
}

// Unwrap returns context.DeadlineExceeded, and Err if it is not nil.
func (e *DeadlineError) Unwrap() []error {
	if e.Err == nil {
		return []error{context.DeadlineExceeded}
	}
	return []error{context.DeadlineExceeded, e.Err}
}

// Deadline makes a link that gives link and all its inner links a context that
// expires after d. They run until they notice that. If they then return an
// error that wraps context.DeadlineExceeded, Deadline wraps it in a
// [*DeadlineError]. It leaves other errors and results unchanged, even late
// ones. The new link's name is "Deadline(5s, name)". Deadline panics if d is
// not positive or link is nil.
func Deadline[Req, Res any](d time.Duration, link Middleware[Req, Res]) Middleware[Req, Res] {
	if link == nil {
		panic("chain: Deadline: the link is nil")
	}
	name := describe(link).Name
	if d <= 0 {
		panic(fmt.Sprintf("chain: Deadline: link %s is given %s: give a positive duration", name, d))
	}
	cause := &DeadlineError{Link: name, After: d}
	return probe.Derived(fmt.Sprintf("Deadline(%s, %s)", d, name), link, func(next Handler[Req, Res]) Handler[Req, Res] {
		inner := link(next)
		if inner == nil {
			return nil // Then panics and names this link
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
