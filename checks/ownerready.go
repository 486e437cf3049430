package checks

import (
	"cmp"
	"context"
	"strconv"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// OwnerReady proceeds if the owner is ready for its own generation and is not
// being deleted. A root resource, whose Owner is the zero [Object], proceeds
// ([WithRequiredOwner]). An owner that is not found blocks, and so does one
// that does not report its readiness. An owner known only by its cloud ID
// proceeds, because its readiness cannot be determined, and the trace says so
// ([WithByIDBlocked]).
//
// A block is retried at [classify.Fast]. Engines that watch also requeue when
// the owner changes. A block because of WithRequiredOwner is retried at
// [classify.OnChange], and one because of WithByIDBlocked at [classify.Slow].
func OwnerReady(opts ...Option) OwnerMiddleware {
	s := configure("OwnerReady", opts, "WithByIDBlocked", "WithRequiredOwner")
	return Check(s.check, func(ctx context.Context, req *OwnerRequest) (Result, error) {
		o := &req.Owner
		switch {
		case o.ready(), req.Deleting && req.ownerGone(ctx), o.none() && !s.required:
			return Proceed(), nil
		case o.none():
			return s.blocked(ReasonOwnerNotFound, classify.OnChange, nil, "there is no owner, and one is required: name an owner"), nil
		}
		return s.readiness(ctx, &ofOwner, "owner ", &o.Ref, o), nil
	})
}

// unready holds the reasons of an object that is not ready. An empty found
// stands for the reasons of an owner.
type unready struct{ notFound, byID, found string }

var (
	ofOwner     = unready{ReasonOwnerNotFound, ReasonOwnerByID, ""}
	ofReference = unready{ReasonReferenceNotFound, ReasonReferenceByID, ReasonReferenceNotReady}
)

// readiness decides about the object o that ref names, which is not ready. In a
// message, before precedes its name.
func (s *settings) readiness(ctx context.Context, why *unready, before string, ref *Ref, o *Object) Result {
	r, found := &o.Readiness, o.Found()
	reason, text := ReasonOwnerUnknown, " has not reported yet whether it is ready"
	switch {
	case !found && !ref.ByIDOnly():
		return s.blocked(why.notFound, classify.Fast, ref, before, notFound)
	case !found && s.idBlocks:
		return s.blocked(why.byID, classify.Slow, ref, before, " is known by its ID only, so its readiness cannot be determined")
	case !found:
		chain.Note(ctx, before+ref.ID+" is known by its ID only")
		return Proceed()
	case o.Deleting:
		return s.blocked(cmp.Or(why.found, ReasonOwnerDeleting), classify.Fast, ref, before, " is being deleted")
	case r.State == Ready:
		var observed, now [20]byte // on the stack, so that only the message is allocated
		return s.blocked(cmp.Or(why.found, ReasonOwnerStale), classify.Fast, ref, before, " was ready for generation ",
			string(strconv.AppendInt(observed[:0], r.Observed, 10)), " of its spec, which is at ", string(strconv.AppendInt(now[:0], r.Generation, 10)), " now")
	case r.State == NotReady:
		reason, text = ReasonOwnerNotReady, " is not ready"
	}
	return s.blocked(cmp.Or(why.found, reason), classify.Fast, ref, before, text, colon(r.Reason), r.Reason, colon(r.Message), r.Message)
}

// colon returns the separator before a text.
func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": "
}
