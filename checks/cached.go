package checks

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
)

// Cached remembers for ttl that check proceeded for a key, and does not run check for that key
// meanwhile. It remembers nothing else: after a block, a skip or an error check runs again. So a
// resource is not blocked longer than necessary. The key must cover everything that check reads,
// for instance the generation of the spec. The zero key is not remembered.
//
// Cached remembers up to 1,024 keys and drops the oldest first ([Size]). [Clock] replaces the
// clock. The inner links run in every pass. check must be made by [Check]. Any other link, a nil
// key function, and a ttl that is not positive panic.
func Cached[R any, K comparable](ttl time.Duration, key func(R) K, check chain.Middleware[R, Result], opts ...Option) chain.Middleware[R, Result] {
	name := "Cached(" + chain.NameOf(check) + ")"
	if key == nil {
		panic("checks: " + name + ": the key function is nil")
	}
	if ttl <= 0 {
		panic(fmt.Sprintf("checks: %s: the time to remember is %s: give a positive duration", name, ttl))
	}
	decide, tag := alone("Cached", check)
	s := configure(name, forCached, opts)
	passes := &passed[K]{at: make(map[K]*list.Element), size: s.size}
	return newCheck(name, tag, func(ctx context.Context, req R) (Result, error) {
		var zero K
		k := key(req)
		if k != zero && passes.has(k, s.now()) {
			chain.Note(ctx, "remembered")
			return Proceed(), nil
		}
		res, err := decide(ctx, req)
		if err == nil && res.d == proceed && k != zero {
			passes.add(k, s.now().Add(ttl))
		}
		return res, err
	})
}

// passed remembers keys. All keys are remembered for the same time, so the first in order is the
// first to expire.
type passed[K comparable] struct {
	mu    sync.Mutex
	at    map[K]*list.Element
	order list.List // of pass[K]
	size  int
}

type pass[K comparable] struct {
	key   K
	until time.Time
}

func (p *passed[K]) has(k K, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.at[k]
	return ok && now.Before(e.Value.(pass[K]).until)
}

func (p *passed[K]) add(k K, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.at[k]; ok {
		p.order.Remove(e)
	} else if len(p.at) >= p.size {
		oldest := p.order.Front()
		delete(p.at, oldest.Value.(pass[K]).key)
		p.order.Remove(oldest)
	}
	p.at[k] = p.order.PushBack(pass[K]{k, until})
}
