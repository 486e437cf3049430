package ctrlx

import (
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

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
	after  time.Duration // 0: the retry interval of the object
	reason string
}

var errNoCause = errors.New("retriable error without a cause: give NewRetriableError an error")

// NewRetriableError makes an error retriable: the object is requeued after
// retryAfter. Nil, zero and negative mean the retry interval of the object
// ([RetryConfiguration]). A nil err becomes an error that says that the cause is
// missing.
func NewRetriableError(err error, retryAfter *time.Duration) RetriableError {
	return RetriableError{err: err, after: max(ptr.Deref(retryAfter, 0), 0)}
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
func (e RetriableError) RetryAfter() time.Duration { return e.after }

// Error returns the text of the error that was made retriable.
func (e RetriableError) Error() string {
	if e.err == nil {
		return errNoCause.Error()
	}
	return e.err.Error()
}

// Unwrap returns the error that was made retriable; nil if there was none.
func (e RetriableError) Unwrap() error { return e.err }

// As serves errors.As within this module. It finds no type of other modules.
func (e RetriableError) As(target any) bool {
	r, ok := target.(*apierr.Retriable)
	if ok {
		*r = apierr.NewRetriable(e, e.reason, e.after)
	}
	return ok
}

// finalizerError ends a pass that could not write the finalizer. [Reconciler.Reconcile] returns the error in it.
type finalizerError struct{ error }

func (e *finalizerError) Unwrap() error { return e.error }

// unfinalized returns the finalizerError of a pass; nil: there is none. The error of a pass may have a method As that panics.
func unfinalized(out flow.Outcome) (e *finalizerError) {
	defer func() { _ = recover() }()
	e, _ = errors.AsType[*finalizerError](out.Err())
	return e
}

// unstorable reports whether the API server cannot store a status: it is not valid, or it is too large.
func unstorable(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsRequestEntityTooLargeError(err)
}

// refusedForGood reports whether the API server refuses a write of the status
// again, if it is repeated.
func refusedForGood(err error) bool {
	return unstorable(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || errors.Is(err, write.ErrNoStatus)
}
