package checks

import (
	"cmp"
	"time"

	"github.com/windlass-go/windlass/classify"
)

// Valid is [ResourceIs] for a rule that returns an error. The text of the error
// is the message, and [ReasonSpecInvalid] the reason. A nil rule panics.
//
// Deprecated: use [ResourceIs], and return a text in place of the error.
func Valid[T any](rule func(resource T) error, opts ...Option) Middleware[T] {
	s := configure("Valid", opts)
	s.must(rule != nil, "the function is nil")
	return objecting(s, ReasonSpecInvalid, func(resource T) (string, error) {
		err := rule(resource)
		if err == nil {
			return "", nil
		}
		return cmp.Or(err.Error(), s.reason, ReasonSpecInvalid), nil
	})
}

// WithOwner is the old name of [OwnerFits].
//
// Deprecated: use [OwnerFits].
//
//go:fix inline
func WithOwner[T, W any](name string, objection func(resource T, owner W) string, opts ...Option) Middleware[T] {
	return OwnerFits(name, objection, opts...)
}

// Allow is the old name of [WithAllowed].
//
// Deprecated: use [WithAllowed].
//
//go:fix inline
func Allow[S ~string](states ...S) Option { return WithAllowed(states...) }

// AtLeast is the old name of [WithMinimum].
//
// Deprecated: use [WithMinimum].
//
//go:fix inline
func AtLeast(n int) Option { return WithMinimum(n) }

// ByIDBlocks is the old name of [WithByIDBlocked].
//
// Deprecated: use [WithByIDBlocked].
//
//go:fix inline
func ByIDBlocks() Option { return WithByIDBlocked() }

// Clock is the old name of [WithClock].
//
// Deprecated: use [WithClock].
//
//go:fix inline
func Clock(now func() time.Time) Option { return WithClock(now) }

// Deny is the old name of [WithDenied].
//
// Deprecated: use [WithDenied].
//
//go:fix inline
func Deny[S ~string](states ...S) Option { return WithDenied(states...) }

// Exact is the old name of [WithExactStates].
//
// Deprecated: use [WithExactStates].
//
//go:fix inline
func Exact() Option { return WithExactStates() }

// Reason is the old name of [WithReason].
//
// Deprecated: use [WithReason].
//
//go:fix inline
func Reason(reason string) Option { return WithReason(reason) }

// Required is the old name of [WithRequiredOwner].
//
// Deprecated: use [WithRequiredOwner].
//
//go:fix inline
func Required() Option { return WithRequiredOwner() }

// Retry is the old name of [WithRetry].
//
// Deprecated: use [WithRetry].
//
//go:fix inline
func Retry(r classify.Retry) BlockOption { return WithRetry(r) }

// RetryIn is the old name of [WithAfter].
//
// Deprecated: use [WithAfter].
//
//go:fix inline
func RetryIn(d time.Duration) BlockOption { return WithAfter(d) }

// Size is the old name of [WithSize].
//
// Deprecated: use [WithSize].
//
//go:fix inline
func Size(n int) Option { return WithSize(n) }

// UnknownProceeds is the old name of [WithUnknownAllowed].
//
// Deprecated: use [WithUnknownAllowed].
//
//go:fix inline
func UnknownProceeds() Option { return WithUnknownAllowed() }

// WaitingFor is the old name of [WithWaitingFor].
//
// Deprecated: use [WithWaitingFor].
//
//go:fix inline
func WaitingFor(refs ...Ref) BlockOption { return WithWaitingFor(refs...) }

// WrongKindProceeds is the old name of [WithWrongKindAllowed].
//
// Deprecated: use [WithWrongKindAllowed].
//
//go:fix inline
func WrongKindProceeds() Option { return WithWrongKindAllowed() }
