package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

// Names of the extension points in traces, listings and observers.
const (
	PointPass        = "Pass"
	PointEntryCheck  = "EntryCheck"
	PointOwner       = "Owner" // not an extension point: here the flow resolves the owner
	PointOwnerCheck  = "OwnerCheck"
	PointGetCheck    = "GetCheck"
	PointGet         = "Get"
	PointPreCheck    = "PreCheck"
	PointApply       = "Apply"
	PointPostCheck   = "PostCheck"
	PointDeleteCheck = "DeleteCheck"
	PointDelete      = "Delete"
	PointClassify    = "Classify"
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
	// StateGone: the resource is deleted. There is nothing to write and no
	// reason to requeue.
	StateGone
	// StateCanceled: the context of the pass was canceled. There is nothing to
	// write.
	StateCanceled
	// StateIgnored: the resource belongs to another controller
	// ([checks.Ignore]). The engine writes nothing to it.
	StateIgnored
	// StateFinished: the resource needs no more work until its spec changes
	// ([checks.Finished], [Finished]).
	StateFinished
)

// String returns the state as it reads in a sentence, such as "in progress".
func (s State) String() string {
	words := [...]string{"unknown", "ready", "blocked", "failed", "in progress", "deleting", "gone", "canceled", "ignored", "finished"}
	if int(s) < len(words) {
		return words[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Reasons of outcomes without the reason of a check or an error.
const (
	ReasonSucceeded  = "Succeeded"
	ReasonInProgress = "InProgress"
	ReasonDeleting   = "Deleting"
	// ReasonCheckFailed is the reason of a check that failed with an error
	// without a code. A check that panicked has ReasonPanic.
	ReasonCheckFailed = "CheckFailed"
	// ReasonPanic is the reason of a panic in a link, a check, an operation or
	// another function of the user. It is the name of the rule of package
	// classify that decides about panics.
	ReasonPanic = "Panic"
)

// Outcome is the result of a pass. [Reconciler.Reconcile] makes it; a link on
// Pass makes one with [Stop]. The state of the zero Outcome is [StateUnknown].
//
// The texts of an Outcome are safe to show: each is one line of valid UTF-8
// with a bounded length. Characters that are not visible are escaped, and known
// secrets are replaced. [Outcome.Err] returns the raw error.
type Outcome struct {
	o     *outcome
	delay time.Duration // the delay that Backoff returned; 0: none
}

type outcome struct {
	state           State
	stop            bool // made by Stop, and not yet the outcome of a pass
	retry           classify.Retry
	severity        classify.Severity
	point, link     string
	reason, message string
	rule, code      string
	after           time.Duration
	refs            []checks.Ref
	self            bool         // waits for the resource itself
	follows         []checks.Ref // see Following
	keepsStatus     bool
	generation      int64
	err             error
}

var (
	ready = &outcome{state: StateReady, reason: ReasonSucceeded}
	gone  = &outcome{state: StateGone}
	none  outcome
)

// Stop makes an outcome of [checks.Block] or [checks.Ignore]. A link on Pass
// returns it to end the pass, for example because another process holds a lock.
// For any other result Stop returns the zero Outcome, with which the pass
// fails.
func Stop(res checks.Result) Outcome {
	if !res.Blocked() && !res.Ignored() {
		return Outcome{}
	}
	o := stopped(PointPass, res, nil)
	o.stop = true
	return Outcome{o: o}
}

// stopped makes an outcome of the result with which link by ended the pass. by
// is nil if no link did.
func stopped(point string, res checks.Result, by *chain.Link) *outcome {
	o := &outcome{
		state: StateBlocked, point: point, reason: res.Reason(), message: res.Message(),
		retry: res.Retry(), severity: res.Retry().Severity(), after: res.After(),
		refs: res.WaitingFor(), self: res.WaitsForSelf(), keepsStatus: res.KeepsStatus(),
	}
	switch {
	case res.Ignored():
		o.state, o.severity = StateIgnored, ""
	case res.IsFinished():
		o.state = StateFinished
	case res.Released():
		o.state = StateGone
	}
	if by != nil {
		o.link = by.Name
	}
	return o
}

func (o Outcome) get() *outcome {
	if o.o == nil {
		return &none
	}
	return o.o
}

// State returns the result of the pass in one word.
func (o Outcome) State() State { return o.get().state }

// Point returns the extension point where the pass stopped; empty if the pass
// ran to its end.
func (o Outcome) Point() string { return o.get().point }

// Link returns the name of the link that stopped the pass, at most 200 bytes;
// empty if no link did.
func (o Outcome) Link() string { return text.Line(o.get().link, text.Name) }

// Reason returns one word for programs, valid as the reason of a Kubernetes
// condition.
func (o Outcome) Reason() string { return o.get().reason }

// Message returns the text for users, at most 32,768 bytes. That is the limit
// of the message of a Kubernetes condition.
func (o Outcome) Message() string { return text.Line(o.get().message, text.Message) }

// Severity returns [classify.Error] for a block or an error that only a change
// ends, [classify.Warning] for any other block or error, and [classify.Info]
// while an operation is under way. It is empty for every other outcome.
func (o Outcome) Severity() classify.Severity { return o.get().severity }

// Retry returns how soon to retry after a block or an error; otherwise
// [classify.Unset].
func (o Outcome) Retry() classify.Retry { return o.get().retry }

// Rule returns the name of the rule that classified the error, at most 200
// bytes; empty if none did.
func (o Outcome) Rule() string { return text.Line(o.get().rule, text.Name) }

// After returns the delay that the check or the server set; zero if neither
// did.
func (o Outcome) After() time.Duration { return o.get().after }

// WaitingFor returns the awaited objects: a change of one of them calls for a
// new pass. The resource itself is not among them, see [Outcome.WaitsForSelf].
func (o Outcome) WaitingFor() []checks.Ref { return slices.Clone(o.get().refs) }

// Following returns the objects and sets that the resource depends on also
// after the pass ([checks.OwnerRequest.Follow]): a change of one of them calls for a new
// pass, even if the resource is Ready. It is empty if the state is [StateGone],
// [StateIgnored] or [StateCanceled], and if the outcome is final.
func (o Outcome) Following() []checks.Ref { return slices.Clone(o.get().follows) }

// following returns o as the outcome of a pass that followed refs. An outcome
// after which only the spec matters follows nothing.
func (o Outcome) following(refs []checks.Ref) Outcome {
	if len(refs) == 0 || o.State() == StateGone || o.State() == StateIgnored || o.State() == StateCanceled || o.Final() {
		return o
	}
	d := *o.get()
	d.follows = refs
	o.o = &d
	return o
}

// WaitsForSelf reports whether a change of the resource's own status calls for
// a new pass ([checks.WithWaitingForSelf]).
func (o Outcome) WaitsForSelf() bool { return o.get().self }

// KeepsStatus reports whether the engine must leave the conditions of the
// resource as they are: the pass was canceled, the resource belongs to another
// controller, or the check or the error rule asks for it
// ([checks.WithStatusKept], classify.Rule.KeepStatus). It is false for a final
// outcome, because the conditions record that it is final.
func (o Outcome) KeepsStatus() bool {
	d := o.get()
	return d.keepsStatus && !o.Final() || d.state == StateCanceled
}

// Final reports whether the engine must not reconcile the resource again until
// its spec changes or a user deletes it: the state is [StateFinished], or a
// block or an error has [classify.Never]. The flow does not store this. The
// engine does, in the condition Finished of [Outcome.Conditions].
func (o Outcome) Final() bool {
	switch o.State() {
	case StateFinished:
		return true
	case StateBlocked, StateFailed:
		return o.Retry() == classify.Never
	}
	return false
}

// Err returns the error of a failed or canceled pass, for errors.Is and
// errors.As; otherwise nil. For an unreadable error ([classify.NewFailure]) it
// returns an error that reports this.
func (o Outcome) Err() error { return o.get().err }

// Generation returns the generation of the spec that the pass worked on. It is
// set for blocks, errors and operations under way.
func (o Outcome) Generation() int64 { return o.get().generation }

// IsZero reports whether o is the zero Outcome.
func (o Outcome) IsZero() bool { return o.o == nil }

// String returns one line: "blocked at OwnerCheck by OwnerReady: OwnerNotFound:
// owner Cluster c was not found".
func (o Outcome) String() string {
	line := withPlace(o.State().String(), o.Point(), o.Link())
	if message := o.Message(); message != "" {
		line += ": " + text.Join(o.Reason(), message)
	}
	return text.Line(line, text.Message)
}

// withPlace returns a state with the point and the link that caused it.
func withPlace(state, point, link string) string {
	if point != "" {
		state += " at " + point
	}
	if link != "" {
		state += " by " + link
	}
	return state
}

// Describe returns the verdict for [chain.Exit.Verdict]: block, ignore or
// finish for the decision of a check, wait while an operation is under way,
// otherwise the state of the pass.
func (o Outcome) Describe() (verdict, reason string) {
	d := o.get()
	switch d.state {
	case StateBlocked:
		return chain.VerdictBlock, d.reason
	case StateIgnored:
		return "ignore", d.reason
	case StateFinished:
		return "finish", d.reason
	case StateInProgress, StateDeleting:
		return chain.VerdictWait, d.reason
	}
	return d.state.String(), d.reason
}

// Condition is a condition of a Kubernetes resource, in the convention of
// kstatus.
type Condition struct {
	Type     string // Ready, Reconciling, Stalled or Finished
	Status   string // True or False
	Reason   string // always valid, see [checks.Block]
	Message  string // one line, at most 32,768 bytes; see [Outcome.Message]
	Severity classify.Severity
}

// Conditions returns the conditions to write to the resource's status. Of the
// types Ready, Reconciling, Stalled and Finished, remove those that the list
// does not have. Ready comes first. If Ready is False, a second condition is
// Reconciling (the flow retries or polls) or Stalled (only a change helps). A
// final outcome ([Outcome.Final]) adds Finished.
//
// Nil means that there is nothing to write: the resource is gone, its status
// stays as it is ([Outcome.KeepsStatus]), or the Outcome is zero.
//
//	StateReady                               Ready=True
//	StateFinished                            Ready=True                  Finished=True
//	StateBlocked, StateFailed, Never         Ready=False  Stalled=True   Finished=True
//	StateBlocked, StateFailed, OnChange      Ready=False  Stalled=True
//	StateBlocked, StateFailed, sooner        Ready=False  Reconciling=True
//	StateInProgress, StateDeleting           Ready=False  Reconciling=True
//	StateGone, StateCanceled, StateIgnored   -
func (o Outcome) Conditions() []Condition {
	d := o.get()
	c := Condition{Type: "Ready", Status: "False", Reason: d.reason, Message: o.Message(), Severity: d.severity}
	second := c
	second.Status = "True"
	finished := second
	finished.Type = "Finished"
	switch {
	case o.KeepsStatus(), d.state == StateGone, d.state == StateUnknown:
		return nil
	case d.state == StateReady:
		c.Status = "True"
		return []Condition{c}
	case d.state == StateFinished:
		c.Status = "True"
		return []Condition{c, finished}
	case d.retry == classify.Never:
		second.Type = "Stalled"
		return []Condition{c, second, finished}
	case d.retry == classify.OnChange:
		second.Type = "Stalled"
	default:
		second.Type = "Reconciling"
	}
	return []Condition{c, second}
}
