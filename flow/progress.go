package flow

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/errtree"
)

// Progress reports the state of an operation. [Done], [Finished], [Skip] and
// [InProgress] make one. The zero Progress is an error.
type Progress struct{ p *progress }

type progress struct {
	token string        // empty: done
	after time.Duration // the argument of InProgress; the trace reports a negative one
	refs  []checks.Ref
	skips bool
	why   string        // the argument of Skip
	text  string        // the argument of WithMessage
	final checks.Result // the argument of Finished
}

var done = &progress{}

// Done reports that the operation ended with success. A link returns it only
// after the operation has returned it: see [Skip].
func Done() Progress { return Progress{p: done} }

// Finished reports that the operation ended with success, and that the resource
// needs no more work until its spec changes: a backup is complete, for example.
// If PostCheck proceeds, the pass ends in [StateFinished], and the resource is
// Ready with this reason and message ([checks.Finished]). A link returns it
// only after the operation has returned Done or Finished. On Delete it counts
// as Done.
//
// To report a failure that no retry can end, return an error that a rule
// classifies as [classify.Never].
func Finished(reason, message string) Progress {
	return Progress{p: &progress{final: checks.Finished(reason, message)}}
}

// Skip is the result of a link that replaces the operation, or leaves it out:
// nothing is left to do, although the operation did not return [Done]. The pass
// proceeds as after Done, and the resource may become Ready, or Gone. The trace
// shows why.
//
// A link may run a long operation of its own: it returns [InProgress] without
// calling next, finds its token in [Request.Token] in the next pass, and
// returns Skip when its operation has succeeded. If the real operation is under
// way, a Skip fails the pass with [ErrMisuse].
func Skip(why string) Progress { return Progress{p: &progress{skips: true, why: why}} }

// InProgress reports that the operation is under way in the cloud. The next
// pass calls the operation with token. An empty token is an error
// ([ErrMisuse]). after is the delay that the server set; with zero, the
// back-off sets it. A negative delay counts as zero, and the trace reports it.
// awaited names objects on which the operation depends: engines also requeue
// the resource when one of them changes.
//
// An operation may return InProgress together with an error, to report that the
// poll failed and the operation did not.
func InProgress(token string, after time.Duration, awaited ...checks.Ref) Progress {
	return Progress{p: &progress{token: token, after: after, refs: slices.Clone(awaited)}}
}

// NoOperation is the token of work that is no operation of a cloud: objects that
// a pass writes and then waits for, for example. The next pass does all of the
// work again, as far as something is left to do. An error is then one of Apply
// or Delete, and not of a poll.
const NoOperation = "no-operation"

// WithMessage returns p with the message of the condition while the operation is
// under way, in place of "the operation is under way in the cloud". The message
// says what is not done yet, and why. It may contain foreign text, because
// [Outcome.Message] is one line of bounded length. An empty message changes
// nothing. Only a Progress of [InProgress] has a message: others are returned
// as they are.
func (p Progress) WithMessage(message string) Progress {
	if !p.inProgress() || message == "" {
		return p
	}
	with := *p.p
	with.text = message
	return Progress{p: &with}
}

// Message returns the text that [Progress.WithMessage] was given; otherwise
// empty.
func (p Progress) Message() string { return p.get().text }

// IsDone reports whether [Done], [Finished] or [Skip] made p.
func (p Progress) IsDone() bool { return p.p == done || p.Skipped() || p.get().final.IsFinished() }

// WaitingFor returns the awaited objects that [InProgress] was given.
func (p Progress) WaitingFor() []checks.Ref { return slices.Clone(p.get().refs) }

func (p Progress) get() progress {
	if p.p == nil {
		return progress{}
	}
	return *p.p
}

// Skipped reports whether [Skip] made p.
func (p Progress) Skipped() bool { return p.get().skips }

// Why returns the text that [Skip] was given; otherwise empty.
func (p Progress) Why() string { return p.get().why }

// Token returns the token that [InProgress] was given; otherwise empty.
func (p Progress) Token() string { return p.get().token }

// After returns the delay that [InProgress] was given; zero if none.
func (p Progress) After() time.Duration { return max(p.get().after, 0) }

// Describe returns the verdict for [chain.Exit.Verdict]: proceed, skip or wait.
func (p Progress) Describe() (verdict, reason string) {
	switch {
	case p.Skipped():
		return chain.VerdictSkip, ""
	case p.get().final.IsFinished():
		return "finish", p.p.final.Reason()
	case p.inProgress():
		return chain.VerdictWait, ReasonInProgress
	}
	return chain.VerdictProceed, ""
}

func (p Progress) inProgress() bool { return p.p != nil && !p.IsDone() }

// FailedError reports that an operation ended without success. [Failed] makes
// it. Test for it with errors.As.
type FailedError struct {
	Err error // the cause; never nil
}

// Error returns the text of the cause.
func (e *FailedError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the cause, or a text if Err is nil.
func (e *FailedError) Unwrap() error {
	if e == nil || e.Err == nil { // a literal without a cause
		return errOperationFailed
	}
	return e.Err
}

// Failed returns err as the error of an operation that ended without success.
// The flow drops its token, and the next pass may start the operation again:
//
//	if op.State == "Failed" {
//		return flow.Progress{}, flow.Failed(op.Err)
//	}
//
// The FailedError may be wrapped, or joined with other errors. A link may
// return one for an operation whose state is unknown. If the operation returns
// [InProgress] with it, the operation is under way and the flow keeps the
// token. A nil err is replaced by a text.
//
// After any other error the state of the operation is unknown. The flow keeps
// the token, unless an error reader recognises that the operation has ended
// ([WithErrors]).
func Failed(err error) error {
	return &FailedError{Err: cmp.Or(err, errOperationFailed)}
}

// WaitError is an error that names awaited objects. [WaitFor] makes it. Test
// for it with errors.As.
type WaitError struct {
	Err  error // the cause; never nil
	Refs []checks.Ref
}

// Error returns the text of the cause.
func (e *WaitError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the cause, or a text if Err is nil.
func (e *WaitError) Unwrap() error {
	if e == nil || e.Err == nil { // a literal without a cause
		return errOperationFailed
	}
	return e.Err
}

// WaitFor adds awaited objects to an error. Engines then also requeue the
// resource when one of them changes, as after a block:
//
//	if code == "SubnetNotFound" {
//		return flow.Progress{}, flow.WaitFor(err, subnet)
//	}
//
// It changes neither the classification of the error nor its delay. A zero Ref
// is left out. WaitFor returns nil if err is nil.
func WaitFor(err error, refs ...checks.Ref) error {
	if err == nil {
		return nil
	}
	return &WaitError{err, slices.Clone(refs)}
}

// awaited returns the objects that the errors in err name, each once.
func awaited(err error) (refs []checks.Ref) {
	has := map[checks.Ref]bool{{}: true}
	errtree.Any(err, func(e error) bool {
		if w, _ := e.(*WaitError); w != nil {
			for _, ref := range w.Refs {
				if !has[ref] {
					has[ref], refs = true, append(refs, ref)
				}
			}
		}
		return false
	})
	return refs
}

// errOperationFailed is the cause of a FailedError or a WaitError that was made
// without one.
var errOperationFailed = errors.New("the operation has failed")
