package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-go/windlass/internal/mono"
)

// Observer is notified of every call of every link. It is not generic, so one
// value serves every chain. Its methods run on every goroutine that calls the
// chain, and should neither block nor panic.
type Observer interface {
	// Enabled is called once for each call of a chain. If it returns false,
	// that call runs without the observer. If a chain has several observers and
	// a link passes an unrelated context to next, Enabled is called again for
	// each inner link.
	Enabled(ctx context.Context) bool
	// Enter is called before a link runs. The link gets the context that Enter
	// returns; nil means ctx.
	Enter(ctx context.Context, link *Link) context.Context
	// Exit is called when the link ends, on every outcome, with the context
	// that Enter returned. The innermost link comes first.
	Exit(ctx context.Context, link *Link, exit Exit)
}

// Exit describes how a link ended.
type Exit struct {
	// Result is the result that the link returned, even if it also returned an
	// error. It is nil if the link panicked or ended its goroutine.
	Result any
	// Err is the error that the link returned, or [ErrGoexit] if the link ended
	// its goroutine. It is nil after a panic.
	Err error
	// Panic is the value of a panic that passes through the link. It is nil
	// without a panic.
	Panic any
	// Elapsed is the time between Enter and Exit, including all inner links.
	Elapsed time.Duration
}

// Described is implemented by results that can describe their decision in a
// word.
type Described interface {
	// Describe returns the decision at link: a verdict (proceed, block, skip,
	// ...) and a reason, which may be empty. A result passes outwards through
	// links that did not decide it. For those links the verdict is "proceed",
	// because they let the request proceed. For a whole [Point] or [Pass], or a
	// nil link, Describe returns the final outcome.
	Describe(link *Link) (verdict, reason string)
}

// These verdicts are the same for every kind of result.
const (
	VerdictProceed = "proceed"
	VerdictError   = "error"
	VerdictPanic   = "panic"
)

// Verdict returns the verdict for link: [VerdictPanic], [VerdictError], the
// verdict of a [Described] result, or else [VerdictProceed]. An error is not an
// error of link if a described result returns proceed for link.
func (e Exit) Verdict(link *Link) (verdict, reason string) {
	if e.Panic != nil {
		return VerdictPanic, ""
	}
	verdict = VerdictProceed
	d, described := e.Result.(Described)
	if described {
		verdict, reason = d.Describe(link)
	}
	if e.Err != nil && (!described || verdict != VerdictProceed) {
		verdict = VerdictError
	}
	return verdict, reason
}

// ErrGoexit is the error that observers and [Finally] get when a link ended its
// goroutine with runtime.Goexit, as a failing test does. No handler returns it.
var ErrGoexit = errors.New("chain: the goroutine was ended by runtime.Goexit")

// layer is one decoration or one observer of a chain.
type layer[Req, Res any] struct {
	decorate wrap[Req, Res]
	observer Observer
}

// Decorate returns a chain that wraps decorate around each link's handler,
// including links added later. The names stay. Each composition calls decorate
// once for each link. Several decorations nest, the first outermost:
//
//	New(a, b).Decorate(d).Then(h) = d(a', a(d(b', b(h))))    where a' and b' describe a and b
//
// The *Link is the same for every decoration of one chain and must not be
// changed. A nil decorate panics. If decorate returns a nil handler,
// [Chain.Then] panics.
func (c Chain[Req, Res]) Decorate(decorate func(*Link, Handler[Req, Res]) Handler[Req, Res]) Chain[Req, Res] {
	if decorate == nil {
		panic("chain: Decorate: the function is nil")
	}
	return c.with(layer[Req, Res]{decorate: decorate})
}

// Observe returns a chain that notifies o of each call of each of its links,
// including links added later. Observing twice adds both observers, the first
// outermost. A nil o returns c itself.
//
// Then composes an observed chain twice, with and without the observers, and
// each call uses one of the two. So the constructor of a link runs twice. If no
// observer is enabled, the extra cost of a call is one call of Enabled for each
// observer.
func (c Chain[Req, Res]) Observe(o Observer) Chain[Req, Res] {
	if o == nil {
		return c
	}
	return c.with(layer[Req, Res]{observer: o})
}

func (c Chain[Req, Res]) with(l layer[Req, Res]) Chain[Req, Res] {
	c.layers = append(slices.Clip(c.layers), l)
	return c
}

// Watch returns h with o notified of each call, as link. It does not call
// o.Enabled. [Chain.Observe] wraps each link in this way; Watch is for code
// that observes a single handler. A nil o panics.
func Watch[Req, Res any](o Observer, link *Link, h Handler[Req, Res]) Handler[Req, Res] {
	if o == nil {
		panic(fmt.Sprintf("chain: Watch: the observer of %s is nil", link))
	}
	o = Bound(o, link)
	return func(ctx context.Context, req Req) (Res, error) {
		return watch(ctx, req, o, link, h)
	}
}

func watch[Req, Res any](outer context.Context, req Req, o Observer, link *Link, h Handler[Req, Res]) (res Res, err error) {
	ctx := o.Enter(outer, link)
	if ctx == nil {
		ctx = outer
	}
	returned, start := false, mono.Now()
	defer func() {
		if !returned {
			abandoned(ctx, o, link, start, recover())
		}
	}()
	res, err = h(ctx, req)
	returned = true
	o.Exit(ctx, link, Exit{Result: res, Err: err, Elapsed: mono.Now() - start})
	return res, err
}

// abandoned notifies o of a link that panicked or ended its goroutine, and then
// panics again with the same value.
func abandoned(ctx context.Context, o Observer, link *Link, start time.Duration, panicked any) {
	exit := Exit{Panic: panicked, Elapsed: mono.Now() - start}
	if panicked == nil {
		exit.Err = ErrGoexit
	}
	o.Exit(ctx, link, exit)
	if panicked != nil {
		panic(panicked)
	}
}

// wrap is the type of a decoration.
type wrap[Req, Res any] = func(*Link, Handler[Req, Res]) Handler[Req, Res]

// askedKey is a context key; each composition has its own. Under it, a call
// with several observers stores which of them are enabled. It is not of size
// zero, because pointers to zero-size values may be equal.
type askedKey struct{ _ byte }

// observed composes the chain around end without observers, and a second time
// with them if there are any.
func (c Chain[Req, Res]) observed(end Handler[Req, Res]) Handler[Req, Res] {
	var observers []Observer
	for _, l := range c.layers {
		if l.observer != nil {
			observers = append(observers, l.observer)
		}
	}
	var key *askedKey
	if len(observers) > 1 {
		key = new(askedKey)
	}
	var bare, full []wrap[Req, Res]
	n := 0
	for _, l := range c.layers {
		switch {
		case l.observer == nil:
			bare, full = append(bare, l.decorate), append(full, l.decorate)
		case len(observers) == 1:
			full = append(full, func(link *Link, h Handler[Req, Res]) Handler[Req, Res] { return Watch(l.observer, link, h) })
		default:
			full = append(full, watchIfAsked[Req, Res](l.observer, key, n))
			n++
		}
	}
	plain := c.compose(end, bare)
	if len(observers) == 0 || len(c.links) == 0 {
		return plain
	}
	watched := c.compose(end, full)
	if len(observers) == 1 {
		o := observers[0]
		return func(ctx context.Context, req Req) (Res, error) {
			if !o.Enabled(ctx) {
				return plain(ctx, req)
			}
			return watched(ctx, req)
		}
	}
	return func(ctx context.Context, req Req) (Res, error) {
		var on []bool
		for i, o := range observers {
			if o.Enabled(ctx) {
				if on == nil {
					on = make([]bool, len(observers))
				}
				on[i] = true
			}
		}
		if on == nil {
			return plain(ctx, req)
		}
		return watched(context.WithValue(ctx, key, on), req)
	}
}

// watchIfAsked returns the layer of the n-th of several observers. It reads
// from the context whether that observer is enabled. If a link passed on an
// unrelated context, it calls o.Enabled instead.
func watchIfAsked[Req, Res any](o Observer, key *askedKey, n int) wrap[Req, Res] {
	return func(link *Link, h Handler[Req, Res]) Handler[Req, Res] {
		bound := Bound(o, link)
		return func(ctx context.Context, req Req) (Res, error) {
			on, asked := ctx.Value(key).([]bool)
			if asked && on[n] || !asked && o.Enabled(ctx) {
				return watch(ctx, req, bound, link, h)
			}
			return h(ctx, req)
		}
	}
}
