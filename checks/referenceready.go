package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/classify"
)

// ErrNoResolver is the error of a check that has to look an object up if the request has no
// Resolver. Test for it with errors.Is.
var ErrNoResolver = errors.New("the request has no resolver: give the reconciler one with flow.WithResolver")

// ReferenceReady proceeds if all objects that the resource refers to are found and ready for their
// own generation. Otherwise it blocks. The message says for each unready object why it is not
// ready, up to a bound. The block waits for all of these objects and is retried at [classify.Fast].
// name says what kind of reference it is. The link is listed as "ReferenceReady(name)".
//
// The check proceeds if refs returns no refs; it ignores a zero Ref, which is not set.
// [OptionalRefs] makes the list from pointers that may be nil. An object known only by its cloud ID
// that the Resolver does not find proceeds, and the trace says so ([ByIDBlocks]).
//
// The check fails in these cases:
//
//   - refs dereferences nil, because the other references would be lost ([ErrNilPointer]).
//   - The Resolver returns an error. The error of the check names the reference.
//   - The request has no Resolver ([ErrNoResolver]), and more than the cloud ID of an object is
//     known.
//
// A nil refs and an empty name panic.
func ReferenceReady[T any](name string, refs func(resource T) []Ref, opts ...Option) Middleware[T] {
	if refs == nil || strings.TrimSpace(name) == "" {
		panic("checks: ReferenceReady(" + name + "): the name is empty or the function is nil")
	}
	s := configure("ReferenceReady("+name+")", forReference, opts)
	before := name + " "
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		wanted, err := require(refs, req.Resource, s.check, "return checks.OptionalRefs(...) for references that may be nil")
		if err != nil {
			return Result{}, err
		}
		for i := range wanted {
			if wanted[i] == (Ref{}) {
				continue
			}
			if res, err := s.reference(ctx, req.Resolver, before, &wanted[i]); err != nil || res.d != proceed {
				return s.missing(ctx, req.Resolver, before, wanted[i+1:], res, err)
			}
		}
		return Proceed(), nil
	})
}

// missing looks up the remaining references after the first one that is not ready, and combines the
// results.
func (s *settings) missing(ctx context.Context, resolve Resolver, before string, rest []Ref, res Result, err error) (Result, error) {
	var missing gathered
	missing.add("", res, err)
	for i := range rest {
		if rest[i] == (Ref{}) {
			continue
		}
		if res, err := s.reference(ctx, resolve, before, &rest[i]); err != nil || res.d != proceed {
			missing.add("", res, err)
		}
	}
	return missing.result()
}

// OptionalRefs returns the references that are set, for the function of [ReferenceReady]. It leaves
// out nil pointers.
//
//	checks.ReferenceReady("network", func(d *Database) []checks.Ref {
//		return checks.OptionalRefs(d.Spec.Network, d.Spec.BackupNetwork)
//	})
func OptionalRefs(refs ...*Ref) []Ref {
	set := make([]Ref, 0, len(refs))
	for _, ref := range refs {
		if ref != nil {
			set = append(set, *ref)
		}
	}
	return set
}

// reference decides about one reference that is set. Each message begins with before, which
// precedes the name of the object.
func (s *settings) reference(ctx context.Context, resolve Resolver, before string, of *Ref) (Result, error) {
	if resolve == nil {
		if of.ByIDOnly() {
			return s.byID(ctx, ReasonReferenceByID, before, *of), nil
		}
		return Result{}, fmt.Errorf("%s%s: %w", before, *of, ErrNoResolver)
	}
	o, err := resolve(ctx, *of)
	if err == nil && o.ready() && o.Found() {
		return Proceed(), nil
	}
	ref := *of
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
