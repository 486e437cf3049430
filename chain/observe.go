package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-go/windlass/internal/mono"
)

// Observer is told of every call of every link. It is not generic, so one value serves every chain. Its methods are
// called by as many goroutines as call the chain, and should neither block nor panic.
type Observer interface {
	// Enabled is asked once for each call of a chain. If it says false, that call runs as if the observer was not there.
	// Where a chain has several observers, they are asked again behind a link that replaces the context by an unrelated one.
	Enabled(ctx context.Context) bool
	// Enter is called before a link runs. The context it returns is the one that the link gets; nil means ctx.
	Enter(ctx context.Context, link *Link) context.Context
	// Exit is called when the link is left, on every outcome, with the context that Enter returned. It is called for the
	// innermost link first.
	Exit(ctx context.Context, link *Link, exit Exit)
}

// Exit is how a link was left.
type Exit struct {
	// Result is what the link returned, also where it returned an error besides; nil after a panic.
	Result any
	// Err is the error that the link returned; [ErrGoexit] if it ended its goroutine; nil after a panic.
	Err error
	// Panic is the value of the panic that is passing through the link; nil if there is none.
	Panic any
	// Elapsed is the time between Enter and Exit, that of all links behind this one included.
	Elapsed time.Duration
}

// Described is implemented by results that can say in a word what was decided.
type Described interface {
	// Describe says what was decided at link, as a verdict (proceed, block, skip, ...) and a reason, which is empty where
	// there is nothing to say. A result passes outwards through links that did not decide it: for those the verdict is
	// "proceed", since that is what they did. Of a link that is a whole [Point] or [Pass], or nil, it says what came out.
	Describe(link *Link) (verdict, reason string)
}

// The verdicts that are the same for every kind of result.
const (
	VerdictProceed = "proceed"
	VerdictError   = "error"
	VerdictPanic   = "panic"
)

// Verdict says in a word how link was left: [VerdictPanic], [VerdictError], or what the result says of itself if it is
// [Described], or else [VerdictProceed]. An error that a described result does not blame on link is no error of link.
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

// ErrGoexit is the error that observers and [Finally] are shown when a link ended its goroutine with runtime.Goexit,
// as a failing test does. No handler returns it.
var ErrGoexit = errors.New("chain: the goroutine was ended by runtime.Goexit")

// layer is one decoration or one observer of a chain.
type layer[Req, Res any] struct {
	decorate wrap[Req, Res]
	observer Observer
}

// Decorate returns a chain in which decorate is put around each link's handler, of links added later too. The names
// stay. It is called while composing, once for each link of a composition; several decorations nest, the first outermost:
//
//	New(a, b).Decorate(d).Then(h) = d(a', a(d(b', b(h))))    where a' and b' describe a and b
//
// The *Link is the same for every decoration of one chain and must not be changed. A nil decorate panics.
func (c Chain[Req, Res]) Decorate(decorate func(*Link, Handler[Req, Res]) Handler[Req, Res]) Chain[Req, Res] {
	if decorate == nil {
		panic("chain: Decorate: the function is nil")
	}
	return c.with(layer[Req, Res]{decorate: decorate})
}

// Observe returns a chain that tells o of each call of each of its links, of links added later too. Observing twice
// means both, the first outermost. A nil observer is none: c itself is returned.
//
// An observed chain is composed twice, with and without the observers, and each call takes one of the two. So the
// constructor of a link runs twice, and a call that no observer is enabled for costs one question more than it would
// without any.
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

// Watch returns h with o told of each call of it, as link; o is not asked whether it is enabled. It is what
// [Chain.Observe] puts around each link, for those who observe a lone handler. A nil observer panics.
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

// abandoned tells o of a link that was left by a panic, or with its goroutine, and goes on with that.
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

// wrap is what Decorate takes.
type wrap[Req, Res any] = func(*Link, Handler[Req, Res]) Handler[Req, Res]

// askedKey is the context key, its own for each composition, under which a call with several observers keeps which of
// them are enabled. It is not of size zero, as pointers to such need not differ.
type askedKey struct{ _ byte }

// observed composes the chain around end: plainly, and if there are observers once more with them.
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

// watchIfAsked is the layer of the n-th of several observers: it asks the context whether that one is enabled. Behind a
// link that handed on a context of its own making only the observer itself can tell.
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
