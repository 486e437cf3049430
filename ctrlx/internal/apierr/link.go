package apierr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// The rules of [Link], as traces show them.
const (
	ruleTerminal    = "TerminalError"
	RuleRetriable   = "RetriableError"
	rulePassTimeout = "PassTimeout"
)

// The codes that Link gives to failures, which become the reasons of conditions.
const (
	Terminal    = "Terminal"
	Retrying    = "Retrying"
	HookFailed  = "HookFailed"
	PassTimeout = "PassTimeout"
)

// codeDeadlineExceeded is the code of gRPC. Its errors do not wrap the error of
// the context.
const codeDeadlineExceeded = "DeadlineExceeded"

// PassKey is the key of the [Pass] in the context of a pass.
type PassKey struct{}

// Pass is the pass under way, as far as errors depend on it.
type Pass interface {
	Retry() time.Duration // the delay after a retriable error without one
	Limit() time.Duration // its deadline
}

// Retriable is a ctrlx.RetriableError.
type Retriable struct {
	error
	Reason string        // empty: Retrying
	After  time.Duration // 0: that of the pass
}

// NewRetriable returns err as a Retriable.
func NewRetriable(err error, reason string, after time.Duration) Retriable {
	return Retriable{err, reason, after}
}

// HookError is an error of a hook. Its reason is [HookFailed] if it has no code.
type HookError struct{ error }

// Unwrap returns the error that the hook returned.
func (e *HookError) Unwrap() error { return e.error }

// OfHook marks an error that a hook returned. Nil stays nil.
func OfHook(err error) error {
	if err == nil {
		return nil
	}
	return &HookError{err}
}

// Link decides about ctrlx.RetriableError, reconcile.TerminalError, errors of hooks and the deadline of a pass. It runs after
// the user's links, which may decide otherwise, and before the tables of the services.
var Link = chain.Named("ctrlx.Errors", func(next classify.Handler) classify.Handler {
	return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
		if f == nil || Is[*chain.PanicError](f.Err) || errors.Is(ctx.Err(), context.Canceled) && errors.Is(f.Err, context.Canceled) {
			return next(ctx, f)
		}
		pass, _ := ctx.Value(PassKey{}).(Pass)
		whole := f.Err // these two decide about all that they are joined with, or made of
		if f.Joined != nil {
			whole = f.Joined
		}
		if errors.Is(whole, reconcile.TerminalError(nil)) {
			return withText(coded(f, cmp.Or(f.Code, Terminal)), whole).As(ruleTerminal, classify.OnChange), nil
		}
		if e, ok := errors.AsType[Retriable](whole); ok {
			if e.After <= 0 && pass != nil {
				e.After = pass.Retry()
			}
			return withText(coded(f, cmp.Or(e.Reason, Retrying)), whole).As(RuleRetriable, classify.Slow).WithAfter(e.After), nil
		}
		if f.Code == "" && Is[*HookError](whole) {
			f = coded(f, HookFailed)
		}
		if pass != nil && timedOut(ctx, f) {
			g := coded(f, PassTimeout)
			g.Message = fmt.Sprintf("the pass did not end within %s and stopped at %s; make the call shorter, return flow.InProgress for a long operation, "+
				"or raise the limit (ctrlx.WithPassTimeout): %s", pass.Limit(), f.Point, f.Message)
			return g.As(rulePassTimeout, classify.Slow), nil
		}
		return next(ctx, f)
	}
})

// coded returns a copy of f with another code, which becomes the reason of the condition.
func coded(f *classify.Failure, code string) *classify.Failure {
	g := *f
	g.Code = code
	return &g
}

// withText returns f with the text of the whole error if f is one cause of a joined error.
func withText(f *classify.Failure, whole error) *classify.Failure {
	if f.Joined != nil {
		f.Message = whole.Error()
	}
	return f
}

// timedOut reports whether the deadline of the pass caused f. After the
// deadline, a service may still have answered: its error keeps its own class.
func timedOut(ctx context.Context, f *classify.Failure) bool {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return false
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](f.Err)
	return ok && timeout.Timeout() || errors.Is(f.Err, context.DeadlineExceeded) || errors.Is(f.Err, context.Canceled) ||
		f.Code == codeDeadlineExceeded
}

// Quiet reports whether an outcome makes no event: the object was read before its last change, and is read again.
func Quiet(out flow.Outcome) bool { return out.Rule() == RuleConflict }
