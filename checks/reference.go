package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// ReferenceReady proceeds if all objects that the resource refers to are found
// and ready for their own generation. Otherwise it blocks. The message names
// the cause for each unready object, up to a bound. The block waits for all of
// these objects and is retried at [classify.Fast]. name says what kind of
// reference it is. The link is listed as "ReferenceReady(name)".
//
// In a deletion of the resource, an object that is being deleted, too, or is gone does not
// block: it may be waiting for this deletion, and in a namespace that is deleted it will never return.
//
// A zero Ref is not set, and the check ignores it. So it proceeds if no Ref is
// set. [OptionalRefs] makes the list from pointers that may be nil. An object
// known only by its cloud ID that the Resolver does not find proceeds, and the
// trace shows it ([WithByIDBlocked]). [WithMissingAllowed] is for objects that
// need not exist.
//
// The resource follows these objects after the pass ([OwnerRequest.Follow],
// [WithFollowing]).
//
// The check fails in these cases:
//
//   - refs dereferences nil, because the other references would be lost.
//   - A Ref names a set ([Query.Ref]).
//   - The Resolver returns an error. The error of the check names the
//     reference.
//   - The request has no Resolver ([ErrNoResolver]), and more than the cloud ID
//     of an object is known.
//
// A nil refs and an empty name panic.
func ReferenceReady[T any](name string, refs func(resource T) []Ref, opts ...Option) Middleware[T] {
	s := ofReferences("ReferenceReady("+name+")", opts, "WithByIDBlocked", "WithMissingAllowed")
	return references(s, name, refs, nil)
}

// ofReferences returns the settings of a check of references.
func ofReferences(check string, opts []Option, takes ...string) *settings {
	s := configure(check, opts, append(takes, "WithFollowing")...)
	s.follows = !s.unfollowed
	return s
}

// references makes a check that calls decide for each object that refs names,
// and gathers the results. name says what kind of reference it is. If decide is
// nil, an object proceeds if it is ready.
func references[T any](s *settings, name string, refs func(T) []Ref, decide func(context.Context, *Request[T], *Ref, Object) (Result, error)) Middleware[T] {
	s.must(refs != nil && strings.TrimSpace(name) != "", "the name is empty or the function is nil")
	before := name + " "
	added := s.block // added once to the sum: each option may hold many refs
	s.block = nil
	tag := s.following(linktag.Check{BeforeGet: true}, func(request any) []Ref { return refs(request.(*Request[T]).Resource) })
	return newCheck(s.check, tag, func(ctx context.Context, req *Request[T]) (Result, error) {
		wanted, err := required(refs, req.Resource, s.check, "return checks.OptionalRefs(...) for references that may be nil")
		if err != nil {
			return Result{}, err
		}
		sum := gathered{unknown: true}
		resolve := req.Resolver
		if resolve == nil {
			resolve = noResolver
		}
		for i := range wanted {
			ref := &wanted[i]
			if *ref == (Ref{}) {
				continue
			}
			if s.follows { // before it is read, because a resource with a wrong reference is retried when the object changes
				req.follow(ctx, ref)
			}
			var o Object
			if err = errSetRef; ref.Set == "" {
				o, err = resolve(ctx, *ref)
			}
			if in := o.Ref.Namespace; in != ref.Namespace && ref.Namespace == "" && (decide != nil || !o.ready()) {
				at := *ref // with the namespace in which it was looked up, for the message
				at.Namespace = in
				ref = &at
			}
			res := Proceed()
			switch {
			case err != nil:
				res, err = Result{}, fmt.Errorf("%s%s: %w", before, ref, err)
			case (s.missingProceeds || req.Deleting && decide == nil) && !o.Found() && ref.Name != "":
				chain.Note(ctx, sentence(before, ref, " does not exist, and may be missing"))
			case decide != nil:
				res, err = decide(ctx, req, ref, o)
			case req.Deleting && o.Deleting && o.Found():
				chain.Note(ctx, sentence(before, ref, " is being deleted, so it does not block this deletion"))
			case !o.ready():
				res = s.readiness(ctx, &ofReference, before, ref, &o)
			}
			sum.add("", res, err)
		}
		res, err := sum.result()
		if res.Blocked() {
			res.d.with(added)
		}
		return res, err
	})
}

var errSetRef = errors.New("it names a set, and this check is for single objects")

// noResolver replaces a missing Resolver.
func noResolver(_ context.Context, ref Ref) (Object, error) {
	if ref.ByIDOnly() {
		return Object{}, nil
	}
	return Object{}, ErrNoResolver
}

// OptionalRefs returns the references that are set, for the function of
// [ReferenceReady] and [ReferenceIs]. It leaves out nil pointers.
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

// ReferenceIs blocks while objection returns a text for a referenced object:
// why the object is unsuitable and what fixes it. If it returns "" for each
// object, the check proceeds. W is the type of the objects, usually a pointer.
// If W is [Object], objection also learns the Ref and the readiness, and Value
// may have any type. name says what kind of reference it is. The link is listed
// as "ReferenceIs(name)".
//
// The check also blocks in these cases:
//
//   - An object is not found.
//   - An object is not a W.
//   - Only the cloud ID of an object is known ([WithUnknownAllowed]).
//   - objection dereferences nil: the object has not reported the field yet
//     ([WithUnknownAllowed]).
//
// The message names the cause for each of these objects, up to a bound, and the
// block waits for all of them. It is retried at [classify.Slow], at
// [classify.Fast] if objects are only missing, and at [classify.OnChange] if
// one has another type.
//
// [WithVerdict] returns another result than a block for an objection, and
// [WithMissingAllowed] is for objects that need not exist.
//
// ReferenceIs ignores readiness and deletion: put [ReferenceReady] before it.
// As there, a zero Ref is ignored, and the resource follows the objects
// ([WithFollowing]). The check fails if refs dereferences nil, if
// the Resolver returns an error, and if the request has no Resolver
// ([ErrNoResolver]). A nil function and an empty name panic.
func ReferenceIs[T, W any](name string, refs func(resource T) []Ref, objection func(resource T, referent W) string, opts ...Option) Middleware[T] {
	s := ofReferences("ReferenceIs("+name+")", opts, "WithUnknownAllowed", "WithVerdict", "WithMissingAllowed")
	s.must(objection != nil, "the objection is nil")
	before := name + " "
	return references(s, name, refs, func(ctx context.Context, req *Request[T], ref *Ref, o Object) (Result, error) {
		referent, res, err := typed[W](ctx, s, &ofReference, before, ref, &o)
		if res.IsZero() && err == nil {
			fits := func(referent W) string { return objection(req.Resource, referent) }
			res = suits(ctx, s, &ofReference, before, ref, referent, fits)
		}
		return res, err
	})
}
