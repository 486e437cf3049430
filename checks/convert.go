package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// ErrNoConversion is in a [ConversionError]: the conversion gave nil and no error. Test for it with errors.Is.
var ErrNoConversion = errors.New("the conversion gave nil: give the converted resource, or an error")

// ConversionError says that a resource could not be made one of the type that was asked for. Test for it with errors.As;
// Unwrap gives what went wrong, a [*chain.PanicError] for a panic.
type ConversionError struct {
	// Kind is that of the resource; empty if the request did not say.
	Kind string
	// From and To are the types, as in "*v2.Database"; From is "nothing" where there was not even a nil pointer.
	From, To string
	Err      error
}

func (e *ConversionError) Error() string {
	kind := ""
	if e.Kind != "" {
		kind = e.Kind + ": "
	}
	return fmt.Sprintf("%scannot make %s of %s: %v", kind, e.To, e.From, e.Err)
}

// Unwrap gives what went wrong.
func (e *ConversionError) Unwrap() error { return e.Err }

// Convert makes a chain of checks that were written for one type, mostly a version of an API, serve another one. It keeps
// the names of the links. convert is called for each link that is asked, with the resource as it is then; links behind it
// see the resource of their own type again. What a link changes in the request is handed on, but not what it changes in a
// converted resource: checks do not change it. A [Gate] may, to note what it has begun, and would begin it again each time;
// so gates are refused, and are written for the new type.
//
// If convert gives an error, or nil, or panics, the check that was asked has failed with a [*ConversionError]. A nil
// convert, a gate, and a chain with decorations or observers, which would be lost, panic here.
func Convert[From, To any](c Chain[To], convert func(From) (To, error)) Chain[From] {
	if convert == nil {
		panic(fmt.Sprintf("checks: Convert: the function for the chain %s is nil", c))
	}
	if c.Decorated() {
		panic(fmt.Sprintf("checks: Convert: the chain %s has decorations or observers, which would be lost: put them around the converted chain", c))
	}
	return chain.Map(c, func(link Middleware[To]) Middleware[From] {
		if madeByGate(link) {
			panic(fmt.Sprintf("checks: Convert: %s may act on the resource, and what it notes in a converted one is lost: leave it out, and write it for %s", chain.NameOf(link), reflect.TypeFor[From]()))
		}
		return func(next Handler[From]) Handler[From] {
			inner := link(func(ctx context.Context, req *Request[To]) (Result, error) {
				if req == nil {
					return stray(nil, true)
				}
				origin, ok := req.origin.(*Request[From])
				if !ok {
					return stray(nil, false)
				}
				back := *origin
				back.OwnerRequest, back.Exists = req.OwnerRequest, req.Exists
				back.origin = origin.origin
				return next(ctx, &back)
			})
			return func(ctx context.Context, req *Request[From]) (Result, error) {
				if req == nil {
					return stray(nil, true)
				}
				resource, err := converted(req.Resource, convert)
				if err != nil {
					return Result{}, &ConversionError{Kind: req.Kind, From: typeOf(req.Resource), To: reflect.TypeFor[To]().String(), Err: err}
				}
				to := &Request[To]{OwnerRequest: req.OwnerRequest, Resource: resource, Exists: req.Exists}
				to.origin = req
				return inner(ctx, to)
			}
		}
	})
}

// converted calls convert, which is the user's and may fail in every way.
func converted[From, To any](from From, convert func(From) (To, error)) (to To, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &chain.PanicError{Value: v, Stack: stack.Panic()}
		}
	}()
	if to, err = convert(from); err == nil && isNil(to) {
		err = ErrNoConversion
	}
	return to, err
}

// typeOf is the name of the type of what v holds.
func typeOf(v any) string {
	if v == nil {
		return "nothing"
	}
	return reflect.TypeOf(v).String()
}

func isNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return value.IsNil()
	}
	return false
}
