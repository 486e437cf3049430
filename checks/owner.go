package checks

import (
	"context"
	"reflect"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// ownerGone reports whether the owner does not exist or is being deleted. Such an owner must not
// delay the deletion of the resource.
func (r *OwnerRequest) ownerGone(ctx context.Context) bool {
	gone := r.Owner.Deleting || !r.Owner.Found()
	if gone && !r.Owner.none() {
		chain.Note(ctx, "the owner is gone or going, which does not hold up a deletion")
	}
	return gone
}

func (s *settings) ownerNotFound(owner Ref) Result {
	return s.blocked(ReasonOwnerNotFound, classify.Fast, owner, sentence("owner ", owner, " was not found: waiting until it is created"))
}

// wrongKind returns the result for an owner that is not a W.
func wrongKind[W any](ctx context.Context, s *settings, owner *Object) Result {
	if s.wrongKindProceeds {
		chain.Note(ctx, "the owner is of another kind")
		return Proceed()
	}
	return s.blocked(ReasonOwnerWrongKind, classify.OnChange, owner.Ref, sentence("owner ", owner.Ref,
		" is a ", reflect.TypeOf(owner.Value).String(), ", and ", s.check, " is for a ", reflect.TypeFor[W]().String(), ": name an owner of that kind"))
}

// ownerAs returns the owner as a W. If ok is false, the owner cannot be used, and res is the result
// of the check.
func ownerAs[W any](ctx context.Context, s *settings, req *OwnerRequest) (owner W, res Result, ok bool) {
	o := &req.Owner
	if req.Deleting && req.ownerGone(ctx) {
		return owner, Proceed(), false
	}
	owner, ok = o.Value.(W)
	switch {
	case ok && o.Found():
		return owner, Result{}, true
	case o.Found():
		return owner, wrongKind[W](ctx, s, o), false
	case o.none():
		return owner, s.blocked(ReasonOwnerNotFound, classify.OnChange, Ref{}, "there is no owner, and "+s.check+" needs one: name an owner"), false
	case o.Ref.ByIDOnly() && s.unknownProceeds:
		chain.Note(ctx, "the owner is known by its ID only")
		return owner, Proceed(), false
	case o.Ref.ByIDOnly():
		return owner, s.blocked(ReasonOwnerByID, classify.Slow, o.Ref, sentence("owner ", o.Ref, " is known by its ID only, and ", s.check, " has to look into it")), false
	}
	return owner, s.ownerNotFound(o.Ref), false
}

// OwnerIs blocks while objection returns a text for people that says why the owner is unsuitable.
// If it returns "", the check proceeds. W is the type of the owner, usually a pointer. name is the
// name of the link.
//
// The check also blocks in these cases:
//
//   - There is no owner, or the owner is not found.
//   - The owner is not a W ([WrongKindProceeds]).
//   - Only the cloud ID of the owner is known ([UnknownProceeds]).
//   - objection dereferences nil: the owner has not reported the field yet ([UnknownProceeds]).
//
// A block is retried at [classify.Slow], unless the owner is missing or of another type. A nil
// objection and an empty name panic.
func OwnerIs[W any](name string, objection func(owner W) string, opts ...Option) OwnerMiddleware {
	if objection == nil {
		panic("checks: OwnerIs: the function of " + name + " is nil")
	}
	s := configure(name, forOwner, opts)
	return Check(name, func(ctx context.Context, req *OwnerRequest) (Result, error) {
		owner, res, ok := ownerAs[W](ctx, s, req)
		if !ok {
			return res, nil
		}
		text, known := reads(ctx, objection, owner)
		return s.object(ctx, &req.Owner, text, known), nil
	})
}

// WithOwner is [OwnerIs] for an objection that compares the resource with its owner, for instance a
// version newer than the owner's.
func WithOwner[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	if objection == nil {
		panic("checks: WithOwner: the function of " + name + " is nil")
	}
	s := configure(name, forOwner, opts)
	between := func(p pair[T, W]) string { return objection(p.resource, p.owner) }
	return newCheck(name, linktag.Check{NeedsOwner: true}, func(ctx context.Context, req *Request[T]) (Result, error) {
		owner, res, ok := ownerAs[W](ctx, s, &req.OwnerRequest)
		if !ok {
			return res, nil
		}
		text, known := reads(ctx, between, pair[T, W]{req.Resource, owner})
		return s.object(ctx, &req.Owner, text, known), nil
	})
}

// object makes a result from the text of an objection. known is false if the objection dereferenced
// nil.
func (s *settings) object(ctx context.Context, owner *Object, text string, known bool) Result {
	switch {
	case known && text == "":
		return Proceed()
	case known:
		return s.blocked(ReasonOwnerUnsuitable, classify.Slow, owner.Ref, sentence("owner ", owner.Ref, ": ", text))
	case s.unknownProceeds:
		chain.Note(ctx, "not reported by the owner")
		return Proceed()
	}
	return s.blocked(ReasonOwnerStateUnknown, classify.Slow, owner.Ref, sentence("owner ", owner.Ref, " has not reported what ", s.check, " asks for yet"))
}

// pair holds a resource and its owner, for an objection that compares them.
type pair[T, W any] struct {
	resource T
	owner    W
}
