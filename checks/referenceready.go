package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoResolver is the error of a check that has to look an object up if the
// request has no Resolver. Test for it with errors.Is.
var ErrNoResolver = errors.New("the request has no resolver: give the reconciler one with flow.WithResolver")

// ReferenceReady proceeds if all objects that the resource refers to are found
// and ready for their own generation. Otherwise it blocks. The message says for
// each unready object why it is not ready, up to a bound. The block waits for
// all of these objects and is retried at [classify.Fast]. name says what kind
// of reference it is. The link is listed as "ReferenceReady(name)".
//
// The check proceeds if refs returns no refs; it ignores a zero Ref, which is
// not set. [OptionalRefs] makes the list from pointers that may be nil. An
// object known only by its cloud ID that the Resolver does not find proceeds,
// and the trace says so ([WithByIDBlocked]).
//
// The check fails in these cases:
//
//   - refs dereferences nil, because the other references would be lost.
//   - The Resolver returns an error. The error of the check names the
//     reference.
//   - The request has no Resolver ([ErrNoResolver]), and more than the cloud
//     ID of an object is known.
//
// A nil refs and an empty name panic.
func ReferenceReady[T any](name string, refs func(resource T) []Ref, opts ...Option) Middleware[T] {
	s := configure("ReferenceReady("+name+")", opts, "WithByIDBlocked")
	s.must(refs != nil && strings.TrimSpace(name) != "", "the name is empty or the function is nil")
	before := name + " "
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		wanted, err := require(refs, req.Resource, s.check, "return checks.OptionalRefs(...) for references that may be nil")
		if err != nil {
			return Result{}, err
		}
		var sum gathered
		for i := range wanted {
			if wanted[i] == (Ref{}) {
				continue
			}
			if res, err := s.reference(ctx, req.Resolver, before, &wanted[i]); err != nil || res.d != proceed {
				sum.add("", res, err)
			}
		}
		return sum.result()
	})
}

// OptionalRefs returns the references that are set, for the function of
// [ReferenceReady]. It leaves out nil pointers.
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

// reference decides about one reference that is set. Each message begins with
// before, which precedes the name of the object.
func (s *settings) reference(ctx context.Context, resolve Resolver, before string, ref *Ref) (Result, error) {
	if resolve == nil {
		resolve = noResolver
	}
	o, err := resolve(ctx, *ref)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%s%s: %w", before, ref.String(), err)
	case o.ready():
		return Proceed(), nil
	}
	return s.readiness(ctx, &ofReference, before, ref, &o), nil
}

// noResolver takes the place of a missing Resolver.
func noResolver(_ context.Context, ref Ref) (o Object, err error) {
	if !ref.ByIDOnly() {
		err = ErrNoResolver
	}
	return o, err
}
