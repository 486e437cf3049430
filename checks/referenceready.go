package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/classify"
)

// ErrNoResolver is the error of a check that has to look an object up when the request has no Resolver. Test for it
// with errors.Is.
var ErrNoResolver = errors.New("the request has no resolver: give the reconciler one with flow.WithResolver")

// ReferenceReady lets the work go on if all objects that the resource refers to are found and ready for their own
// generation. If not it says of each what is missing, and waits for those. It is looked at again at [classify.Fast].
// name says what kind of reference it is; the link is listed as "ReferenceReady(name)".
//
// No refs, a zero Ref, and a nil pointer met while refs reads the resource mean that the reference is not set, and the
// work goes on. One that is known by its cloud ID only, and that the Resolver does not know, goes on as well, and the
// trace says so ([ByIDBlocks]). An error of the Resolver is an error of the check, which names the reference, and so is
// the lack of a Resolver ([ErrNoResolver]). A nil refs and an empty name panic.
func ReferenceReady[T any](name string, refs func(resource T) []Ref, opts ...Option) Middleware[T] {
	if refs == nil || strings.TrimSpace(name) == "" {
		panic("checks: ReferenceReady(" + name + "): the name is empty or the function is nil")
	}
	s := configure("ReferenceReady("+name+")", forReference, opts)
	before := name + " "
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		var missing gathered
		for _, ref := range read(refs, req.Resource) {
			if ref == (Ref{}) {
				continue
			}
			res, err := s.reference(ctx, req.Resolver, before, ref)
			if err != nil || res.d != proceed {
				missing.add("", res, err)
			}
		}
		return missing.result()
	})
}

// reference decides about one reference that is set. before is what to say before its name.
func (s *settings) reference(ctx context.Context, resolve Resolver, before string, ref Ref) (Result, error) {
	if resolve == nil {
		if ref.ByIDOnly() {
			return s.byID(ctx, ReasonReferenceByID, before, ref), nil
		}
		return Result{}, fmt.Errorf("%s%s: %w", before, ref, ErrNoResolver)
	}
	o, err := resolve(ctx, ref)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%s%s: %w", before, ref, err)
	case o.Found():
	case ref.ByIDOnly():
		return s.byID(ctx, ReasonReferenceByID, before, ref), nil
	default:
		return s.blocked(ReasonReferenceNotFound, classify.Fast, ref, sentence(before, ref, " was not found: waiting until it is created")), nil
	}
	if why, text := unready(before, ref, &o); why != nil {
		return s.blocked(why.reference, classify.Fast, ref, text), nil
	}
	return Proceed(), nil
}
