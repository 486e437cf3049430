package chain

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/internal/run"
)

// Observer is notified of every call of every link. It is not generic, so one
// value can observe all chains. Its methods run on each goroutine that calls
// the chain. They should neither block nor panic.
//
// An Observer may also have a method Bind(*Link) Observer. The chain calls it
// while it is composed, so that the Observer can prepare data about that link.
// For that link the chain calls Enter and Exit of the returned Observer; nil
// means the Observer itself. Enabled is always called on the Observer itself.
type Observer interface {
	// Enabled is called once for each call of a chain. If it returns false,
	// that call runs without the observer. If a link passes an unrelated
	// context to next, Enabled is called again for each inner link.
	Enabled(ctx context.Context) bool
	// Enter is called before a link runs. The link gets the returned context;
	// nil means ctx.
	Enter(ctx context.Context, link *Link) context.Context
	// Exit is called when the link ends, on every outcome, with the context
	// that Enter returned. Inner links end before outer ones.
	Exit(ctx context.Context, link *Link, exit Exit)
}

// Exit describes how a link ended.
type Exit struct {
	// Result is the result that the link returned, also if it returned an error
	// with it. It is nil if the link panicked or ended its goroutine.
	Result any
	// Err is the error that the link returned. If the link ended its goroutine
	// with runtime.Goexit, as a failing test does, Err says so. It is nil after a
	// panic.
	Err error
	// Panic is the value of a panic that passes through the link; nil without a
	// panic. Packages that check each decision, such as checks, turn the panic
	// of a link into a [*PanicError] in Err.
	Panic any
	// Passed reports that the link passed on the decision of an inner link and
	// decided nothing itself. Only packages that check each decision, such as
	// checks, know this. In other chains it is false.
	Passed bool
	// Elapsed is the time between Enter and Exit, including all inner links.
	Elapsed time.Duration
}

// The verdicts that several kinds of results share.
const (
	VerdictProceed = "proceed" // the link decided nothing, or let the request proceed
	VerdictSkip    = "skip"    // the link left out inner links, or the operation, on purpose
	VerdictBlock   = "block"   // the work has to wait for something
	VerdictWait    = "wait"    // an operation is under way
	VerdictError   = "error"   // the link returned an error
	VerdictPanic   = "panic"   // the link panicked
)

// Verdict returns the decision of the link in a word, and its reason, which may
// be empty. The first of these that applies is the verdict:
//
//   - [VerdictPanic], if Panic is not nil
//   - [VerdictProceed], if Passed is true
//   - [VerdictPanic], if Err is a [*PanicError], else [VerdictError], if Err is
//     not nil
//   - the verdict of the result, if it has a method Describe() (verdict, reason
//     string)
//   - [VerdictProceed]
func (e Exit) Verdict() (verdict, reason string) {
	if e.Panic != nil {
		return VerdictPanic, ""
	}
	verdict = VerdictProceed
	if e.Passed {
		return verdict, ""
	}
	if d, ok := e.Result.(interface {
		Describe() (verdict, reason string)
	}); ok {
		verdict, reason = d.Describe()
	}
	if e.Err == nil {
		return verdict, reason
	}
	if verdict == VerdictProceed {
		reason = "" // the reason to proceed does not explain the error
	}
	if _, panicked := e.Err.(*PanicError); panicked {
		return VerdictPanic, reason
	}
	return VerdictError, reason
}

// PanicError is a panic that [Recover], or a package that runs chains, turned
// into an error. Test for it with errors.As. If the panic value is an error,
// errors.Is and errors.As find that error, too.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the frames of the panicking goroutine, the panic first
	Link  string // the link that was running; empty if unknown
}

// Error returns the panic value, and the link if it is known. It omits the
// stack.
func (e *PanicError) Error() string {
	if e.Link == "" {
		return fmt.Sprintf("panic: %v", e.Value)
	}
	return fmt.Sprintf("panic in link %s: %v", e.Link, e.Value)
}

// Unwrap returns the panic value if it is an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Note passes a remark about the running link to the observers of this library,
// which show it with the link: a fact that the result does not show, such as why
// the link let a request pass. Note prints text with fmt.Sprint before it
// returns, but only if an observer reads notes. So a text that is costly to make
// can be a fmt.Stringer.
func Note(ctx context.Context, text any) { run.Note(ctx, text) }
