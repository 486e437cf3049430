package checks

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// OwnerReady proceeds if the owner is ready for its own generation and is not
// being deleted. It also proceeds in two cases that no retry can decide:
//
//   - A root resource, whose Owner is the zero [Object] ([WithRequiredOwner]
//     blocks).
//   - An owner known only by its cloud ID ([WithByIDBlocked] blocks). The trace
//     shows it.
//
// An owner blocks if no reference names it yet, if it is not found, and if it
// has not reported its readiness.
//
// A block is retried at [classify.Fast]. Engines that watch also requeue when
// the owner changes. A reference that another controller has not set yet is no
// failure: it is retried at [classify.VerySlow], and when the resource changes. A
// block because of WithByIDBlocked is retried at [classify.Slow].
func OwnerReady(opts ...Option) OwnerMiddleware {
	return aboutOwner("OwnerReady", true, opts)
}

// OwnerFound proceeds if the owner exists, whether it is ready or not, even if
// it is being deleted. All else is as for [OwnerReady].
func OwnerFound(opts ...Option) OwnerMiddleware {
	return aboutOwner("OwnerFound", false, opts)
}

// aboutOwner makes a check that proceeds if the owner exists, and is ready if
// ready is true.
func aboutOwner(name string, ready bool, opts []Option) OwnerMiddleware {
	s := configure(name, opts, "WithByIDBlocked", "WithRequiredOwner", "WithFollowing")
	return newCheck(s.check, s.followingOwner(linktag.Check{}), func(ctx context.Context, req *OwnerRequest) (Result, error) {
		o := &req.Owner
		s.followOwner(ctx, req)
		switch {
		case o.ready(), !ready && o.Found(), req.Deleting && req.ownerGone(ctx), o.none() && !s.required:
			return Proceed(), nil
		case !o.named():
			return s.noOwner(o), nil
		}
		return s.readiness(ctx, &ofOwner, "owner ", &o.Ref, o), nil
	})
}

// OwnerIs blocks while objection returns a text: why the owner is unsuitable
// and what fixes it. The text becomes the message. If objection returns "", the
// check proceeds. W is the type of the owner, usually a pointer, or [Object].
// name is the name of the link.
//
// The check also blocks in these cases:
//
//   - No reference names the owner, or the owner is not found.
//   - The owner is not a W.
//   - Only the cloud ID of the owner is known ([WithUnknownAllowed]).
//   - objection dereferences nil: the owner has not reported the field yet
//     ([WithUnknownAllowed]).
//
// A block is retried at [classify.Slow], at [classify.Fast] if the owner is not
// found, at [classify.VerySlow] if another controller has not set it yet, and at
// [classify.OnChange] if there is none or it has another type.
// [WithVerdict] returns another result for an objection. A nil objection and an
// empty name panic.
func OwnerIs[W any](name string, objection func(owner W) string, opts ...Option) OwnerMiddleware {
	return ownerIs(name, objection == nil, func(_ *OwnerRequest, owner W) string { return objection(owner) }, linktag.Check{}, opts)
}

// OwnerFits is [OwnerIs] for an objection that compares the resource with its
// owner, for instance a version newer than the owner's.
func OwnerFits[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	fits := func(req *Request[T], owner W) string { return objection(req.Resource, owner) }
	return ownerIs(name, objection == nil, fits, linktag.Check{NeedsOwner: true}, opts)
}

// ownerIs makes a check of the owner by an objection. isNil reports whether the
// user gave none.
func ownerIs[R PassRequest, W any](name string, isNil bool, objection func(R, W) string, tag linktag.Check, opts []Option) chain.Middleware[R, Result] {
	s := configure(name, opts, "WithUnknownAllowed", "WithFollowing", "WithVerdict")
	s.must(!isNil, "the function is nil")
	return newCheck(s.check, s.followingOwner(s.released(tag)), func(ctx context.Context, req R) (Result, error) {
		o := req.base()
		owner, res, err := ownerAs[W](ctx, s, o)
		if res.IsZero() && err == nil {
			res = suits(ctx, s, &ofOwner, "owner ", &o.Owner.Ref, owner, func(owner W) string { return objection(req, owner) })
		}
		return res, err
	})
}

// OwnerProvisioningState proceeds if the owner is in a state that allows the
// work: a settled state of the [Vocabulary], unless [WithAllowed] or
// [WithDenied] is given. selector returns any field of the owner that holds a
// state:
//
//	checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState })
//
// The check blocks if the state does not allow the work, and if the state is not
// reported or selector dereferences nil ([WithUnknownAllowed]). It also blocks
// for an owner for which [OwnerIs] blocks, and is retried in the same way. A nil
// selector panics.
func OwnerProvisioningState[W any, S ~string](selector func(owner W) *S, opts ...Option) OwnerMiddleware {
	s := configure("OwnerProvisioningState", opts, "WithAllowed", "WithDenied", "Vocabulary", "WithUnknownAllowed", "WithFollowing")
	s.must(selector != nil, "the selector is nil")
	return newCheck(s.check, s.followingOwner(linktag.Check{}), func(ctx context.Context, req *OwnerRequest) (Result, error) {
		owner, res, err := ownerAs[W](ctx, s, req)
		if !res.IsZero() || err != nil {
			return res, err
		}
		state, states, ref := known(ctx, selector, owner), s.named(false), &req.Owner.Ref
		switch reported := !blank(state); {
		case reported && s.allows(states, state):
		case reported:
			return s.stateBlock(ReasonOwnerState, ref, states, "", "owner ", ` is in state "`, printable(state), `"`), nil
		case s.unknownProceeds:
			chain.Note(ctx, "the owner has not reported a state")
		default:
			return s.stateBlock(ReasonOwnerStateUnknown, ref, states, "", "owner ", " has not reported a state yet"), nil
		}
		return Proceed(), nil
	})
}

// OwnerFrom makes a function for flow.Operations.Owner: the owner is the one
// object of the set that query names, such as the cluster of the namespace. The
// flow lists the set with its Lister (flow.WithLister).
//
//	flow.Operations[*Database]{
//		Owner: checks.OwnerFrom(func(d *Database) checks.Query { return checks.Query{Kind: "Cluster"} }),
//		...
//	}
//
// If the set has one object, that object is the owner for all checks, for Get
// and for Apply. If it has none or several, the flow blocks at OwnerCheck, also
// without an owner check, with [ReasonOwnerNotFound] or [ReasonOwnerAmbiguous].
// Both blocks wait for the set. The resource itself is never its own owner. As
// for any owner, a deletion does not wait.
//
// An owner check with [WithFollowing] follows the owner that was found. To start
// a pass also when a second object enters the set, follow the Ref of the query
// ([OwnerRequest.Follow]).
//
// In package ctrlx, the Ref of a query works, too: ctrlx.WithOwner with a
// function that returns query.Ref().
//
// The function fails if query dereferences nil or returns a Query without a
// Kind. For a resource without an owner, write the function yourself: it
// returns the zero [Object], or an Object with the Ref of a query. A nil query
// panics.
func OwnerFrom[T any](query func(resource T) Query) func(ctx context.Context, resource T) (Object, error) {
	(&settings{check: "OwnerFrom"}).must(query != nil, "the function is nil")
	return func(_ context.Context, resource T) (Object, error) {
		q, err := required(query, resource, "OwnerFrom", "return a query only of fields that are set")
		if err != nil {
			return Object{}, err
		}
		return Object{Ref: q.Ref()}, nil
	}
}

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
// names one. The resource is not stalled, because another controller may set the
// reference, as those of Cluster API do.
func (s *settings) noOwner(o *Object) Result {
	if o.Ref.Kind == "" {
		return s.unusable(ReasonOwnerNotSet, classify.VerySlow, nil, "the owner reference is not set yet")
	}
	kind := Ref{Group: o.Ref.Group, Kind: o.Ref.Kind}
	return s.unusable(ReasonOwnerNotSet, classify.VerySlow, nil, "the owner reference is not set yet: it must name an object of kind ", sentence("", &kind))
}

// ownerAs returns the owner as a W. If the owner cannot be used, res is the
// result of the check, or else the zero Result.
func ownerAs[W any](ctx context.Context, s *settings, req *OwnerRequest) (owner W, res Result, err error) {
	o := &req.Owner
	s.followOwner(ctx, req)
	switch {
	case req.Deleting && req.ownerGone(ctx):
		res = Proceed()
	case !o.named():
		res = s.noOwner(o)
	default:
		owner, res, err = typed[W](ctx, s, &ofOwner, "owner ", &o.Ref, o)
	}
	return owner, res, err
}
