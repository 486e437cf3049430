package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/keyed"
)

// Backoff computes when to requeue a resource. It counts failures by key. For
// each key it counts fast and slow retries and polls separately, so that many
// slow failures do not delay the first fast retry. One Backoff can serve a
// whole engine. It is safe for concurrent use. Make it with [NewBackoff].
//
//	StateReady                       at the resync: 1 h +-25 %
//	StateBlocked, StateFailed
//	  with a delay (WithAfter,
//	  Retry-After)                   once after that delay
//	  classify.Fast                  1 s, doubling to 30 s
//	  classify.Slow                  1 s, doubling to 3 min
//	  classify.VerySlow, OnChange    at the resync; OnChange whatever delay was given
//	StateInProgress, StateDeleting   after the server's delay, or else as Fast
//	classify.Never, StateFinished    never
//	StateGone, StateCanceled         never
//	StateIgnored                     as StateBlocked if the check asks for it; else never
//
// Jitter shortens the doubling delays by up to 10 %, so that resources that
// failed together are not retried together. The counts of a key end when a pass
// is ready or gone, or when the generation of the spec changes. They also end
// when the key was not used for two resyncs.
//
// No delay is below 1 s, or below the shortest delay that is set, if that is
// less. If jitter would make a delay shorter than that, it lengthens the delay
// instead. If a check or a server sets a delay longer than the resync, the
// resync replaces it.
type Backoff struct {
	steps        map[classify.Retry]steps
	resync       time.Duration
	least        time.Duration // the shortest delay
	jitter       float64
	resyncJitter float64
	now          func() time.Time
	rand         func() float64 // from 0 to 1

	failures keyed.Map[string, failures]
}

type steps struct{ first, most time.Duration }

// failures holds the counts of one key.
type failures struct {
	generation int64
	count      [counters]int
	seen       time.Time
}

// The separate counters of a key.
const (
	countFast = iota
	countSlow
	countProgress
	counters
)

// shortest is the least delay that can be set. longest is the greatest: 73
// years, so that sums do not overflow.
const shortest, longest = time.Millisecond, time.Duration(math.MaxInt64 / 4)

// floor is the least delay, unless a shorter one is set.
const floor = time.Second

// stateless computes the delays for reconcilers without a Backoff.
var stateless = NewBackoff(WithBackoffJitter(0, 0))

// BackoffOption sets up a [Backoff]. The function that makes the option panics
// on invalid arguments.
type BackoffOption func(*Backoff)

// NewBackoff makes a Backoff with the table above, changed by opts. A nil
// option panics.
func NewBackoff(opts ...BackoffOption) *Backoff {
	b := &Backoff{
		steps: map[classify.Retry]steps{
			classify.Fast: {time.Second, 30 * time.Second},
			classify.Slow: {time.Second, 3 * time.Minute},
		},
		resync: time.Hour, jitter: 0.1, resyncJitter: 0.25, now: time.Now, rand: rand.Float64,
	}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("flow: NewBackoff: option %d is nil", i+1))
		}
		o(b)
	}
	b.least = max(shortest, min(floor, b.resync, b.steps[classify.Fast].first, b.steps[classify.Slow].first))
	return b
}

// WithBackoffSteps sets the first and the longest delay of [classify.Fast] or
// [classify.Slow]; 73 years are the most. It panics on another retry, on a
// first delay that is not positive, and on a longest delay below the first.
func WithBackoffSteps(retry classify.Retry, first, most time.Duration) BackoffOption {
	if retry != classify.Fast && retry != classify.Slow || first <= 0 || most < first {
		panic(fmt.Sprintf("flow: WithBackoffSteps(%s, %s, %s): give Fast or Slow, a positive first delay and a longest one not below it", retry, first, most))
	}
	return func(b *Backoff) { b.steps[retry] = steps{first, min(most, longest)} }
}

// WithBackoffResync sets the interval at which a resource is reconciled without an
// event; 73 years are the most. A d that is not positive panics.
func WithBackoffResync(d time.Duration) BackoffOption {
	if d <= 0 {
		panic(fmt.Sprintf("flow: WithBackoffResync(%s): give a positive duration", d))
	}
	return func(b *Backoff) { b.resync = min(d, longest) }
}

// WithBackoffJitter sets two largest random changes, as shares of the delay from 0
// to below 1. steps shortens the doubling delays. resync shortens or lengthens
// the resync. Other shares panic.
func WithBackoffJitter(steps, resync float64) BackoffOption {
	if !(steps >= 0 && steps < 1 && resync >= 0 && resync < 1) {
		panic(fmt.Sprintf("flow: WithBackoffJitter(%v, %v): give shares from 0 to below 1", steps, resync))
	}
	return func(b *Backoff) { b.jitter, b.resyncJitter = steps, resync }
}

// WithBackoffClock replaces time.Now. Several goroutines call it at once. If it
// panics, that call uses time.Now. Nil panics.
func WithBackoffClock(now func() time.Time) BackoffOption {
	if now == nil {
		panic("flow: WithBackoffClock: the function is nil")
	}
	return func(b *Backoff) { b.now = func() time.Time { return timeOf(now) } }
}

// Next counts an outcome. It returns the delay after which to reconcile key
// again, and whether to do so at all. A [Reconciler] calls it for each pass
// that needs it, at most once. An engine with its own keys calls it itself.
func (b *Backoff) Next(key string, o Outcome) (delay time.Duration, again bool) {
	return b.next(func() string { return key }, o)
}

// next asks for the key only if the key has a count or gets one. Most passes do
// not.
func (b *Backoff) next(key func() string, o Outcome) (delay time.Duration, again bool) {
	ends := o.ends()
	if (ends && o.State() != StateCanceled || o.State() == StateReady) && b.failures.Len() > 0 {
		b.Forget(key())
	}
	if ends {
		return 0, false
	}
	return b.delay(o, func(counter int) (before int) { return b.count(key(), o.Generation(), counter) }), true
}

// Resync returns the delay after which a resource is reconciled without an
// event. It is for engines that watch the awaited objects.
func (b *Backoff) Resync() time.Duration { return b.atResync() }

// Forget drops the counts of key, for example because a user asked to retry
// now.
func (b *Backoff) Forget(key string) { b.failures.Delete(key) }

// timeOf calls a user's clock. If the clock panics, it returns time.Now.
func timeOf(now func() time.Time) (t time.Time) {
	defer func() {
		if recover() != nil {
			t = time.Now()
		}
	}()
	return now()
}

// count counts an outcome of key, and returns the number of like outcomes
// before it. A new generation resets the counts.
func (b *Backoff) count(key string, generation int64, counter int) (before int) {
	now := b.now()
	b.failures.Put(key, func(f *failures) {
		if f.generation != generation || b.unused(f, now) {
			*f = failures{generation: generation}
		}
		f.seen = now
		before = f.count[counter]
		f.count[counter]++
	}, func(n int, f *failures) bool { return n > manyKeys && b.unused(f, now) })
	return before
}

// unused reports whether counts have ended because no pass used the key. Counts
// from as far in the future have ended, too: the clock went back, and they would
// stay until it is there again.
func (b *Backoff) unused(f *failures, now time.Time) bool { return now.Sub(f.seen).Abs() > 2*b.resync }

// delay returns the delay of an outcome. If the delay doubles, it counts the
// outcome: count returns the number of like outcomes before it. delay itself
// reads only fields that never change.
func (b *Backoff) delay(o Outcome, count func(counter int) (before int)) time.Duration {
	retry, counter := classify.Slow, countSlow
	switch s := o.State(); {
	case s == StateReady, o.Retry() == classify.OnChange, o.After() > b.resync:
		return b.atResync()
	case o.After() > 0:
		return max(o.After(), b.least)
	case s == StateInProgress, s == StateDeleting:
		retry, counter = classify.Fast, countProgress
	case o.Retry() == classify.VerySlow:
		return b.atResync()
	case o.Retry() == classify.Fast:
		retry, counter = classify.Fast, countFast
	}
	step := b.steps[retry]
	d := step.first
	for n := count(counter); n > 0 && d < step.most; n-- {
		d *= 2
	}
	d = min(d, step.most)
	spread := time.Duration(float64(d) * b.jitter * b.rand())
	if d-spread < b.least {
		return max(min(d+spread, step.most), b.least)
	}
	return d - spread
}

func (b *Backoff) atResync() time.Duration {
	return max(b.resync+time.Duration(float64(b.resync)*b.resyncJitter*(2*b.rand()-1)), b.least)
}
