package checks

import (
	"context"
	"strconv"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// OwnerReady lets the work go on if the owner is ready for its own generation and not being deleted. It is looked at
// again at [classify.Fast], and whenever the owner changes in engines that watch.
//
// A root resource, whose Owner is the zero [Object], goes on. An owner that is not found blocks. One that nobody here
// knows more of than its cloud ID goes on, as nobody could ever say more, and the trace says so ([ByIDBlocks]). One that
// says nothing of its readiness blocks.
func OwnerReady(opts ...Option) OwnerMiddleware {
	s := configure("OwnerReady", forOwnerReady, opts)
	return Check("OwnerReady", func(ctx context.Context, req *OwnerRequest) (Result, error) {
		o := &req.Owner
		switch {
		case req.Deleting && req.ownerGone(ctx):
			return Proceed(), nil
		case o.Found():
		case o.none():
			return Proceed(), nil
		case o.Ref.ByIDOnly():
			return s.byID(ctx, ReasonOwnerByID, "owner ", o.Ref), nil
		default:
			return s.ownerNotFound(o.Ref), nil
		}
		if why, text := unready("owner ", o.Ref, o); why != nil {
			return s.blocked(why.owner, classify.Fast, o.Ref, text), nil
		}
		return Proceed(), nil
	})
}

// byID is what an object comes to of which nobody here knows more than the ID.
func (s *settings) byID(ctx context.Context, reason, what string, ref Ref) Result {
	if !s.idBlocks {
		chain.Note(ctx, what+ref.ID+" is known by its ID only")
		return Proceed()
	}
	return s.blocked(reason, classify.Slow, ref, sentence(what, ref, " is known by its ID only, so that nobody can tell whether it is ready"))
}

// reasons is why an object is not ready, said of an owner and of what a reference names.
type reasons struct{ owner, reference string }

var (
	isDeleting = &reasons{ReasonOwnerDeleting, ReasonReferenceNotReady}
	isNotReady = &reasons{ReasonOwnerNotReady, ReasonReferenceNotReady}
	isUnknown  = &reasons{ReasonOwnerUnknown, ReasonReferenceNotReady}
	isStale    = &reasons{ReasonOwnerStale, ReasonReferenceNotReady}
)

// unready says why the object that ref names, which was found, is not ready: as a reason, and in words that begin with
// before. The reason is nil if it is ready.
func unready(before string, ref Ref, o *Object) (why *reasons, text string) {
	r := &o.Readiness
	switch {
	case o.Deleting:
		return isDeleting, sentence(before, ref, " is being deleted")
	case r.State == Ready && !r.stale():
		return nil, ""
	case r.State == Ready:
		var observed, now [20]byte // on the stack, so that the sentence is all that is allocated
		return isStale, sentence(before, ref, " was ready for generation ", string(strconv.AppendInt(observed[:0], r.Observed, 10)),
			" of its spec, which is at ", string(strconv.AppendInt(now[:0], r.Generation, 10)), " now")
	case r.State == NotReady:
		return isNotReady, r.said(before, ref, " is not ready")
	}
	return isUnknown, r.said(before, ref, " has not said yet whether it is ready")
}

// said is a sentence, and what the object itself says of its readiness.
func (r *Readiness) said(before string, ref Ref, words string) string {
	var reason, message string // what goes in front of each
	if r.Reason != "" {
		reason = ": "
	}
	if r.Message != "" {
		message = ": "
	}
	return sentence(before, ref, words, reason, r.Reason, message, r.Message)
}
