package ctrlx

import (
	"errors"
	"time"
)

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
