package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// ownerGone reports whether the owner does not exist or is being deleted. Such
// an owner must not delay the deletion of the resource.
func (r *OwnerRequest) ownerGone(ctx context.Context) bool {
	gone := r.Owner.Deleting || !r.Owner.Found()
	if gone && r.Owner.named() {
		chain.Note(ctx, "the owner is missing or being deleted, so it does not block this deletion")
	}
	return gone
}

// noOwner returns the block of a check that needs an owner if no reference
// names one.
func (s *settings) noOwner(o *Object) Result {
	switch {
	case o.none():
		return s.unusable(ReasonOwnerNotSet, classify.OnChange, nil, "the resource has no owner and needs one: set its owner reference")
	case o.Ref.Kind == "":
		return s.unusable(ReasonOwnerNotSet, classify.OnChange, nil, "the owner reference is not set yet")
	}
	kind := Ref{Group: o.Ref.Group, Kind: o.Ref.Kind}
	return s.unusable(ReasonOwnerNotSet, classify.OnChange, nil, "the owner reference is not set yet: it must name an object of kind ", sentence("", &kind))
}

// ownerAs returns the owner as a W. If the owner cannot be used, res is the
// result of the check, or else the zero Result.
func ownerAs[W any](ctx context.Context, s *settings, req *OwnerRequest) (owner W, res Result) {
	o := &req.Owner
	s.followOwner(ctx, req)
	switch {
	case req.Deleting && req.ownerGone(ctx):
		res = Proceed()
	case !o.named():
		res = s.noOwner(o)
	default:
		owner, res = typed[W](ctx, s, &ofOwner, "owner ", &o.Ref, o)
	}
	return owner, res
}

// OwnerIs blocks while objection returns a text: why the owner is unsuitable
// and what fixes it. The text becomes the message. If objection returns "", the
// check proceeds. W is the type of the owner, usually a pointer. name is the
// name of the link.
//
// The check also blocks in these cases:
//
//   - No reference names the owner, or the owner is not found.
//   - The owner is not a W ([WithWrongKindAllowed]).
//   - Only the cloud ID of the owner is known ([WithUnknownAllowed]).
//   - objection dereferences nil: the owner has not reported the field yet
//     ([WithUnknownAllowed]).
//
// A block is retried at [classify.Slow], at [classify.Fast] if the owner is not
// found, and at [classify.OnChange] if it is not set or has another type.
// [WithSlot] hands the owner over to later links. A nil objection and an empty
// name panic.
func OwnerIs[W any](name string, objection func(owner W) string, opts ...Option) OwnerMiddleware {
	s := configure(name, opts, "WithUnknownAllowed", "WithWrongKindAllowed", "WithSlot", "WithFollowing")
	s.must(objection != nil, "the function is nil")
	slot := slotOf[W](s)
	return newCheck(name, s.followingOwner(linktag.Check{Sets: slot != nil}), func(ctx context.Context, req *OwnerRequest) (Result, error) {
		owner, res := ownerAs[W](ctx, s, req)
		if res.IsZero() {
			res = suits(ctx, s, &ofOwner, "owner ", &req.Owner.Ref, owner, filling(slot, req, objection))
		}
		return res, nil
	})
}

// OwnerFits is [OwnerIs] for an objection that compares the resource with its
// owner, for instance a version newer than the owner's.
func OwnerFits[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	s := configure(name, opts, "WithUnknownAllowed", "WithWrongKindAllowed", "WithSlot", "WithFollowing")
	s.must(objection != nil, "the function is nil")
	slot := slotOf[W](s)
	return newCheck(name, s.followingOwner(linktag.Check{NeedsOwner: true, Sets: slot != nil}), func(ctx context.Context, req *Request[T]) (Result, error) {
		owner, res := ownerAs[W](ctx, s, &req.OwnerRequest)
		if res.IsZero() {
			fits := func(owner W) string { return objection(req.Resource, owner) }
			res = suits(ctx, s, &ofOwner, "owner ", &req.Owner.Ref, owner, filling(slot, &req.OwnerRequest, fits))
		}
		return res, nil
	})
}
