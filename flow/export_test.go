package flow

// The mistakes by their names, for tests of the errors of a pass.
const (
	ErrNoKey          = errNoKey
	ErrMadeAgain      = errMadeAgain
	ErrNoOutcome      = errNoOutcome
	ErrMisplaced      = errMisplaced
	ErrForeignOutcome = errForeignOutcome
	ErrForeignRequest = errForeignRequest
	ErrNotSeen        = errNotSeen
	ErrNoProgress     = errNoProgress
	ErrNoToken        = errNoToken
	ErrUnderWay       = errUnderWay
	ErrNotDone        = errNotDone
	ErrWrongType      = errWrongType
	ErrUnknownKind    = errUnknownKind
)

// ErrOperationFailed is the cause of a Failed(nil).
var ErrOperationFailed = errOperationFailed

// WithBackoffRand replaces the source of the jitter, a function that returns
// numbers from 0 to below 1.
func WithBackoffRand(random func() float64) BackoffOption {
	return func(b *Backoff) { b.rand = random }
}

// Keys returns the number of keys that have counts.
func (b *Backoff) Keys() int { return b.failures.Len() }
