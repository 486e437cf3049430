package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/windlass-go/windlass/classify"
)

// Backoff says when to come back to a resource. It counts failures by key and, for each key, by how soon they are to be
// tried again, so that many slow failures do not delay the first fast one. One Backoff serves a whole engine; it is safe
// for concurrent use. Make it with [NewBackoff].
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
// The doubling delays are shortened by up to 10 % at random, so that what failed together does not come back together.
// Counts are forgotten when a pass is ready or gone, when the generation of the spec changes, and when a key was not
// heard of for two resyncs. No delay is ever negative or zero.
type Backoff struct {
	steps        map[classify.Retry]steps
	resync       time.Duration
	jitter       float64
	resyncJitter float64
	now          func() time.Time
	rand         func() float64

	mu      sync.Mutex
	entries map[string]*failures
	sweep   int // how many entries there are when the forgotten ones are next looked for
}

type steps struct{ first, most time.Duration }

// failures is what is counted of one key.
type failures struct {
	generation int64
	count      [counters]int
	seen       time.Time
}

// What is counted by itself.
const (
	countFast = iota
	countSlow
	countProgress
	counters
)

// shortest is the delay that nothing goes below, longest what nothing that is set goes above: 73 years, so that sums do
// not overflow.
const shortest, longest = time.Millisecond, time.Duration(math.MaxInt64 / 4)

// stateless gives delays to outcomes of reconcilers without a Backoff.
var stateless = NewBackoff(BackoffJitter(0, 0))

// BackoffOption sets up a [Backoff]. What makes no sense panics in the function that makes it.
type BackoffOption func(*Backoff)

// NewBackoff makes a Backoff with the table above, but for what opts say.
func NewBackoff(opts ...BackoffOption) *Backoff {
	b := &Backoff{
		steps: map[classify.Retry]steps{
			classify.Fast: {time.Second, 30 * time.Second},
			classify.Slow: {time.Second, 3 * time.Minute},
		},
		resync: time.Hour, jitter: 0.1, resyncJitter: 0.25,
		now: time.Now, rand: rand.Float64,
		entries: map[string]*failures{}, sweep: 1024,
	}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("flow: NewBackoff: option %d is nil", i+1))
		}
		o(b)
	}
	return b
}

// BackoffSteps sets the first and the longest delay of [classify.Fast] or [classify.Slow]. Other values of retry, a first
// delay that is not positive and a longest one below it panic.
func BackoffSteps(retry classify.Retry, first, most time.Duration) BackoffOption {
	if retry != classify.Fast && retry != classify.Slow || first <= 0 || most < first {
		panic(fmt.Sprintf("flow: BackoffSteps(%s, %s, %s): give Fast or Slow, a positive first delay and a longest one not below it", retry, first, most))
	}
	return func(b *Backoff) { b.steps[retry] = steps{min(first, longest), min(most, longest)} }
}

// BackoffResync sets after how long a resource is looked at although nothing happened; 73 years are the most. One that
// is not positive panics.
func BackoffResync(d time.Duration) BackoffOption {
	if d <= 0 {
		panic(fmt.Sprintf("flow: BackoffResync(%s): give a positive duration", d))
	}
	return func(b *Backoff) { b.resync = min(d, longest) }
}

// BackoffJitter sets by how much at most the doubling delays are shortened, and by how much at most the resync is
// shortened or lengthened, both as a share of the delay from 0 to below 1; others panic.
func BackoffJitter(steps, resync float64) BackoffOption {
	if !(steps >= 0 && steps < 1 && resync >= 0 && resync < 1) {
		panic(fmt.Sprintf("flow: BackoffJitter(%v, %v): give shares from 0 to below 1", steps, resync))
	}
	return func(b *Backoff) { b.jitter, b.resyncJitter = steps, resync }
}

// BackoffClock replaces time.Now. Nil panics.
func BackoffClock(now func() time.Time) BackoffOption {
	if now == nil {
		panic("flow: BackoffClock: the function is nil")
	}
	return func(b *Backoff) { b.now = now }
}

// BackoffRand replaces the source of the jitter, a function that gives numbers from 0 to below 1. It is called under a
// lock. Nil panics.
func BackoffRand(random func() float64) BackoffOption {
	if random == nil {
		panic("flow: BackoffRand: the function is nil")
	}
	return func(b *Backoff) { b.rand = random }
}

// Next counts an outcome and says after how long to come back to key, and whether at all. [WithBackoff] calls it once a
// pass; engines that bring keys of their own call it themselves.
func (b *Backoff) Next(key string, o Outcome) (delay time.Duration, again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch o.State() {
	case StateGone:
		delete(b.entries, key)
		return 0, false
	case StateCanceled:
		return 0, false
	case StateReady:
		delete(b.entries, key)
		return b.delay(o, 0, b.rand), true
	}
	counter, counted := counterOf(o)
	if !counted {
		return b.delay(o, 0, b.rand), true
	}
	f := b.of(key, o.Generation())
	n := f.count[counter]
	f.count[counter]++
	return b.delay(o, n, b.rand), true
}

// idle gives an outcome the delay that Next would give it, if that does not depend on the key: nothing has failed, and nothing
// does. Most passes come to that, and need no key then.
func (b *Backoff) idle(o *Outcome) bool {
	if o.State() != StateReady {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) > 0 {
		return false
	}
	o.delay = b.delay(*o, 0, b.rand)
	return true
}

// Resync gives the delay after which a resource is looked at although nothing happened, for engines that know better when to
// look before: what it waits for is watched.
func (b *Backoff) Resync() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.atResync(b.rand)
}

// Forget drops what was counted of key, for engines that know better: a person asked to try now.
func (b *Backoff) Forget(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.entries, key)
}

// counterOf tells what an outcome counts as; not every one does.
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

// of gives the entry of key, anew if the generation has changed.
func (b *Backoff) of(key string, generation int64) *failures {
	now := b.now()
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
	}
	if f.generation != generation || now.Sub(f.seen) > 2*b.resync {
		*f = failures{generation: generation}
	}
	f.seen = now
	return f
}

// delay is that of an outcome after n like it. It reads what is never changed only. A nil random means no jitter.
func (b *Backoff) delay(o Outcome, n int, random func() float64) time.Duration {
	if random == nil {
		random = func() float64 { return 0.5 }
	}
	step := classify.Slow
	switch s := o.State(); {
	case s == StateReady, o.Retry() == classify.OnChange:
		return b.atResync(random)
	case o.After() > 0:
		return max(o.After(), shortest)
	case s == StateInProgress, s == StateDeleting, o.Retry() == classify.Fast:
		step = classify.Fast
	case o.Retry() == classify.VerySlow:
		return b.atResync(random)
	}
	d, most := b.steps[step].first, b.steps[step].most
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return max(d-time.Duration(float64(d)*b.jitter*random()), shortest)
}

func (b *Backoff) atResync(random func() float64) time.Duration {
	return max(b.resync+time.Duration(float64(b.resync)*b.resyncJitter*(2*random()-1)), shortest)
}
