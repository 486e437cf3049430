package ctrlx

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/flow"
)

// The rules of classified, as traces show them.
const (
	ruleTerminal  = "TerminalError"
	ruleRetriable = "RetriableError"
)

// classified decides about [RetriableError] and reconcile.TerminalError. It runs after the user's links, which may decide
// otherwise, and before the tables of the services.
var classified = chain.Named("ctrlx.Errors", func(next classify.Handler) classify.Handler {
	return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
		if f == nil || apierr.Is[*chain.PanicError](f.Err) || shutDown(ctx, f.Err) {
			return next(ctx, f)
		}
		whole := f.Err // these two decide about all that they are joined with, or made of
		if f.Joined != nil {
			whole = f.Joined
		}
		if errors.Is(whole, reconcile.TerminalError(nil)) {
			return withText(coded(f, cmp.Or(f.Code, ReasonTerminal)), whole).As(ruleTerminal, classify.OnChange), nil
		}
		if e, ok := errors.AsType[RetriableError](whole); ok {
			f = withText(coded(f, cmp.Or(e.Reason(), ReasonRetrying)), whole)
			return f.As(ruleRetriable, classify.Slow).WithAfter(passOf(ctx).retryAfter(e)), nil
		}
		if f.Code == "" && apierr.Is[*hookError](whole) {
			f = coded(f, ReasonHookFailed)
		}
		if passTimedOut(ctx, f) {
			return afterDeadline(ctx, f), nil
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

// shutDown reports whether err came only from the cancellation of the pass.
func shutDown(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled)
}

// quiet reports whether an outcome makes no event: the object was read before its last change, and is read again.
func quiet(out flow.Outcome) bool { return out.Rule() == apierr.RuleConflict }

// Errors reads the errors of the Kubernetes API, of its clients and of discovery, and decides by [ErrorCodes].
//
//	Code       the reason (metav1.StatusReason), or a code of an error that a client makes itself, such as KindNotWatched
//	Status     the HTTP code
//	After      retryAfterSeconds
//	Inner      the causes in the details: FieldValueInvalid, NamespaceTerminating
//	Transient  Conflict, Expired, InternalError, ServerTimeout, ServiceUnavailable, Timeout, TooManyRequests
//	NotFound   NotFound for an object with a name
//
// NotFound stays false if the API server does not serve the kind, because the object
// may exist. Ended stays false: no answer of the API server says that an operation
// failed. Return flow.Failed for that.
//
// [New] knows these errors without an option, and asks the readers of flow.WithErrors first. There NotFound is always
// false: the resource lives in a cloud, and a Secret that [checks.LiveState] does not find must not look like an absent
// resource. If the resource itself is a Kubernetes object, say so:
//
//	flow.WithErrors(ctrlx.Errors())
func Errors() classify.Errors { return apierr.Reader }

// ErrorCodes is the table of [Errors]. It is a copy: change it as you like and put it into a chain, as
// ErrorCodes().Link().
//
// docs/conditions.md lists all codes. No row is [classify.OnChange], because the refused object is seldom the reconciled one.
func ErrorCodes() classify.Table {
	return apierr.Table()
}

// RetriableError is an error with a delay for the retry. It counts anywhere in an
// error, wrapped or joined with others, and wins over the errors that it is joined
// with, except a reconcile.TerminalError. Make it with [NewRetriableError]; find it
// with errors.As.
type RetriableError struct {
	err    error
	after  *time.Duration
	reason string
}

var errNoCause = errors.New("retriable error without a cause: give NewRetriableError an error")

// NewRetriableError makes an error retriable: the object is requeued after
// retryAfter. Nil, zero and negative mean the retry interval of the object
// ([RetryConfiguration]). A nil err becomes an error that says that the cause is
// missing.
func NewRetriableError(err error, retryAfter *time.Duration) RetriableError {
	return RetriableError{err: err, after: retryAfter}
}

// WithReason returns e with a reason for the condition Ready, in place of
// [ReasonRetrying]. An empty reason is none. In a reason that is not valid
// (checks.Block), each byte that is not allowed is replaced by "_".
func (e RetriableError) WithReason(reason string) RetriableError {
	e.reason = reason
	return e
}

// Reason returns the reason of WithReason; empty: there is none.
func (e RetriableError) Reason() string { return e.reason }

// RetryAfter returns the delay; zero means the retry interval of the object.
func (e RetriableError) RetryAfter() time.Duration {
	if e.after == nil {
		return 0
	}
	return max(*e.after, 0)
}

// Error returns the text of the error that was made retriable.
func (e RetriableError) Error() string {
	if e.err == nil {
		return errNoCause.Error()
	}
	return e.err.Error()
}

// Unwrap returns the error that was made retriable; nil if there was none.
func (e RetriableError) Unwrap() error { return e.err }
