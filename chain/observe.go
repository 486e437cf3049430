package chain

import (
	"context"
	"slices"
	"time"

	"github.com/windlass-go/windlass/internal/mono"
	"github.com/windlass-go/windlass/internal/run"
)

// Observer is notified of every call of every link. It is not generic, so one
// value can observe all chains. Its methods run on each goroutine that calls
// the chain. They should neither block nor panic.
//
// An Observer may also have a method Bind(*Link) Observer. The chain calls it
// while it is composed, so that the Observer can prepare data about that link.
// For that link the chain calls Enter and Exit of the returned Observer; nil
// means the Observer itself. Enabled is always called on the Observer itself.
type Observer interface {
	// Enabled is called once for each call of a chain. If it returns false,
	// that call runs without the observer. If a link passes an unrelated
	// context to next, Enabled is called again for each inner link.
	Enabled(ctx context.Context) bool
	// Enter is called before a link runs. The link gets the returned context;
	// nil means ctx.
	Enter(ctx context.Context, link *Link) context.Context
	// Exit is called when the link ends, on every outcome, with the context
	// that Enter returned. Inner links end before outer ones.
	Exit(ctx context.Context, link *Link, exit Exit)
}

// Exit describes how a link ended.
type Exit struct {
	// Result is the result that the link returned, also if it returned an error
	// with it. It is nil if the link panicked or ended its goroutine.
	Result any
	// Err is the error that the link returned, or [ErrGoexit] if the link ended
	// its goroutine. It is nil after a panic.
	Err error
	// Panic is the value of a panic that passes through the link; nil without a
	// panic. Packages that check each decision, such as checks, turn the panic
	// of a link into a [*PanicError] in Err.
	Panic any
	// Passed reports that the link passed on the decision of an inner link and
	// decided nothing itself. Only packages that check each decision, such as
	// checks, know this. In other chains it is false.
	Passed bool
	// Elapsed is the time between Enter and Exit, including all inner links.
	Elapsed time.Duration
}

// The verdicts that several kinds of results share.
const (
	VerdictProceed = "proceed" // the link decided nothing, or let the request proceed
	VerdictSkip    = "skip"    // the link left out inner links, or the operation, on purpose
	VerdictBlock   = "block"   // the work has to wait for something
	VerdictWait    = "wait"    // an operation is under way
	VerdictError   = "error"   // the link returned an error
	VerdictPanic   = "panic"   // the link panicked
)

// Verdict returns the decision of the link in a word, and its reason, which may
// be empty. The first of these that applies is the verdict:
//
//   - [VerdictPanic], if Panic is not nil
//   - [VerdictProceed], if Passed is true
//   - [VerdictPanic], if Err is a [*PanicError], else [VerdictError], if Err is
//     not nil
//   - the verdict of the result, if it has a method Describe() (verdict, reason
//     string)
//   - [VerdictProceed]
func (e Exit) Verdict() (verdict, reason string) {
	if e.Panic != nil {
		return VerdictPanic, ""
	}
	verdict = VerdictProceed
	if e.Passed {
		return verdict, ""
	}
	if d, ok := e.Result.(interface {
		Describe() (verdict, reason string)
	}); ok {
		verdict, reason = d.Describe()
	}
	if e.Err == nil {
		return verdict, reason
	}
	if verdict == VerdictProceed {
		reason = "" // the reason to proceed does not explain the error
	}
	if _, panicked := e.Err.(*PanicError); panicked {
		return VerdictPanic, reason
	}
	return VerdictError, reason
}

// ErrGoexit is the error that observers and [Finally] get when a link ended its
// goroutine with runtime.Goexit, as a failing test does. No handler returns it.
var ErrGoexit = run.ErrGoexit

// layer is one decoration or one observer of a chain.
type layer[Req, Res any] struct {
	decorate wrap[Req, Res] // nil: observer observes the links of the chain
	observer Observer       // with a decoration: observes the links inside other links; nil: none
	inWhen   bool           // the decoration is around the links inside When, too
}

// Decorate returns a chain that wraps decorate around each link's handler,
// including links added later. The names stay:
//
//	New(a, b).Decorate(d).Then(h) = d(a', a(d(b', b(h))))    where a' and b' describe a and b
//
// Each composition calls decorate once for each link of the chain, but not for
// the links within a [When]. Several decorations nest, the first outermost.
//
// decorate must not change the *Link. Decorate panics if decorate is nil. If
// decorate returns a nil handler, [Chain.Then] panics.
func (c Chain[Req, Res]) Decorate(decorate func(*Link, Handler[Req, Res]) Handler[Req, Res]) Chain[Req, Res] {
	if decorate == nil {
		panic("chain: Decorate: the function is nil")
	}
	return c.with(layer[Req, Res]{decorate: decorate})
}

// Observe returns a chain that notifies o of each call of each link, including
// links added later. Observing twice adds both observers, the first outermost.
// If o is nil, Observe returns c.
//
// Observers also see the links within a [When], and the checks within a check
// such as checks.OnOwner; [Link.Within] names the outer one. A link within
// another wrapper, such as [Deadline], is observed as part of the wrapper.
//
// Then composes an observed chain twice, with and without the observers, so
// each Middleware is called twice, or more often within another link. Each call
// of the handler uses one of the two. If no observer is enabled, the added cost
// of a call is one call of Enabled for each observer.
func (c Chain[Req, Res]) Observe(o Observer) Chain[Req, Res] {
	if o == nil {
		return c
	}
	switch o := o.(type) {
	case layerObserver:
		decorate, inside := o.Layer()
		if _, ok := o.(guardObserver); ok {
			c = c.guarded(decorate.(wrap[Req, Res]))
		}
		return c.with(layer[Req, Res]{decorate.(wrap[Req, Res]), inside, true})
	case withinObserver:
		return c.within(o.of).with(layer[Req, Res]{observer: o.Observer})
	}
	return c.with(layer[Req, Res]{observer: o})
}

// guarded returns c with guard around each decoration of a user, so that a
// refusal of a decoration counts as one of its link.
func (c Chain[Req, Res]) guarded(guard wrap[Req, Res]) Chain[Req, Res] {
	c.layers = slices.Clone(c.layers)
	for i, l := range c.layers {
		if decorate := l.decorate; decorate != nil && !l.inWhen {
			c.layers[i].decorate = func(link *Link, h Handler[Req, Res]) Handler[Req, Res] {
				if h = decorate(link, h); h == nil {
					return nil // Then panics and names this link
				}
				return guard(link, h)
			}
		}
	}
	return c
}

func (c Chain[Req, Res]) with(l layer[Req, Res]) Chain[Req, Res] {
	c.layers = append(slices.Clip(c.layers), l)
	return c
}

// notifying calls h and notifies o about it, as a call of link. s is nil if a
// link passed on an unrelated context; Exit.Passed is false then.
func notifying[Req, Res any](outer context.Context, req Req, o Observer, link *Link, s *callState, h Handler[Req, Res]) (Res, error) {
	ctx := o.Enter(outer, link)
	if ctx == nil {
		ctx = outer
	}
	inner := ctx
	if near, ok := ctx.(*call); s != nil && (!ok || near.callState != s) {
		inner = &call{ctx, s} // the inner links then find s without a search through all contexts
	}
	start := mono.Now()
	return run.Call(inner, req, h, func(end run.End[Res]) {
		exit := Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Elapsed: mono.Now() - start}
		exit.Passed = s != nil && s.passed.Is()
		o.Exit(ctx, link, exit)
	})
}

// wrap is the type of a decoration.
type wrap[Req, Res any] = func(*Link, Handler[Req, Res]) Handler[Req, Res]

// call is the context of an observed call of a chain. The call has one, and
// another one inside each observer whose Enter returned a new context.
type call struct {
	context.Context
	*callState
}

// callState is the state of an observed call of a chain.
type callState struct {
	of     *callKey // the composition
	on     []bool   // which observers are enabled
	passed run.Passed
}

// callKey is the context key of a call; each composition has its own. It is not
// of size zero, because pointers to zero-size values may be equal.
type callKey struct{ _ byte }

// Value implements context.Context.
func (c *call) Value(key any) any {
	switch key {
	case run.PassedKey:
		return &c.passed
	case c.of:
		return c.callState
	}
	return c.Context.Value(key)
}

// observed composes the chain around end without observers, and a second time
// with them if there are any.
func (c Chain[Req, Res]) observed(end Handler[Req, Res]) Handler[Req, Res] {
	var observers []Observer
	var key *callKey
	var bare, full layers[Req, Res]
	for _, l := range c.layers {
		if l.decorate != nil {
			bare, full = bare.with(l), full.with(l)
			continue
		}
		if key == nil {
			key = new(callKey)
		}
		full = full.with(layer[Req, Res]{observing[Req, Res](key, l.observer, len(observers)), innerObserver{l.observer, key, len(observers)}, true})
		observers = append(observers, l.observer)
	}
	plain := c.mustCompose(end, bare)
	if len(observers) == 0 || len(c.links) == 0 {
		return plain
	}
	all := c.mustCompose(end, full)
	return func(ctx context.Context, req Req) (Res, error) {
		var observed *call
		for i, o := range observers {
			if !o.Enabled(ctx) {
				continue
			}
			if observed == nil {
				observed = &call{ctx, &callState{of: key, on: make([]bool, len(observers))}}
			}
			observed.on[i] = true
		}
		if observed == nil {
			return plain(ctx, req)
		}
		observed.passed.Within(ctx)
		return all(observed, req)
	}
}

// mustCompose composes the chain, and panics on a fault.
func (c Chain[Req, Res]) mustCompose(end Handler[Req, Res], layers layers[Req, Res]) Handler[Req, Res] {
	h, fault := c.compose(end, layers)
	if fault != "" {
		panic(fault)
	}
	return h
}

// observing returns the decoration of the n-th observer. It reads from the
// context whether that observer is enabled. If a link passed on an unrelated
// context, it calls o.Enabled instead.
func observing[Req, Res any](key *callKey, o Observer, n int) wrap[Req, Res] {
	return func(link *Link, h Handler[Req, Res]) Handler[Req, Res] {
		bound := run.Bound(o, link)
		return func(ctx context.Context, req Req) (Res, error) {
			s, ok := ctx.Value(key).(*callState)
			if ok && !s.on[n] || !ok && !o.Enabled(ctx) {
				return h(ctx, req)
			}
			return notifying(ctx, req, bound, link, s, h)
		}
	}
}
