package flow

import (
	"time"

	"github.com/windlass-go/windlass/classify"
)

// BackoffClock is the old name of [WithBackoffClock].
//
// Deprecated: use [WithBackoffClock].
//
//go:fix inline
func BackoffClock(now func() time.Time) BackoffOption { return WithBackoffClock(now) }

// BackoffJitter is the old name of [WithBackoffJitter].
//
// Deprecated: use [WithBackoffJitter].
//
//go:fix inline
func BackoffJitter(steps, resync float64) BackoffOption { return WithBackoffJitter(steps, resync) }

// BackoffResync is the old name of [WithBackoffResync].
//
// Deprecated: use [WithBackoffResync].
//
//go:fix inline
func BackoffResync(d time.Duration) BackoffOption { return WithBackoffResync(d) }

// BackoffSteps is the old name of [WithBackoffSteps].
//
// Deprecated: use [WithBackoffSteps].
//
//go:fix inline
func BackoffSteps(retry classify.Retry, first, most time.Duration) BackoffOption {
	return WithBackoffSteps(retry, first, most)
}

// KeepLast is the old name of [WithExplanations].
//
// Deprecated: use [WithExplanations].
//
//go:fix inline
func KeepLast(n int) Option { return WithExplanations(n) }

// ReadyWithin is the old name of [WithReadyTimeout].
//
// Deprecated: use [WithReadyTimeout].
//
//go:fix inline
func ReadyWithin(d time.Duration) Option { return WithReadyTimeout(d) }
