package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/slot"
	"github.com/windlass-go/windlass/internal/text"
)

var errNoConversion = errors.New("the conversion returned nil: return the converted resource, or an error")

// ConversionError reports that [Convert] could not convert a resource. Test for
// it with errors.As. Unwrap returns the cause, which is a [*chain.PanicError]
// for a panic.
type ConversionError struct {
	// Kind is the kind of the resource. It is empty if the request has no Kind.
	Kind string
	// From and To name the types, for instance "*v2.Database". From is
	// "nothing" if the resource is a nil interface.
	From, To string
	Err      error
}

// Error returns the kind if it is known, both types and the cause.
func (e *ConversionError) Error() string {
	kind := ""
	if e.Kind != "" {
		kind = e.Kind + ": "
	}
	return fmt.Sprintf("%scannot convert %s to %s: %v", kind, e.From, e.To, e.Err)
}

// Unwrap returns the cause.
func (e *ConversionError) Unwrap() error { return e.Err }

// Convert makes a chain of checks for one type accept requests for another
// type, usually another version of an API. It keeps the names of the links.
//
// Each link of c calls convert when it runs. The inner links receive the
// unconverted resource. If a link of c changes the request, the inner links see
// the change. Changes to a converted resource are lost, so checks must not make
// any. Convert refuses a [Gate], because the gate would lose its record of
// started work and start it in each pass. Write gates for the new type.
//
// If convert returns an error or nil, or panics, the check fails with a
// [*ConversionError]. These panic when Convert is called: a nil convert, a
// gate, and a chain with observers, which would be lost.
func Convert[From, To any](c Chain[To], convert func(From) (To, error)) Chain[From] {
	if convert == nil {
		panic(fmt.Sprintf("checks: Convert: the function for the chain %s is nil", c))
	}
	if c.Decorated() {
		panic(fmt.Sprintf("checks: Convert: the chain %s has observers, which would be lost: put them around the converted chain", c))
	}
	return chain.Map(c, func(link Middleware[To]) Middleware[From] {
		name, tag, _ := linkOf(link)
		if tag.Acts {
			panic(fmt.Sprintf("checks: Convert: %s may act on the resource, and its changes to a converted resource are lost: remove it from the chain, and write it for %s", name, reflect.TypeFor[From]()))
		}
		return retagged(name, tag, convert, func(next Handler[From]) Handler[From] {
			inner := link(func(ctx context.Context, req *Request[To]) (Result, error) {
				if req == nil {
					return Result{}, stray(nil, true)
				}
				origin, ok := req.origin.(*Request[From])
				if !ok {
					return Result{}, stray(nil, false)
				}
				back := *origin
				back.OwnerRequest, back.Presence = req.OwnerRequest, req.Presence
				back.origin = origin.origin
				return next(ctx, &back)
			})
			return func(ctx context.Context, req *Request[From]) (Result, error) {
				if req == nil {
					return Result{}, stray(nil, true)
				}
				to, err := converted(req, convert)
				if err != nil {
					return Result{}, &ConversionError{Kind: req.Kind, From: text.Type(req.Resource), To: reflect.TypeFor[To]().String(), Err: err}
				}
				if req.slots == nil {
					req.slots = &slot.Values{} // for the two requests to share
				}
				to.slots, to.origin = req.slots, req
				return inner(ctx, to)
			}
		})
	})
}

// retagged returns made, the converted form of a link. If the link follows
// objects or lists sets, made does so for the requests of From.
func retagged[From, To any](name string, tag linktag.Check, convert func(From) (To, error), made Middleware[From]) Middleware[From] {
	if len(tag.Follows)+len(tag.Lists) == 0 {
		return made
	}
	inner := tag
	with := func(request any, do func(to *Request[To])) {
		req := request.(*Request[From])
		if to, err := converted(req, convert); err == nil {
			do(to)
			req.slots = to.slots
		}
	}
	if len(tag.Follows) > 0 {
		tag.Follows = []func(context.Context, any){func(ctx context.Context, request any) {
			with(request, func(to *Request[To]) { inner.Follow(ctx, to) })
		}}
	}
	for i, list := range inner.Lists {
		tag.Lists = slices.Clone(tag.Lists)
		tag.Lists[i] = func(request any) (set any) {
			with(request, func(to *Request[To]) { set = list(to) })
			return set
		}
	}
	return probe.Named(probe.Answer{Name: name, Tag: tag}, made)
}

// converted returns req with a converted resource, and an error if convert panics
// or returns nil.
func converted[From, To any](req *Request[From], convert func(From) (To, error)) (to *Request[To], err error) {
	defer onion.Catch(&err)
	resource, err := convert(req.Resource)
	if err == nil && isNil(resource) {
		err = errNoConversion
	}
	return &Request[To]{OwnerRequest: req.OwnerRequest, Resource: resource, Presence: req.Presence}, err
}
