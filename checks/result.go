package checks

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// Result is the decision of a check. Only [Proceed], [Skip] and [Block] make one. The zero Result
// is no decision: [Compose] returns an error for it.
type Result struct {
	d *decision
}

type decision struct {
	verdict         verdict
	retry           classify.Retry
	reason, message string
	after           time.Duration
	negative        time.Duration // a negative delay, which only the trace shows
	refs            []Ref
	ref             [1]Ref      // the storage for one ref, the usual number
	inner           *chain.Link // the link of OnOwner that blocked
}

type verdict uint8

const (
	undecided verdict = iota
	proceeds
	skips
	blocks
)

func (v verdict) String() string {
	return [...]string{"undecided", chain.VerdictProceed, "skip", "block"}[v]
}

var proceed = &decision{verdict: proceeds}

// Proceed continues with the next inner link. After the last link the guarded work starts.
func Proceed() Result { return Result{d: proceed} }

// Skip lets the guarded work start without running the inner links, on purpose: "not managed by
// us". The trace shows why. A raw link that does not call next must return Skip to proceed, because
// Proceed is then an error.
func Skip(why string) Result {
	return Result{d: &decision{verdict: skips, message: why}}
}

// Block stops the work of this pass. It is not an error: the work has to wait. Without options it
// is retried at [classify.Slow].
//
// reason is one word for machines, in the form of a reason of a Kubernetes condition: a letter,
// then letters, digits and "_,:", at most 1,024 characters ([ValidReason]). A reason that is not
// valid still blocks. It becomes [ReasonInvalid], and the message then names the fault.
//
// message is for people and should name the awaited object. An empty message becomes the reason.
func Block(reason, message string, opts ...BlockOption) Result {
	d := &decision{verdict: blocks, reason: reason, message: message, retry: classify.Slow}
	for i := range opts {
		opts[i].to(d)
	}
	if !ValidReason(reason) {
		d.reason = ReasonInvalid
		d.message = "the reason " + strconv.Quote(shorten(reason)) + " is not a condition reason (a letter, then letters, digits and _,: only): " + message
	} else if message == "" {
		d.message = reason
	}
	return Result{d: d}
}

// BlockOption adds to a [Block]. As an [Option] of a prebuilt check it applies to every block of
// that check.
type BlockOption struct {
	retry classify.Retry
	after time.Duration
	refs  []Ref
}

func (o *BlockOption) to(d *decision) {
	if o.retry > classify.Unset && o.retry <= classify.OnChange {
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
			for _, ref := range refs {
				unique.add(ref)
			}
		}
		d.refs = unique.refs
	}
}

// WithRetry sets how soon to retry. [classify.Unset] and an invalid Retry change nothing.
func WithRetry(r classify.Retry) BlockOption { return BlockOption{retry: r} }

// WithAfter requests one retry after d, in place of the back-off. Zero and a
// negative d change nothing. The trace shows a negative d.
func WithAfter(d time.Duration) BlockOption { return BlockOption{after: d} }

// WithWaitingFor adds awaited objects, so that an engine can requeue the
// resource when they change. A zero Ref names nothing and is left out.
func WithWaitingFor(refs ...Ref) BlockOption {
	return BlockOption{refs: slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return r == Ref{} })}
}

// IsZero reports whether r is the zero Result, which is no decision.
func (r Result) IsZero() bool { return r.d == nil }

// Proceeds reports whether the work may start: r was made by [Proceed] or [Skip].
func (r Result) Proceeds() bool { return r.d != nil && r.d.verdict != blocks }

// Skipped reports whether r was made by [Skip].
func (r Result) Skipped() bool { return r.d != nil && r.d.verdict == skips }

// Blocked reports whether r was made by [Block].
func (r Result) Blocked() bool { return r.d != nil && r.d.verdict == blocks }

// Reason returns the reason of a block, or else an empty string.
func (r Result) Reason() string {
	if r.d == nil {
		return ""
	}
	return r.d.reason
}

// Message returns the message of a block or the explanation of a skip, or else an empty string.
func (r Result) Message() string {
	if r.d == nil {
		return ""
	}
	return r.d.message
}

// Retry returns how soon to retry after a block, or else [classify.Unset].
func (r Result) Retry() classify.Retry {
	if r.d == nil {
		return classify.Unset
	}
	return r.d.retry
}

// After returns the delay set by [WithAfter], or zero if there is none.
func (r Result) After() time.Duration {
	if r.d == nil {
		return 0
	}
	return r.d.after
}

// WaitingFor returns the awaited objects of a block, each once.
func (r Result) WaitingFor() []Ref {
	if r.d == nil {
		return nil
	}
	return slices.Clone(r.d.refs)
}

// Equal reports whether r and o are the same decision.
func (r Result) Equal(o Result) bool {
	if r.d == nil || o.d == nil {
		return r.d == o.d
	}
	a, b := r.d, o.d
	return a.verdict == b.verdict && a.retry == b.retry && a.reason == b.reason && a.message == b.message &&
		a.after == b.after && slices.Equal(a.refs, b.refs)
}

// String returns one line for a log or a test.
func (r Result) String() string {
	if r.d == nil {
		return undecided.String()
	}
	var b strings.Builder
	b.WriteString(r.d.verdict.String())
	if r.d.reason != "" {
		b.WriteString(" " + r.d.reason)
	}
	if r.d.message != "" {
		b.WriteString(": " + r.d.message)
	}
	if r.d.verdict == blocks {
		b.WriteString(" [" + r.d.retry.String())
		if r.d.after > 0 {
			b.WriteString(", in " + r.d.after.String())
		}
		for i, ref := range r.d.refs {
			if i == 0 {
				b.WriteString(", waiting for ")
			} else {
				b.WriteString(" and ")
			}
			b.WriteString(ref.String())
		}
		b.WriteString("]")
	}
	return b.String()
}

// Describe returns the verdict for [chain.Exit.Verdict], which is proceed, skip or block, and the
// reason of a block.
func (r Result) Describe() (verdict, reason string) {
	if r.d == nil {
		return undecided.String(), ""
	}
	return r.d.verdict.String(), r.d.reason
}

// shorten cuts a long text, so that an error does not repeat all of it.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// fewRefs is the largest number of refs for which a search in the list is cheaper than a map.
const fewRefs = 16

// refSet is a list of refs without duplicates. The zero refSet is empty.
type refSet struct {
	refs []Ref
	has  map[Ref]bool
}

func (s *refSet) add(ref Ref) {
	switch {
	case s.has != nil:
		if s.has[ref] {
			return
		}
		s.has[ref] = true
	case slices.Contains(s.refs, ref):
		return
	case len(s.refs) == fewRefs:
		s.has = make(map[Ref]bool, 2*fewRefs)
		for _, r := range s.refs {
			s.has[r] = true
		}
		s.has[ref] = true
	}
	s.refs = append(s.refs, ref)
}

// noteFaults adds the faults of the result of the current link to the trace.
func (r Result) noteFaults(ctx context.Context) {
	if r.d != nil && r.d.negative < 0 {
		chain.Note(ctx, "WithAfter("+r.d.negative.String()+") is negative and was ignored")
	}
}
