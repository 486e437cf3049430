package checks

import (
	"context"
	"reflect"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// ownerGone tells, for a resource that is to be deleted, whether its owner is not there or on its way out, and so must not
// hold up the deletion.
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

// wrongKind is for an owner that is no W.
func wrongKind[W any](ctx context.Context, s *settings, owner *Object) Result {
	if s.wrongKindProceeds {
		chain.Note(ctx, "the owner is of another kind")
		return Proceed()
	}
	return s.blocked(ReasonOwnerWrongKind, classify.OnChange, owner.Ref, sentence("owner ", owner.Ref,
		" is a ", reflect.TypeOf(owner.Value).String(), ", and ", s.check, " is for a ", reflect.TypeFor[W]().String(), ": name an owner of that kind"))
}

// ownerAs gives the owner as a W. If it cannot, the result says what that comes to.
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

// OwnerIs blocks while objection has something to say against the owner, in words for a person; "" lets the work go on.
// W is the owner's type, usually a pointer. Listed as name.
//
// No owner, one not found, and one that is no W block ([WrongKindProceeds]). So do one known by its cloud ID only, and
// one in which a nil pointer is met on the way to a field, as nobody has reported it yet ([UnknownProceeds]). It is
// looked at again at [classify.Slow]. A nil objection and an empty name panic.
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
		text, known := objected(objection, owner)
		return s.object(ctx, &req.Owner, text, known), nil
	})
}

// WithOwner is [OwnerIs] for what lies between a resource and its owner: a version that is ahead of the owner's, say.
func WithOwner[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	if objection == nil {
		panic("checks: WithOwner: the function of " + name + " is nil")
	}
	s := configure(name, forOwner, opts)
	return Check(name, func(ctx context.Context, req *Request[T]) (Result, error) {
		owner, res, ok := ownerAs[W](ctx, s, &req.OwnerRequest)
		if !ok {
			return res, nil
		}
		text, known := objectedBetween(objection, req.Resource, owner)
		return s.object(ctx, &req.Owner, text, known), nil
	})
}

// object makes a result of an objection.
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

// objected gives what an objection says; known is false if it met a nil on the way.
func objected[W any](objection func(W) string, owner W) (text string, known bool) {
	defer func() {
		if !known {
			passNil(recover())
		}
	}()
	text = objection(owner)
	known = true
	return text, known
}

func objectedBetween[T, W any](objection func(T, W) string, resource T, owner W) (text string, known bool) {
	defer func() {
		if !known {
			passNil(recover())
		}
	}()
	text = objection(resource, owner)
	known = true
	return text, known
}
