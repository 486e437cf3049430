package checks

import (
	"context"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/keyed"
)

// Cached remembers for ttl that check proceeded for a key, and does not run
// check for that key meanwhile. It remembers no block, skip or error, so a
// resource is not blocked longer than necessary. The key must cover everything
// that check reads, for instance the generation of the spec. The zero key, and
// a key that contains NaN, are not remembered. If the clock is set back to
// before a verdict, Cached forgets the verdict. A user who asks for a retry now
// does not clear it; add the annotation of the request to the key for that.
//
// A remembered prebuilt check follows its objects ([Follow]). A remembered check
// sets no [Slot], so a later [Slot.Get] returns
// [ErrSlotUnset]. A check with [WithSlot] panics here.
//
// Cached remembers up to 1,024 keys and drops the oldest first ([WithSize]).
// [WithClock] replaces the clock. The inner links run in every pass. These
// panic: a check that [Check] did not make, a nil key function, and a ttl that
// is not positive.
func Cached[R any, K comparable](ttl time.Duration, key func(R) K, check chain.Middleware[R, Result], opts ...Option) chain.Middleware[R, Result] {
	s := &settings{check: "Cached(" + nameOf(check) + ")", takes: []string{"WithClock", "WithSize"}, now: time.Now, number: 1024}
	s.must(key != nil, "the key function is nil")
	s.must(ttl > 0, "the ttl is %s: give a positive duration", ttl)
	c, tag := alone("Cached", check)
	s.must(!tag.Sets, "the check sets a slot, and a remembered check sets nothing: leave WithSlot out, or do not remember the check")
	s.with(opts)
	var passes keyed.Map[K, time.Time] // when the check proceeded
	return newGroup(s.check, tag, func(observers []chain.Observer) func(context.Context, R) (Result, error) {
		decide := Compose(watched(c, observers))
		return func(ctx context.Context, req R) (Result, error) {
			var zero K
			k := key(req)
			if at, ok := passes.Get(k); ok {
				if age := s.now().Sub(at); age >= 0 && age < ttl { // negative: the clock was set back
					chain.Note(ctx, "remembered")
					tag.Follow(ctx, req)
					return Proceed(), nil
				}
			}
			res, err := decide(ctx, req)
			// No error comes with proceed. A key with NaN is not equal to itself.
			if res.d == proceed && k != zero && same(k, k) {
				now := s.now()
				passes.Put(k, func(v *time.Time) { *v = now }, func(n int, _ *time.Time) bool { return n > s.number })
			}
			return res, err
		}
	})
}

func same[K comparable](a, b K) bool { return a == b }
