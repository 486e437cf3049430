package checks

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/text"
)

// Result is the decision of a check. Only these functions make one:
//
//   - [Proceed]: the next check runs, and after the last one the work.
//   - [Skip]: the work runs without the inner checks.
//   - [Block]: the work has to wait.
//   - [Ignore]: the resource belongs to another controller. Nothing is written.
//   - [Finished]: the resource needs no more work until its spec changes.
//   - [Release]: the resource is released without a deletion in the cloud.
//
// The zero Result is no decision: [Compose] returns an error for it.
type Result struct {
	d *decision
}

type decision struct {
	verdict         verdict
	retry           classify.Retry
	reason, message string
	after           time.Duration
	negative        time.Duration // a negative delay, which only the trace shows
	keepsStatus     bool
	self            bool // waits for the resource itself
	refs            []Ref
	ref             [1]Ref      // the storage for one ref, the usual number
	inner           *chain.Link // the link of OnOwner that decided
}

// verdict is the kind of a decision. [All] reports the greatest one.
type verdict uint8

const (
	undecided verdict = iota
	proceeds
	skips
	releases
	blocks
	finishes
	ignores
)

func (v verdict) String() string {
	return [...]string{"undecided", chain.VerdictProceed, chain.VerdictSkip, "release", chain.VerdictBlock, "finish", "ignore"}[v]
}

var (
	proceed = &decision{verdict: proceeds}
	none    decision
)

// Proceed continues with the next inner link. After the last link the work
// starts.
func Proceed() Result { return Result{d: proceed} }

// Skip starts the work without the inner links, on purpose, for
// instance because the operator forces a change. The trace shows why. A raw
// link that proceeds without calling next must return Skip, because Proceed is
// then an error. To leave out the work as well, use [Ignore].
func Skip(why string) Result {
	return Result{d: &decision{verdict: skips, message: why}}
}

// Ignore ends the pass and leaves the resource untouched, because it belongs to
// another controller. The engine writes no finalizer, condition or event, and
// calls neither Apply nor Delete. The trace shows why.
//
// The resource is reconciled again when it changes. If it may belong to this
// controller later, add awaited objects ([WithWaitingFor]) or another pass
// ([WithAfter], [WithRetry]). The flow refuses Ignore after Apply.
func Ignore(why string, opts ...BlockOption) Result {
	return (&decision{verdict: ignores, message: why}).with(opts)
}

// Finished ends the work for good with success: a backup is complete, a
// certificate is issued. The resource is Ready with this reason and message,
// and no link of Apply runs. It is reconciled again only when its spec changes
// or a user deletes it. While a user deletes it, Finished of [Check] and [Gate]
// proceeds. A raw link has to call next itself then: the flow refuses its Finished,
// because the inner links, such as [Unused], have not run.
//
// For an end without success, use [Block] with [WithRetry] of [classify.Never].
// reason and message are as for Block.
func Finished(reason, message string) Result {
	return Result{d: (&decision{verdict: finishes}).because(reason, message)}
}

// Release drops a resource that a user deletes, without a deletion in the
// cloud. Use it if the retain policy says so, or if the owner took the resource
// with it. The pass ends as if Delete had succeeded, and the trace shows why.
// The flow refuses Release unless a user deletes the resource.
func Release(why string) Result {
	return Result{d: &decision{verdict: releases, message: why}}
}

// Block stops the work of this pass. It is not an error: the work has to wait.
// Without options it is retried at [classify.Slow].
//
// reason is one word for machines, in the form of a Kubernetes condition reason:
// 1 to 1,024 characters that match ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$. A
// reason that is not valid still blocks: it becomes [ReasonInvalid], and the
// message names the fault.
//
// message is for people. It should name the awaited object and what unblocks
// the work. An empty message becomes the reason.
func Block(reason, message string, opts ...BlockOption) Result {
	return (&decision{verdict: blocks, retry: classify.Slow}).because(reason, message).with(opts)
}

// with applies options, and returns the decision as a Result.
func (d *decision) with(opts []BlockOption) Result {
	for i := range opts {
		opts[i].to(d)
	}
	return Result{d: d}
}

// because sets the reason and the message.
func (d *decision) because(word, message string) *decision {
	d.reason, d.message = word, cmp.Or(message, word)
	if !reason.Valid(word) {
		d.reason = ReasonInvalid
		d.message = "the reason " + strconv.Quote(text.Line(word, text.Word)) + " is not a condition reason (a letter, then letters, digits and _,: only): " + message
	}
	return d
}

// BlockOption adds to a [Block] or an [Ignore]. As an [Option] of a prebuilt
// check it applies to every block of that check.
type BlockOption struct {
	retry             classify.Retry
	after             time.Duration
	keepsStatus, self bool
	refs              []Ref
}

func (o *BlockOption) to(d *decision) {
	d.keepsStatus = d.keepsStatus || o.keepsStatus
	d.self = d.self || o.self
	if o.retry > classify.Unset && o.retry <= classify.Never {
		d.retry = o.retry
	}
	switch {
	case o.after > 0:
		d.after = o.after
	case o.after < 0:
		d.negative = o.after
	}
	switch {
	case len(o.refs) == 0:
	case len(d.refs) == 0 && len(o.refs) == 1:
		d.ref[0] = o.refs[0]
		d.refs = d.ref[:]
	default:
		var unique refSet
		for _, refs := range [][]Ref{d.refs, o.refs} {
			for i := range refs {
				unique.add(&refs[i])
			}
		}
		d.refs = unique.refs
	}
}

// WithRetry sets how soon to retry. [classify.Unset] and an invalid Retry
// change nothing.
func WithRetry(r classify.Retry) BlockOption { return BlockOption{retry: r} }

// WithAfter requests one retry after d, in place of the back-off and, if d is
// longer, of the resync. A change of an awaited object causes a pass earlier.
// With [classify.OnChange] and [classify.Never], d has no effect. Zero and a
// negative d change nothing. The trace shows a negative d.
func WithAfter(d time.Duration) BlockOption { return BlockOption{after: d} }

// WithWaitingFor adds awaited objects, so that an engine can requeue the
// resource when they change. A zero Ref names nothing and is left out.
func WithWaitingFor(refs ...Ref) BlockOption {
	return BlockOption{refs: slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return r == Ref{} })}
}

// WithWaitingForSelf requeues the resource when its own status changes. Use it
// for a check that waits until another controller writes there, for instance an
// approver. Without it engines requeue a resource only when its spec changes.
func WithWaitingForSelf() BlockOption { return BlockOption{self: true} }

// WithStatusKept leaves the conditions of the resource as the last pass wrote
// them. Use it for a block that is expected to end within moments, so that the
// conditions do not flap. The trace and the log show the block.
func WithStatusKept() BlockOption { return BlockOption{keepsStatus: true} }

// IsZero reports whether r is the zero Result, which is no decision.
func (r Result) IsZero() bool { return r.d == nil }

// Proceeds reports whether the work may start: r was made by [Proceed] or
// [Skip].
func (r Result) Proceeds() bool { return r.is(proceeds) || r.is(skips) }

// Skipped reports whether r was made by [Skip].
func (r Result) Skipped() bool { return r.is(skips) }

// Blocked reports whether r was made by [Block].
func (r Result) Blocked() bool { return r.is(blocks) }

// Ignored reports whether r was made by [Ignore].
func (r Result) Ignored() bool { return r.is(ignores) }

// IsFinished reports whether r was made by [Finished].
func (r Result) IsFinished() bool { return r.is(finishes) }

// Released reports whether r was made by [Release].
func (r Result) Released() bool { return r.is(releases) }

func (r Result) is(v verdict) bool { return r.get().verdict == v }

// get returns the decision; that of the zero Result has no verdict.
func (r Result) get() *decision {
	if r.d == nil {
		return &none
	}
	return r.d
}

// KeepsStatus reports whether the engine leaves the conditions of the resource
// as they are: r was made by [Ignore], or with [WithStatusKept].
func (r Result) KeepsStatus() bool { return r.get().keepsStatus || r.is(ignores) }

// WaitsForSelf reports whether r was made with [WithWaitingForSelf].
func (r Result) WaitsForSelf() bool { return r.get().self }

// Reason returns the reason of [Block] or [Finished], or else an empty string.
func (r Result) Reason() string { return r.get().reason }

// Message returns the message of [Block] or [Finished], or the text why of
// [Skip], [Ignore] or [Release], or else an empty string. It is the raw text:
// it may quote other systems, have several lines and hold secrets. To show it,
// use [Result.String].
func (r Result) Message() string { return r.get().message }

// Retry returns how soon to retry. It is [classify.Unset] unless r is a block,
// or an [Ignore] with [WithRetry].
func (r Result) Retry() classify.Retry { return r.get().retry }

// After returns the delay set by [WithAfter], or zero if there is none.
func (r Result) After() time.Duration { return r.get().after }

// WaitingFor returns the awaited objects, each once, without the resource
// itself ([Result.WaitsForSelf]).
func (r Result) WaitingFor() []Ref { return slices.Clone(r.get().refs) }

// Equal reports whether r and o are the same decision.
func (r Result) Equal(o Result) bool {
	a, b := r.get(), o.get()
	return a.verdict == b.verdict && a.retry == b.retry && a.reason == b.reason && a.message == b.message &&
		a.after == b.after && a.keepsStatus == b.keepsStatus && a.self == b.self && slices.Equal(a.refs, b.refs)
}

// String returns one line for a log or a test, without control characters and
// known secrets. A message of more than 2,000 bytes is cut.
func (r Result) String() string {
	d := r.get()
	var b strings.Builder
	b.WriteString(d.verdict.String())
	if d.reason != "" {
		b.WriteString(" " + d.reason)
	}
	if d.message != "" {
		b.WriteString(": " + text.Line(d.message, text.Quote))
	}
	var again, awaited []string
	if d.retry != classify.Unset {
		again = append(again, d.retry.String())
	}
	if d.after > 0 {
		again = append(again, "in "+d.after.String())
	}
	for _, ref := range d.refs {
		awaited = append(awaited, ref.String())
	}
	if d.self {
		awaited = append(awaited, "its own status")
	}
	if len(awaited) > 0 {
		again = append(again, "waiting for "+strings.Join(awaited, " and "))
	}
	if len(again) > 0 {
		b.WriteString(" [" + strings.Join(again, ", ") + "]")
	}
	return text.Line(b.String(), text.Message)
}

// Describe returns the verdict for [chain.Exit.Verdict] and the reason of a
// block or a finish. The verdict is proceed, skip, release, block, finish or
// ignore; for the zero Result it is undecided.
func (r Result) Describe() (verdict, reason string) {
	return r.get().verdict.String(), r.get().reason
}

// refSet is a list of refs without duplicates. The zero refSet is empty.
type refSet struct {
	refs []Ref
	has  map[Ref]bool // nil while the list is short
}

func (s *refSet) add(ref *Ref) {
	const short = 8 // faster to search than a map
	switch {
	case s.has == nil && slices.Contains(s.refs, *ref) || s.has[*ref]:
		return
	case s.has == nil && len(s.refs) == short:
		s.has = make(map[Ref]bool, 2*short)
		for _, r := range s.refs {
			s.has[r] = true
		}
	}
	if s.has != nil {
		s.has[*ref] = true
	}
	s.refs = append(s.refs, *ref)
}

// noteFaults adds the faults of the result to the trace of the current link.
func (r Result) noteFaults(ctx context.Context) {
	if r.get().negative < 0 {
		chain.Note(ctx, "WithAfter("+r.d.negative.String()+") is negative and was ignored")
	}
}

// The reasons of the blocks of the prebuilt checks. The option [WithReason]
// replaces most of them.
const (
	ReasonOwnerNotSet          = "OwnerNotSet"            // no reference names the owner, and one is needed
	ReasonOwnerNotFound        = "OwnerNotFound"          // the owner does not exist
	ReasonOwnerAmbiguous       = "OwnerAmbiguous"         // a query names the owner, and several objects match it
	ReasonOwnerNotReady        = "OwnerNotReady"          // the owner reports that it is not ready
	ReasonOwnerUnknown         = "OwnerReadinessUnknown"  // the owner has not reported whether it is ready
	ReasonOwnerStale           = "OwnerReadinessStale"    // the owner was ready, but for an older generation of its spec
	ReasonOwnerDeleting        = "OwnerDeleting"          // the owner is being deleted
	ReasonOwnerByID            = "OwnerKnownByIDOnly"     // only the owner's cloud ID is known, and the check needs more
	ReasonOwnerState           = "OwnerState"             // the owner is in a state that does not allow the work
	ReasonOwnerStateUnknown    = "OwnerStateUnknown"      // the owner has not reported the state that the check reads
	ReasonOwnerWrongKind       = "OwnerWrongKind"         // the owner has another Go type than the check expects
	ReasonOwnerUnsuitable      = "OwnerUnsuitable"        // the owner does not suit the resource, as the message says
	ReasonState                = "ResourceState"          // the resource is in a state that does not allow the work
	ReasonStateUnknown         = "ResourceStateUnknown"   // the resource, which may exist, has not reported a state
	ReasonResourceUnsuitable   = "ResourceUnsuitable"     // there is an objection to the resource, as the message says
	ReasonResourceAbsent       = "ResourceAbsent"         // the resource is not in the cloud although Apply has succeeded
	ReasonReferenceNotSet      = "ReferenceNotSet"        // a reference has no name
	ReasonReferenceNotFound    = "ReferenceNotFound"      // a referenced object does not exist
	ReasonReferenceNotReady    = "ReferenceNotReady"      // a referenced object is not known to be ready
	ReasonReferenceByID        = "ReferenceKnownByIDOnly" // only the cloud ID of a referenced object is known, and the check needs more
	ReasonReferenceUnknown     = "ReferenceStateUnknown"  // a referenced object has not reported the field that the check reads
	ReasonReferenceWrongKind   = "ReferenceWrongKind"     // a referenced object has another Go type than the check expects
	ReasonReferenceUnsuitable  = "ReferenceUnsuitable"    // a referenced object does not suit the resource, as the message says
	ReasonInUse                = "InUse"                  // other objects still use the resource that a user deletes
	ReasonNotUnique            = "NotUnique"              // an older object has what only one object may have
	ReasonApprovalPending      = "ApprovalPending"        // a person has to approve
	ReasonApprovalRejected     = "ApprovalRejected"       // a person rejected the request for approval
	ReasonApprovalDisconnected = "ApprovalDisconnected"   // the approved thing was disconnected
	ReasonApprovalAbsent       = "ApprovalAbsent"         // the thing to approve, or its approval status, is not reported yet
	ReasonApprovalUnknown      = "ApprovalUnknown"        // the approval has a status that is not in the [Vocabulary]
	ReasonSpecInvalid          = "SpecInvalid"            // the spec breaks a rule
	ReasonPaused               = "Paused"                 // a person paused the resource
	ReasonInvalid              = "InvalidReason"          // a check gave a reason that is not valid; see [Block]
)
