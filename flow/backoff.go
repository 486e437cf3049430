package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/keyed"
)

// Backoff computes when to requeue a resource. For each key it counts fast
// retries, slow retries and polls separately, so that many slow failures do not
// delay the first fast retry. One Backoff can serve a whole engine. It is safe
// for concurrent use. Make it with [NewBackoff].
//
//	StateReady                       at the resync: 1 h +-25 %
//	StateBlocked, StateFailed
//	  with a delay (WithAfter,
//	  Retry-After)                   once after that delay
//	  classify.Fast                  1 s, doubling to 30 s
//	  classify.Slow                  1 s, doubling to 3 min
//	  classify.VerySlow, OnChange    at the resync; OnChange ignores every delay
//	StateInProgress, StateDeleting   after the server's delay, or else as Fast
//	classify.Never, StateFinished    never
//	StateGone, StateCanceled         never
//	StateIgnored                     as StateBlocked if the check asks for it; else never
//
// Jitter shortens the doubling delays by up to 10 %, so that resources that
// failed together are not retried together. The counts of a key return to zero
// after a Ready pass, after a pass that no pass follows (but not after a
// canceled one), when the generation of the spec changes, and after two resyncs
// without a use.
//
// The least delay is 1 s, or the shortest delay that an option sets, if that is
// less. Jitter that would shorten a delay below it lengthens the delay instead.
// A check, a rule and a failed request get the delay that they ask for, up to 73
// years; that of a service is at most an hour. The resync replaces a longer delay
// between two polls of an operation.
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

// failures are small, because each waiter has them.
type failures struct {
	generation int64
	seen       int64 // in milliseconds since 1970
	count      [counters]uint8
}

// The separate counters of a key.
const (
	countFast = iota
	countSlow
	countProgress
	counters
)

// manyKeys is the number of keys that no age removes.
const manyKeys = 1024

// shortest and longest bound the delays that options set. longest is 73 years,
// so that sums do not overflow.
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
// [classify.Slow], up to 73 years. It panics on another retry, on a first delay
// that is not positive, and on a longest delay below the first.
func WithBackoffSteps(retry classify.Retry, first, most time.Duration) BackoffOption {
	if retry != classify.Fast && retry != classify.Slow || first <= 0 || most < first {
		panic(fmt.Sprintf("flow: WithBackoffSteps(%s, %s, %s): give Fast or Slow, a positive first delay and a longest one not below it", retry, first, most))
	}
	return func(b *Backoff) { b.steps[retry] = steps{first, min(most, longest)} }
}

// WithBackoffResync sets the interval at which a resource is reconciled without
// an event, up to 73 years. The default is 1 h. A d that is not positive
// panics.
func WithBackoffResync(d time.Duration) BackoffOption {
	if d <= 0 {
		panic(fmt.Sprintf("flow: WithBackoffResync(%s): give a positive duration", d))
	}
	return func(b *Backoff) { b.resync = min(d, longest) }
}

// WithBackoffJitter sets the largest random change of a delay, as a share from
// 0 to below 1; other shares panic. steps shortens the doubling delays. resync
// shortens or lengthens the resync.
func WithBackoffJitter(steps, resync float64) BackoffOption {
	if !(steps >= 0 && steps < 1 && resync >= 0 && resync < 1) {
		panic(fmt.Sprintf("flow: WithBackoffJitter(%v, %v): give shares from 0 to below 1", steps, resync))
	}
	return func(b *Backoff) { b.jitter, b.resyncJitter = steps, resync }
}

// WithBackoffClock replaces time.Now. Several goroutines call now at once. If
// now panics, that call uses time.Now. A nil now panics.
func WithBackoffClock(now func() time.Time) BackoffOption {
	if now == nil {
		panic("flow: WithBackoffClock: the function is nil")
	}
	return func(b *Backoff) { b.now = func() time.Time { return timeOf(now) } }
}

// Next counts an outcome of key. It returns the delay until the next pass, and
// whether a pass follows at all. A [Reconciler] calls it at most once a pass.
// An engine with its own keys calls it itself.
func (b *Backoff) Next(key string, o Outcome) (delay time.Duration, again bool) {
	return b.next(func() string { return key }, o)
}

// next calls key only if the key has a count or gets one. Most passes have
// none.
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
func (b *Backoff) Resync() time.Duration {
	return max(b.resync+time.Duration(float64(b.resync)*b.resyncJitter*(2*b.rand()-1)), b.least)
}

// Forget drops the counts of key, for example after a user asked for a retry.
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
		f.seen = now.UnixMilli()
		before = int(f.count[counter])
		f.count[counter] = uint8(min(before+1, math.MaxUint8)) // more than the doublings of any delay
	}, func(n int, f *failures) bool { return n > manyKeys && b.unused(f, now) })
	return before
}

// unused reports whether no pass used the key for two resyncs. It treats counts
// from the future in the same way: after the clock went back, they would
// otherwise stay for as long.
func (b *Backoff) unused(f *failures, now time.Time) bool {
	return now.Sub(time.UnixMilli(f.seen)).Abs() > 2*b.resync
}

// delay returns the delay of an outcome. It calls count only for a delay that
// doubles: count counts the outcome, and returns the number of like outcomes
// before it. delay reads only fields that never change.
func (b *Backoff) delay(o Outcome, count func(counter int) (before int)) time.Duration {
	retry, counter := classify.Slow, countSlow
	switch s := o.State(); {
	case s == StateReady, o.Retry() == classify.OnChange:
		return b.Resync()
	case o.After() > b.resync && (s == StateInProgress || s == StateDeleting):
		return b.Resync()
	case o.After() > 0:
		return max(min(o.After(), longest), b.least)
	case s == StateInProgress, s == StateDeleting:
		retry, counter = classify.Fast, countProgress
	case o.Retry() == classify.VerySlow:
		return b.Resync()
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

// Again returns the delay after which to requeue the resource, and whether to
// requeue it at all. The delay comes from the reconciler's [Backoff] and grows
// with each failure. With [WithoutBackoff] it is always the first delay of a
// new Backoff, without jitter. It is at least 1 s, unless an option of the
// Backoff sets a shorter delay. It is zero only if again is false: the pass was
// canceled, the outcome is final, the resource is gone, or it is ignored and
// the check asks for no other pass.
func (o Outcome) Again() (delay time.Duration, again bool) {
	switch {
	case o.ends():
		return 0, false
	case o.delay > 0:
		return o.delay, true
	}
	return stateless.delay(o, func(int) (before int) { return 0 }), true
}

// ends reports whether only an event causes another pass.
func (o Outcome) ends() bool {
	switch o.State() {
	case StateGone, StateCanceled:
		return true
	case StateIgnored:
		return o.Retry() == classify.Never || o.Retry() == classify.Unset && o.After() <= 0
	}
	return o.Final()
}
