package checks

import (
	"context"
	"reflect"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// ownerGone reports whether the owner does not exist or is being deleted. Such
// an owner must not delay the deletion of the resource.
func (r *OwnerRequest) ownerGone(ctx context.Context) bool {
	gone := r.Owner.Deleting || !r.Owner.Found()
	if gone && !r.Owner.none() {
		chain.Note(ctx, "the owner is gone or going, which does not hold up a deletion")
	}
	return gone
}

const notFound = " was not found: waiting until it is created"

// ownerAs returns the owner as a W. If the owner cannot be used, res is the
// result of the check, or else the zero Result.
func ownerAs[W any](ctx context.Context, s *settings, req *OwnerRequest) (owner W, res Result) {
	o := &req.Owner
	owner, ok := o.Value.(W)
	res = Proceed()
	switch found := o.Found(); {
	case req.Deleting && req.ownerGone(ctx):
	case found && ok:
		return owner, Result{}
	case found && s.wrongKindProceeds:
		chain.Note(ctx, "the owner is of another kind")
	case found:
		res = s.blocked(ReasonOwnerWrongKind, classify.OnChange, &o.Ref, "owner ", " is a ", reflect.TypeOf(o.Value).String(),
			", and ", s.check, " is for a ", reflect.TypeFor[W]().String(), ": name an owner of that kind")
	case o.none():
		res = s.blocked(ReasonOwnerNotFound, classify.OnChange, nil, "there is no owner, and ", s.check, " needs one: name an owner")
	case !o.Ref.ByIDOnly():
		res = s.blocked(ReasonOwnerNotFound, classify.Fast, &o.Ref, "owner ", notFound)
	case s.unknownProceeds:
		chain.Note(ctx, "the owner is known by its ID only")
	default:
		res = s.blocked(ReasonOwnerByID, classify.Slow, &o.Ref, "owner ", " is known by its ID only, and ", s.check, " has to look into it")
	}
	return owner, res
}

// OwnerIs blocks while objection returns a text for people that says why the
// owner is unsuitable. If it returns "", the check proceeds. W is the type of
// the owner, usually a pointer. name is the name of the link.
//
// The check also blocks in these cases:
//
//   - There is no owner, or the owner is not found.
//   - The owner is not a W ([WithWrongKindAllowed]).
//   - Only the cloud ID of the owner is known ([WithUnknownAllowed]).
//   - objection dereferences nil: the owner has not reported the field yet
//     ([WithUnknownAllowed]).
//
// A block is retried at [classify.Slow], unless the owner is missing or of
// another type. A nil objection and an empty name panic.
func OwnerIs[W any](name string, objection func(owner W) string, opts ...Option) OwnerMiddleware {
	s := configure(name, opts, "WithUnknownAllowed", "WithWrongKindAllowed")
	s.must(objection != nil, "the function is nil")
	return Check(name, func(ctx context.Context, req *OwnerRequest) (Result, error) {
		return suits(ctx, s, req, objection), nil
	})
}

// OwnerFits is [OwnerIs] for an objection that compares the resource with its
// owner, for instance a version newer than the owner's.
func OwnerFits[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	s := configure(name, opts, "WithUnknownAllowed", "WithWrongKindAllowed")
	s.must(objection != nil, "the function is nil")
	return newCheck(name, linktag.Check{NeedsOwner: true}, func(ctx context.Context, req *Request[T]) (Result, error) {
		return suits(ctx, s, &req.OwnerRequest, func(owner W) string { return objection(req.Resource, owner) }), nil
	})
}

// suits returns the result of a check that asks for an objection to the owner.
func suits[W any](ctx context.Context, s *settings, req *OwnerRequest, objection func(W) string) Result {
	owner, res := ownerAs[W](ctx, s, req)
	if !res.IsZero() {
		return res
	}
	text, reported := reads(ctx, objection, owner)
	switch ref := &req.Owner.Ref; {
	case reported && text == "":
	case reported:
		return s.blocked(ReasonOwnerUnsuitable, classify.Slow, ref, "owner ", ": ", text)
	case s.unknownProceeds:
		chain.Note(ctx, "not reported by the owner")
	default:
		return s.blocked(ReasonOwnerStateUnknown, classify.Slow, ref, "owner ", " has not reported what ", s.check, " asks for yet")
	}
	return Proceed()
}
