package ctrlx

import (
	"errors"
	"time"
)

// RetriableError is an error that says when to try again. It counts wherever it is in an error, wrapped or joined with others,
// and wins over what stands beside it, but for a reconcile.TerminalError. Make it with [NewRetriableError]; find it with
// errors.As.
type RetriableError struct {
	err    error
	after  *time.Duration
	reason string
}

var errNotSaid = errors.New("retriable error, of which nobody said what it is: give NewRetriableError an error")

// NewRetriableError makes an error retriable: the pass comes back after retryAfter. Nil, zero and negative: after the
// object's retry interval ([RetryConfiguration]). A nil err is one that says that nobody said what it is.
func NewRetriableError(err error, retryAfter *time.Duration) RetriableError {
	return RetriableError{err: err, after: retryAfter}
}

// WithReason gives e with a reason for the condition Ready, in place of [ReasonRetrying]. Empty is none; of one that is not
// valid (checks.ValidReason) what does not fit is replaced by "_".
func (e RetriableError) WithReason(reason string) RetriableError {
	e.reason = reason
	return e
}

// Reason is what WithReason was given; empty: nothing.
func (e RetriableError) Reason() string { return e.reason }

// RetryAfter is after how long to try again; zero: after the object's retry interval.
func (e RetriableError) RetryAfter() time.Duration {
	if e.after == nil {
		return 0
	}
	return max(*e.after, 0)
}

// Error is the text of the error that was made retriable.
func (e RetriableError) Error() string {
	if e.err == nil {
		return errNotSaid.Error()
	}
	return e.err.Error()
}

// Unwrap is the error that was made retriable; nil if there was none.
func (e RetriableError) Unwrap() error { return e.err }
