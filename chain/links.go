package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/stack"
)

// Before makes a link that calls fn before the inner links. If fn returns an
// error, the link returns that error with the zero result, and no inner link
// runs. Go cannot infer Res from fn, so write both types: Before[*Request,
// Outcome](lock). Before panics if fn is nil.
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

// After makes a link that calls fn with the result of the inner links if they
// return no error. If fn returns an error, the link returns it with that
// result. After panics if fn is nil.
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
// [*PanicError], and then the panic continues. If they end the goroutine with
// runtime.Goexit, fn gets the zero result and an error that says so. fn changes
// the outcome only if it panics. Finally panics if fn is nil.
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

// hook names link after its kind and the function fn that it calls, as in
// "Before(team.lock)". It panics if fn is nil.
func hook[Req, Res any](kind string, fn any, isNil bool, link Middleware[Req, Res]) Middleware[Req, Res] {
	if isNil {
		panic("chain: " + kind + ": the function is nil")
	}
	name, _ := funcName(fn)
	return Named(kind+"("+name+")", link)
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
			if err != nil && context.Cause(ctx) == error(cause) && isFinite(err, new(1000)) && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, cause) {
				err = &DeadlineError{Link: name, After: d, Err: err}
			}
			return res, err
		}
	})
}

// isFinite reports whether the tree of an error has at most left errors. errors.Is never
// ends for an error that unwraps to itself.
func isFinite(err error, left *int) bool {
	for err != nil {
		if *left--; *left < 0 {
			return false
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			return !slices.ContainsFunc(x.Unwrap(), func(inner error) bool { return !isFinite(inner, left) })
		default:
			return true
		}
	}
	return true
}

// When makes a link that applies links, outermost first, to the requests for
// which predicate returns true. Other requests go directly to the next handler:
//
//	New(When(p, a, b), c)    = New(a, b, c) for a request that p accepts
//	                         = New(c) for any other request
//
// Each call asks the predicate once, before the links run. The new link's name
// is "When(a, b)". Observers see the links within it as well, and an engine
// attributes a decision to the link within it. When panics on a nil predicate,
// on a nil link, and without links.
func When[Req, Res any](predicate func(ctx context.Context, req Req) bool, links ...Middleware[Req, Res]) Middleware[Req, Res] {
	switch {
	case predicate == nil:
		panic("chain: When: the predicate is nil")
	case len(links) == 0:
		panic("chain: When: there are no links")
	}
	c := Chain[Req, Res]{links: entries("When", links)}
	names, tags := make([]string, len(links)), make([]any, len(links))
	for i, l := range c.Links() {
		names[i], tags[i] = l.Name, l.Tag
	}
	inside := func(of *Link, layers layers[Req, Res]) Middleware[Req, Res] {
		c := within(c, of)
		return func(next Handler[Req, Res]) Handler[Req, Res] {
			with, fault := compose(c, next, layers)
			if fault != "" {
				return nil // Then panics and names this link
			}
			return func(ctx context.Context, req Req) (Res, error) {
				if predicate(ctx, req) {
					return with(ctx, req)
				}
				return next(ctx, req)
			}
		}
	}
	return probe.Named(probe.Answer{
		Name: "When(" + strings.Join(names, ", ") + ")", Source: probe.Caller(), Tag: linktag.Join(tags...), Inside: inside,
	}, inside(&Link{}, layers[Req, Res]{}))
}
