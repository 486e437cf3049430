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

// State is what a pass came to, in a word.
type State uint8

const (
	// StateUnknown is that of the zero [Outcome], which no pass comes to.
	StateUnknown State = iota
	// StateReady: everything passed, and the cloud has what the spec says.
	StateReady
	// StateBlocked: a check said not yet.
	StateBlocked
	// StateFailed: there was an error, and it was classified.
	StateFailed
	// StateInProgress: an operation of Apply goes on in the cloud.
	StateInProgress
	// StateDeleting: an operation of Delete goes on in the cloud.
	StateDeleting
	// StateGone: the resource was deleted. There is nothing to write, and nothing to come back for.
	StateGone
	// StateCanceled: the pass's own context was canceled. There is nothing to write.
	StateCanceled
)

// String is the state as a word of a sentence.
func (s State) String() string {
	words := [...]string{"unknown", "ready", "blocked", "failed", "in progress", "deleting", "gone", "canceled"}
	if int(s) < len(words) {
		return words[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Reasons of outcomes that neither a check nor an error gives one to.
const (
	ReasonSucceeded  = "Succeeded"
	ReasonInProgress = "InProgress"
	ReasonDeleting   = "Deleting"
)

// Outcome is what a pass came to. It is made by [Reconciler.Reconcile], and by [Stop] for links on Pass. The zero Outcome
// says nothing.
type Outcome struct {
	o     *outcome
	delay time.Duration // what the Backoff said; 0: there is none
	at    *chain.Link   // the link on Pass that stopped the pass
}

type outcome struct {
	state           State
	retry           classify.Retry
	severity        classify.Severity
	point, link     string
	reason, message string
	rule            string
	after           time.Duration
	refs            []checks.Ref
	generation      int64
	err             error
}

var (
	ready = &outcome{state: StateReady, reason: ReasonSucceeded}
	gone  = &outcome{state: StateGone}
	none  outcome
)

// Stop makes an outcome of a block, for a link on Pass that ends the pass before it began: the lock is held elsewhere. A
// result that does not block gives the zero Outcome, which the pass then refuses.
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

func (o Outcome) get() *outcome {
	if o.o == nil {
		return &none
	}
	return o.o
}

// State is what the pass came to, in a word.
func (o Outcome) State() State { return o.get().state }

// Point is where the pass stopped; empty for [StateReady] and [StateGone].
func (o Outcome) Point() string { return o.get().point }

// Link is the name of the link that the pass stopped at; empty if it was the operation itself.
func (o Outcome) Link() string {
	if o.at != nil {
		return o.at.Name
	}
	return o.get().link
}

// Reason is one word for machines, fit to be the reason of a Kubernetes condition.
func (o Outcome) Reason() string { return o.get().reason }

// Message is for the person who asks why, whole; [Outcome.Conditions] cuts what is too long for Kubernetes.
func (o Outcome) Message() string { return o.get().message }

// Severity is [classify.Error] where only a change of the spec helps, [classify.Warning] where it is tried again,
// [classify.Info] while something goes on, and else empty.
func (o Outcome) Severity() classify.Severity { return o.get().severity }

// Retry is how soon to try again, after a block or an error; else [classify.Unset].
func (o Outcome) Retry() classify.Retry { return o.get().retry }

// Rule is the rule that classified the error; empty if there was none.
func (o Outcome) Rule() string { return o.get().rule }

// After is the delay that the check or the server gave; zero if none.
func (o Outcome) After() time.Duration { return o.get().after }

// WaitingFor lists what has to change before another pass makes sense.
func (o Outcome) WaitingFor() []checks.Ref { return slices.Clone(o.get().refs) }

// Err is the error that the pass failed with, for errors.Is and errors.As; nil unless it failed or was canceled.
func (o Outcome) Err() error { return o.get().err }

// Generation is the generation of the spec that the pass was about, for blocks, errors and operations under way.
func (o Outcome) Generation() int64 { return o.get().generation }

// stopped tells whether it was made by Stop.
func (o Outcome) stopped() bool { return o.State() == StateBlocked && o.Point() == PointPass }

// IsZero tells whether it is the zero Outcome.
func (o Outcome) IsZero() bool { return o.o == nil }

// Again says after how long to come back, and whether at all. With [WithBackoff] the delay is that of the [Backoff],
// without it the first one that a new Backoff would give. It is never negative, and zero only if there is nothing to come
// back for.
func (o Outcome) Again() (delay time.Duration, again bool) {
	switch {
	case o.State() == StateGone || o.State() == StateCanceled:
		return 0, false
	case o.delay > 0:
		return o.delay, true
	}
	return stateless.delay(o, 0, nil), true
}

// String is one line: "blocked at OwnerCheck by OwnerReady: OwnerNotFound: owner Cluster c was not found".
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

// Describe implements [chain.Described]: for a pass the state and the reason.
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
