package checks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// Result is what a check decided. It is made by [Proceed], [Skip] and [Block] only; the zero Result is no decision, and
// a chain that is run by [Compose] makes an error of it.
type Result struct {
	d  *decision
	at *chain.Link // the link that decided, noted by Compose
}

type decision struct {
	verdict         verdict
	retry           classify.Retry
	reason, message string
	after           time.Duration
	refs            []Ref
	ref             [1]Ref // room for the usual number of refs
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

// Proceed lets the work go on: to the next link, and behind the last one to what the checks stand in front of.
func Proceed() Result { return Result{d: proceed} }

// Skip lets the work go on without asking the links behind this one, on purpose: "not managed by us". The trace shows
// why. In a raw link it is what says that next was left out knowingly, where Proceed without calling next is an error.
func Skip(why string) Result {
	return Result{d: &decision{verdict: skips, message: why}}
}

// Block stops the work: not an error, only not yet. reason is one word for machines, a reason of a Kubernetes condition
// (a letter, then letters, digits and "_,:", at most 1,024); message is for the person who asks why, and should say what
// is waited for. Without options it is looked at again at [classify.Slow].
//
// A reason that is not valid still blocks; it becomes [ReasonInvalid], and the message says what was wrong with it. An
// empty message becomes the reason.
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

// BlockOption says more about a [Block]. As an [Option] of a prebuilt check it holds for every block of that check.
type BlockOption struct {
	retry classify.Retry
	after time.Duration
	refs  []Ref
}

func (o *BlockOption) to(d *decision) {
	if o.retry > classify.Unset && o.retry <= classify.OnChange {
		d.retry = o.retry
	}
	if o.after > 0 {
		d.after = o.after
	}
	switch {
	case len(o.refs) == 0:
	case len(d.refs) == 0 && len(o.refs) == 1:
		d.ref[0] = o.refs[0]
		d.refs = d.ref[:]
	default:
		d.refs = uniqueRefs(slices.Concat(d.refs, o.refs))
	}
}

// Retry says how soon to look again. [classify.Unset], and what is no Retry, leave it as it was.
func Retry(r classify.Retry) BlockOption { return BlockOption{retry: r} }

// RetryIn says to look again once in d, in place of the back-off. Zero and less leave it as it was.
func RetryIn(d time.Duration) BlockOption { return BlockOption{after: d} }

// WaitingFor says which objects the work waits for, so that an engine can come back when they change. A zero Ref names
// nothing and is left out.
func WaitingFor(refs ...Ref) BlockOption {
	return BlockOption{refs: slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool { return r == Ref{} })}
}

// IsZero tells whether it is the zero Result, which is no decision.
func (r Result) IsZero() bool { return r.d == nil }

// Proceeds tells whether the work goes on, after [Proceed] and after [Skip].
func (r Result) Proceeds() bool { return r.d != nil && r.d.verdict != blocks }

// Skipped tells whether it was made by [Skip].
func (r Result) Skipped() bool { return r.d != nil && r.d.verdict == skips }

// Blocked tells whether it was made by [Block].
func (r Result) Blocked() bool { return r.d != nil && r.d.verdict == blocks }

// Reason is the reason of a block; else empty.
func (r Result) Reason() string {
	if r.d == nil {
		return ""
	}
	return r.d.reason
}

// Message is the message of a block, or the why of a skip; else empty.
func (r Result) Message() string {
	if r.d == nil {
		return ""
	}
	return r.d.message
}

// Retry is how soon to look again after a block; else [classify.Unset].
func (r Result) Retry() classify.Retry {
	if r.d == nil {
		return classify.Unset
	}
	return r.d.retry
}

// After is the delay given by [RetryIn]; zero if there is none.
func (r Result) After() time.Duration {
	if r.d == nil {
		return 0
	}
	return r.d.after
}

// WaitingFor lists what a block waits for, each once.
func (r Result) WaitingFor() []Ref {
	if r.d == nil {
		return nil
	}
	return slices.Clone(r.d.refs)
}

// Link is the link that decided, for results, and for errors, that come from [Compose]; nil where no link did.
func (r Result) Link() *chain.Link { return r.at }

// Equal tells whether two results say the same, no matter which link decided.
func (r Result) Equal(o Result) bool {
	if r.d == nil || o.d == nil {
		return r.d == o.d
	}
	a, b := r.d, o.d
	return a.verdict == b.verdict && a.retry == b.retry && a.reason == b.reason && a.message == b.message &&
		a.after == b.after && slices.Equal(a.refs, b.refs)
}

// String is one line for a log or a test.
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

// Describe implements [chain.Described]: the verdict is proceed, skip, block or error.
func (r Result) Describe(link *chain.Link) (verdict, reason string) {
	switch {
	case r.at != nil && r.at != link && link != nil && link.Kind == chain.LinkKind:
		return chain.VerdictProceed, ""
	case r.d == nil, r.at != nil && r.d.verdict == proceeds: // a link is noted beside these only for an error
		return chain.VerdictError, ""
	}
	return r.d.verdict.String(), r.d.reason
}

// shorten keeps an absurd text from being repeated whole in an error.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

func uniqueRefs(refs []Ref) []Ref {
	out := refs[:0]
	for _, r := range refs {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
