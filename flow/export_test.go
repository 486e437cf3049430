package flow

// WithBackoffRand replaces the source of the jitter, a function that returns
// numbers from 0 to below 1.
func WithBackoffRand(random func() float64) BackoffOption {
	return func(b *Backoff) { b.rand = random }
}

// Keys returns the number of keys that have counts.
func (b *Backoff) Keys() int { return b.failures.Len() }

// Waits returns the number of resources whose wait for Ready has a start.
func (r *Reconciler[T]) Waits() int { return r.waits.Len() }

// Fits is fits.
var Fits = fits
