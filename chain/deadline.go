package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/internal/probe"
)

// DeadlineError names the [Deadline] that expired. It is the cause of the
// context (context.Cause), and it wraps the error that the expired deadline led
// to. errors.Is finds context.DeadlineExceeded in it.
type DeadlineError struct {
	Link  string        // the name of the link whose time expired
	After time.Duration // the time that the link had
	Err   error         // the error that the link returned; nil in the cause of the context
}

// Error returns the link and the time that it had, and the error of the link if
// that error says more.
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

// Deadline makes a link that sets a context deadline of d for link and all its
// inner links. It does not interrupt them: they end when they check their
// context. If the deadline expires and they return an error that wraps
// context.DeadlineExceeded, Deadline wraps that error in a [*DeadlineError],
// which names link. The new link's name is "Deadline(5s, name)". A d that is
// not positive and a nil link panic.
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
