package flow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// State is the result of a pass in one word.
type State uint8

const (
	// StateUnknown is the state of the zero [Outcome]. No pass ends in it.
	StateUnknown State = iota
	// StateReady: every point proceeded, and the cloud matches the spec.
	StateReady
	// StateBlocked: a check blocked the pass.
	StateBlocked
	// StateFailed: the pass failed with an error, and Classify classified it.
	StateFailed
	// StateInProgress: an operation of Apply is under way in the cloud.
	StateInProgress
	// StateDeleting: an operation of Delete is under way in the cloud.
	StateDeleting
	// StateGone: the resource is deleted. There is nothing to write and no reason to requeue.
	StateGone
	// StateCanceled: the context of the pass was canceled. There is nothing to write.
	StateCanceled
)

// String returns the state as it reads in a sentence, such as "in progress".
func (s State) String() string {
	words := [...]string{"unknown", "ready", "blocked", "failed", "in progress", "deleting", "gone", "canceled"}
	if int(s) < len(words) {
		return words[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Reasons of outcomes that get no reason from a check or an error.
const (
	ReasonSucceeded  = "Succeeded"
	ReasonInProgress = "InProgress"
	ReasonDeleting   = "Deleting"
	// ReasonCheckFailed is the reason of a check that failed with an error without a code.
	ReasonCheckFailed = "CheckFailed"
)

// Outcome is the result of a pass. [Reconciler.Reconcile] makes it; a link on Pass makes one with
// [Stop]. The zero Outcome has no content, and its state is [StateUnknown].
type Outcome struct {
	o     *outcome
	delay time.Duration // the delay that Backoff returned; 0: none
	at    *chain.Link   // the link on Pass that stopped the pass
}

type outcome struct {
	state           State
	retry           classify.Retry
	severity        classify.Severity
	point, link     string
	reason, message string
	rule, code      string
	after           time.Duration
	due             time.Duration // the time left until ReadyWithin fails the pass; 0: no time-out
	refs            []checks.Ref
	generation      int64
	err             error
}

var (
	ready = &outcome{state: StateReady, reason: ReasonSucceeded}
	gone  = &outcome{state: StateGone}
	none  outcome
)

// Stop makes an outcome of a block, for a link on Pass that ends the pass before it begins: another
// process holds the lock, for example. A result that does not block gives the zero Outcome, with which
// the pass fails.
func Stop(block checks.Result) Outcome {
	if !block.Blocked() {
		return Outcome{}
	}
	return Outcome{o: blocked(PointPass, block)}
}

func blocked(point string, res checks.Result) *outcome {
	o := &outcome{
		state: StateBlocked, point: point, reason: res.Reason(), message: res.Message(),
		retry: res.Retry(), severity: res.Retry().Severity(), after: res.After(), refs: res.WaitingFor(),
	}
	if l := res.Link(); l != nil {
		o.link = l.Name
	}
	return o
}

// uncheckable rewrites o to report that a check failed. A check that fails does not block.
func (o *outcome) uncheckable() {
	if o.code == "" {
		o.reason = ReasonCheckFailed
	}
	check := "a check at " + o.point
	if o.link != "" {
		check = "check " + cutAt(o.link, maxShownLink)
	}
	o.message = check + " failed: " + bounded(o.message)
}

// maxShownLink is the number of bytes of a link's name that a message repeats.
const maxShownLink = 200

func (o Outcome) get() *outcome {
	if o.o == nil {
		return &none
	}
	return o.o
}

// State returns the result of the pass in one word.
func (o Outcome) State() State { return o.get().state }

// Point returns the extension point where the pass stopped; empty for [StateReady] and [StateGone].
func (o Outcome) Point() string { return o.get().point }

// Link returns the name of the link that stopped the pass; empty if the operation itself stopped it.
func (o Outcome) Link() string {
	if o.at != nil {
		return o.at.Name
	}
	return o.get().link
}

// Reason returns one word for machines. It is valid as the reason of a Kubernetes condition.
func (o Outcome) Reason() string { return o.get().reason }

// Message returns the whole text for the operator. [Outcome.Conditions] cuts a text that is too long
// for Kubernetes.
func (o Outcome) Message() string { return o.get().message }

// Severity returns [classify.Error] if only a change helps, and [classify.Warning] if the pass is
// retried sooner. It returns [classify.Info] while an operation is under way, and otherwise an empty
// Severity.
func (o Outcome) Severity() classify.Severity { return o.get().severity }

// Retry returns how soon to retry after a block or an error; otherwise [classify.Unset].
func (o Outcome) Retry() classify.Retry { return o.get().retry }

// Rule returns the rule that classified the error; empty if none did.
func (o Outcome) Rule() string { return o.get().rule }

// After returns the delay that the check or the server set; zero if neither did.
func (o Outcome) After() time.Duration { return o.get().after }

// WaitingFor lists the awaited objects. A new pass is useful when one of them changes.
func (o Outcome) WaitingFor() []checks.Ref { return slices.Clone(o.get().refs) }

// Err returns the error that the pass failed with, for errors.Is and errors.As. It is nil unless the
// pass failed or was canceled.
func (o Outcome) Err() error { return o.get().err }

// Generation returns the generation of the spec that the pass worked on. It is set for blocks, errors
// and operations under way.
func (o Outcome) Generation() int64 { return o.get().generation }

// stopped reports whether Stop made o.
func (o Outcome) stopped() bool { return o.State() == StateBlocked && o.Point() == PointPass }

// IsZero reports whether o is the zero Outcome.
func (o Outcome) IsZero() bool { return o.o == nil }

// Again returns the delay after which to requeue the resource, and whether to requeue it at all. The
// delay comes from the reconciler's [Backoff] and grows with each failure. With [WithoutBackoff] it is
// always the first delay of a new Backoff, without jitter. The delay is at least 1 s, unless the
// Backoff is set to a shorter one. It is zero only if again is false.
func (o Outcome) Again() (delay time.Duration, again bool) {
	switch {
	case o.State() == StateGone || o.State() == StateCanceled:
		return 0, false
	case o.delay > 0:
		return o.delay, true
	}
	return stateless.delay(o, 0), true
}

// String returns one line: "blocked at OwnerCheck by OwnerReady: OwnerNotFound: owner Cluster c was not
// found".
func (o Outcome) String() string {
	d := o.get()
	var b strings.Builder
	b.WriteString(d.state.String())
	if d.point != "" {
		b.WriteString(" at " + d.point)
	}
	if link := o.Link(); link != "" {
		b.WriteString(" by " + link)
	}
	if d.message != "" {
		b.WriteString(": ")
		if d.reason != "" {
			b.WriteString(d.reason + ": ")
		}
		b.WriteString(d.message)
	}
	return b.String()
}

// Describe implements [chain.Described]. For a whole pass it returns the state and the reason.
func (o Outcome) Describe(link *chain.Link) (verdict, reason string) {
	d := o.get()
	switch {
	case link.Kind != chain.LinkKind:
		return d.state.String(), d.reason
	case o.at != link:
		return chain.VerdictProceed, ""
	case d.state == StateBlocked:
		return "block", d.reason
	}
	return chain.VerdictError, d.reason
}
