package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/classify"
)

// Backoff computes when to requeue a resource. It counts failures by key. For each key it counts fast
// and slow retries and polls separately, so that many slow failures do not delay the first fast retry.
// One Backoff can serve a whole engine. It is safe for concurrent use. Make it with [NewBackoff].
//
//	StateReady                       at the resync: 1 h +-25 %
//	StateBlocked, StateFailed
//	  with a delay (RetryIn,
//	  Retry-After)                   once after that delay
//	  classify.Fast                  1 s, doubling to 30 s
//	  classify.Slow                  1 s, doubling to 3 min
//	  classify.VerySlow, OnChange    at the resync; OnChange whatever delay was given
//	StateInProgress, StateDeleting   after the server's delay, or else as Fast
//	StateGone, StateCanceled         never
//
// Jitter shortens the doubling delays by up to 10 %, so that resources that failed together are not
// retried together. The counts of a key end when a pass is ready or gone, or when the generation of the
// spec changes. They also end when the key was not used for two resyncs.
//
// No delay is below 1 s, or below the shortest delay that is set, if that is less. If jitter would make
// a delay shorter than that, it lengthens the delay instead. If a check or a server sets a delay longer
// than the resync, the resync replaces it.
type Backoff struct {
	steps        map[classify.Retry]steps
	resync       time.Duration
	least        time.Duration // the shortest delay
	jitter       float64
	resyncJitter float64
	now          func() time.Time // nil: time.Now
	rand         func() float64   // nil: rand.Float64

	n       atomic.Int64 // the size of entries, so that a pass needs no lock if nothing fails
	mu      sync.Mutex   // never held while a user's function runs
	entries map[string]*failures
	sweep   int // the size of entries at which old ones are next removed
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

// shortest is the least delay that can be set. longest is the greatest: 73 years, so that sums do not
// overflow.
const shortest, longest = time.Millisecond, time.Duration(math.MaxInt64 / 4)

// floor is the least delay, unless a shorter one is set.
const floor = time.Second

// stateless computes the delays for reconcilers without a Backoff.
var stateless = NewBackoff(BackoffJitter(0, 0))

// BackoffOption sets up a [Backoff]. The function that makes the option panics on invalid arguments.
type BackoffOption func(*Backoff)

// NewBackoff makes a Backoff with the table above, changed by opts. A nil option panics.
func NewBackoff(opts ...BackoffOption) *Backoff {
	b := &Backoff{
		steps: map[classify.Retry]steps{
			classify.Fast: {time.Second, 30 * time.Second},
			classify.Slow: {time.Second, 3 * time.Minute},
		},
		resync: time.Hour, jitter: 0.1, resyncJitter: 0.25,
		entries: map[string]*failures{}, sweep: 1024,
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

// BackoffSteps sets the first and the longest delay of [classify.Fast] or [classify.Slow]; 73 years are
// the most. It panics on another retry, on a first delay that is not positive, and on a longest delay
// below the first.
func BackoffSteps(retry classify.Retry, first, most time.Duration) BackoffOption {
	if retry != classify.Fast && retry != classify.Slow || first <= 0 || most < first {
		panic(fmt.Sprintf("flow: BackoffSteps(%s, %s, %s): give Fast or Slow, a positive first delay and a longest one not below it", retry, first, most))
	}
	return func(b *Backoff) { b.steps[retry] = steps{min(first, longest), min(most, longest)} }
}

// BackoffResync sets the interval at which a resource is reconciled without an event; 73 years are the
// most. A d that is not positive panics.
func BackoffResync(d time.Duration) BackoffOption {
	if d <= 0 {
		panic(fmt.Sprintf("flow: BackoffResync(%s): give a positive duration", d))
	}
	return func(b *Backoff) { b.resync = min(d, longest) }
}

// BackoffJitter sets two largest random changes, as shares of the delay from 0 to below 1. steps
// shortens the doubling delays. resync shortens or lengthens the resync. Other shares panic.
func BackoffJitter(steps, resync float64) BackoffOption {
	if !(steps >= 0 && steps < 1 && resync >= 0 && resync < 1) {
		panic(fmt.Sprintf("flow: BackoffJitter(%v, %v): give shares from 0 to below 1", steps, resync))
	}
	return func(b *Backoff) { b.jitter, b.resyncJitter = steps, resync }
}

// BackoffClock replaces time.Now. Several goroutines call it at once. If it panics, that call uses
// time.Now. Nil panics.
func BackoffClock(now func() time.Time) BackoffOption {
	if now == nil {
		panic("flow: BackoffClock: the function is nil")
	}
	return func(b *Backoff) { b.now = now }
}

// BackoffRand replaces the source of the jitter, a function that returns numbers from 0 to below 1.
// Several goroutines call it at once. If it panics, or returns a number outside of 0 to 1, the result
// counts as 0.5. Nil panics.
func BackoffRand(random func() float64) BackoffOption {
	if random == nil {
		panic("flow: BackoffRand: the function is nil")
	}
	return func(b *Backoff) { b.rand = random }
}

// Next counts an outcome. It returns the delay after which to reconcile key again, and whether to do so
// at all. A [Reconciler] calls it for each pass that needs it, at most once. An engine with its own
// keys calls it itself.
func (b *Backoff) Next(key string, o Outcome) (delay time.Duration, again bool) {
	switch o.State() {
	case StateGone:
		b.Forget(key)
		return 0, false
	case StateCanceled:
		return 0, false
	case StateReady:
		b.Forget(key)
		return b.delay(o, 0), true
	}
	n := 0
	if counter, counted := counterOf(o); counted {
		n = b.count(key, o.Generation(), counter, b.clock())
	}
	return b.delay(o, n), true
}

// idle sets the delay that Next would return, if that does not depend on the key: no key has a count,
// and o adds none. It then reports true. Most passes end like that and need no key.
func (b *Backoff) idle(o *Outcome) bool {
	switch s := o.State(); {
	case s == StateCanceled:
		return true
	case s != StateReady && s != StateGone || b.n.Load() > 0:
		return false
	case s == StateReady:
		o.delay = b.delay(*o, 0)
	}
	return true
}

// Resync returns the delay after which a resource is reconciled without an event. It is for engines
// that watch the awaited objects.
func (b *Backoff) Resync() time.Duration { return b.atResync() }

// Forget drops the counts of key, for example because a user asked to retry now.
func (b *Backoff) Forget(key string) {
	if b.n.Load() == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, key)
	b.n.Store(int64(len(b.entries)))
}

// clock returns the time.
func (b *Backoff) clock() time.Time {
	if b.now == nil {
		return time.Now()
	}
	return timeOf(b.now)
}

// timeOf calls a user's clock. If the clock panics, it returns time.Now.
func timeOf(now func() time.Time) (t time.Time) {
	defer func() {
		if recover() != nil {
			t = time.Now()
		}
	}()
	return now()
}

// random returns a number from 0 to 1.
func (b *Backoff) random() (r float64) {
	if b.rand == nil {
		return rand.Float64()
	}
	defer func() {
		if recover() != nil {
			r = 0.5
		}
	}()
	if r = b.rand(); !(r >= 0 && r <= 1) { // also NaN
		return 0.5
	}
	return r
}

// counterOf returns the counter of an outcome. counted is false if none counts it.
func counterOf(o Outcome) (counter int, counted bool) {
	switch {
	case o.State() == StateInProgress || o.State() == StateDeleting:
		return countProgress, o.After() <= 0
	case o.Retry() == classify.VerySlow, o.Retry() == classify.OnChange, o.After() > 0:
		return 0, false
	case o.Retry() == classify.Fast:
		return countFast, true
	}
	return countSlow, true
}

// count counts an outcome of key, and returns the number of like outcomes before it. A new generation
// resets the counts.
func (b *Backoff) count(key string, generation int64, counter int, now time.Time) (before int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.entries[key]
	if !ok {
		if len(b.entries) >= b.sweep {
			for k, e := range b.entries {
				if now.Sub(e.seen) > 2*b.resync {
					delete(b.entries, k)
				}
			}
			b.sweep = max(1024, 2*len(b.entries))
		}
		f = &failures{generation: generation}
		b.entries[key] = f
		b.n.Store(int64(len(b.entries)))
	}
	if f.generation != generation || now.Sub(f.seen) > 2*b.resync {
		*f = failures{generation: generation}
	}
	f.seen = now
	f.count[counter]++
	return f.count[counter] - 1
}

// delay returns the delay of an outcome after n like it. It reads only fields that never change.
func (b *Backoff) delay(o Outcome, n int) time.Duration {
	step := classify.Slow
	switch s := o.State(); {
	case s == StateReady, o.Retry() == classify.OnChange:
		return b.atResync()
	case o.After() > b.resync:
		return b.atResync()
	case o.After() > 0:
		return max(o.After(), b.least)
	case s == StateInProgress, s == StateDeleting, o.Retry() == classify.Fast:
		step = classify.Fast
	case o.Retry() == classify.VerySlow:
		return b.atResync()
	}
	first, most := b.steps[step].first, b.steps[step].most
	d := first
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	spread := time.Duration(float64(d) * b.jitter * b.random())
	if d-spread < b.least {
		return max(min(d+spread, most), b.least)
	}
	return d - spread
}

func (b *Backoff) atResync() time.Duration {
	return max(b.resync+time.Duration(float64(b.resync)*b.resyncJitter*(2*b.random()-1)), b.least)
}
