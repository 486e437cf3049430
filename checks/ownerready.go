package checks

import (
	"context"
	"strconv"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// OwnerReady proceeds if the owner is ready for its own generation and is not being deleted. A root
// resource, whose Owner is the zero [Object], proceeds ([Required]). An owner that is not found
// blocks, and so does one that does not report its readiness. An owner known only by its cloud ID
// proceeds, because its readiness cannot be determined, and the trace says so ([ByIDBlocks]).
//
// A block is retried at [classify.Fast]. Engines that watch also requeue when the owner changes. A
// block because of Required is retried at [classify.OnChange], and one because of ByIDBlocks at
// [classify.Slow].
func OwnerReady(opts ...Option) OwnerMiddleware {
	s := configure("OwnerReady", forOwnerReady, opts)
	return Check("OwnerReady", func(ctx context.Context, req *OwnerRequest) (Result, error) {
		o := &req.Owner
		switch {
		case req.Deleting && req.ownerGone(ctx):
			return Proceed(), nil
		case o.Found():
		case o.none() && s.required:
			return s.blocked(ReasonOwnerNotFound, classify.OnChange, Ref{}, "there is no owner, and one is required: name an owner"), nil
		case o.none():
			return Proceed(), nil
		case o.Ref.ByIDOnly():
			return s.byID(ctx, ReasonOwnerByID, "owner ", o.Ref), nil
		default:
			return s.ownerNotFound(o.Ref), nil
		}
		if o.ready() {
			return Proceed(), nil
		}
		if why, text := unready("owner ", o.Ref, o); why != nil {
			return s.blocked(why.owner, classify.Fast, o.Ref, text), nil
		}
		return Proceed(), nil
	})
}

// byID returns the result for an object that is known only by its cloud ID.
func (s *settings) byID(ctx context.Context, reason, what string, ref Ref) Result {
	if !s.idBlocks {
		chain.Note(ctx, what+ref.ID+" is known by its ID only")
		return Proceed()
	}
	return s.blocked(reason, classify.Slow, ref, sentence(what, ref, " is known by its ID only, so its readiness cannot be determined"))
}

// reasons holds the reason for one unready state, for an owner and for a reference.
type reasons struct{ owner, reference string }

var (
	isDeleting = &reasons{ReasonOwnerDeleting, ReasonReferenceNotReady}
	isNotReady = &reasons{ReasonOwnerNotReady, ReasonReferenceNotReady}
	isUnknown  = &reasons{ReasonOwnerUnknown, ReasonReferenceNotReady}
	isStale    = &reasons{ReasonOwnerStale, ReasonReferenceNotReady}
)

// unready returns the reason and a message if an object that was found is not ready. The message
// begins with before. The reason is nil if the object is ready.
func unready(before string, ref Ref, o *Object) (why *reasons, text string) {
	r := &o.Readiness
	switch {
	case o.Deleting:
		return isDeleting, sentence(before, ref, " is being deleted")
	case r.State == Ready && !r.stale():
		return nil, ""
	case r.State == Ready:
		var observed, now [20]byte // on the stack, so that only the sentence is allocated
		return isStale, sentence(before, ref, " was ready for generation ", string(strconv.AppendInt(observed[:0], r.Observed, 10)),
			" of its spec, which is at ", string(strconv.AppendInt(now[:0], r.Generation, 10)), " now")
	case r.State == NotReady:
		return isNotReady, r.report(before, ref, " is not ready")
	}
	return isUnknown, r.report(before, ref, " has not reported yet whether it is ready")
}

// report returns a sentence that ends with the reason and message that the object reported.
func (r *Readiness) report(before string, ref Ref, words string) string {
	var reason, message string // the separators before Reason and Message
	if r.Reason != "" {
		reason = ": "
	}
	if r.Message != "" {
		message = ": "
	}
	return sentence(before, ref, words, reason, r.Reason, message, r.Message)
}
