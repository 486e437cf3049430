package flow

import (
	"errors"
	"time"

	"github.com/windlass-go/windlass/chain"
)

// Errors about a [Progress] that says nothing. Test for them with errors.Is.
var (
	// ErrNoProgress: an operation returned the zero Progress and no error.
	ErrNoProgress = errors.New("the zero Progress says nothing: return flow.Done or flow.InProgress")
	// ErrNoToken: an operation is in progress and did not say how to follow it.
	ErrNoToken = errors.New("in progress without a token: return the poller's resume token, or the operation would be started again")
	// ErrUnderWay: a link said done although the operation it stands in front of is still under way.
	ErrUnderWay = errors.New("a link said done, but the operation is still under way: return what next returned")
)

// Progress is how far an operation is. It is made by [Done] and [InProgress]; the zero Progress is an error.
type Progress struct {
	p  *progress
	at *chain.Link // where an error came from
}

type progress struct {
	token string // empty: done
	after time.Duration
}

var done = &progress{}

// Done says that the operation has come to its end.
func Done() Progress { return Progress{p: done} }

// InProgress says that the operation goes on in the cloud and is to be called again with token, after the delay that the
// server gave; without one, zero or less, the back-off decides. An empty token is an error ([ErrNoToken]).
//
// It may be returned beside an error, to say that polling failed and not the operation.
func InProgress(token string, after time.Duration) Progress {
	return Progress{p: &progress{token: token, after: max(after, 0)}}
}

// IsDone tells whether it was made by [Done].
func (p Progress) IsDone() bool { return p.p == done }

// Token is what [InProgress] was given; else empty.
func (p Progress) Token() string {
	if p.p == nil {
		return ""
	}
	return p.p.token
}

// After is the delay that [InProgress] was given; zero if none.
func (p Progress) After() time.Duration {
	if p.p == nil {
		return 0
	}
	return p.p.after
}

// Describe implements [chain.Described]. For a whole point in progress the verdict is "wait".
func (p Progress) Describe(link *chain.Link) (verdict, reason string) {
	switch {
	case p.at != nil && (p.at == link || link.Kind != chain.LinkKind):
		return chain.VerdictError, ""
	case link.Kind != chain.LinkKind && p.p != nil && p.p != done:
		return "wait", ReasonInProgress
	}
	return chain.VerdictProceed, ""
}

// inProgress tells whether it was made by InProgress.
func (p Progress) inProgress() bool { return p.p != nil && p.p != done }
