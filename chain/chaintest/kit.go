package chaintest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/testing/patience"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

const (
	// within limits the time of one call and of one composition. Only time in
	// which the test could run counts.
	within = patience.Call
	// moment limits the wait for short events, such as the end of a goroutine.
	moment = time.Second
)

// kit calls one chain to find the laws that it breaks.
type kit[Req, Res any] struct {
	*config
	Composer[Req, Res]
	chain    chain.Chain[Req, Res]
	requests *rapid.Generator[Req]
	results  *rapid.Generator[Res]
	label    string // of the goroutines of all calls

	shrinking string                  // the broken law for which rapid searches the smallest call; empty: none
	current   atomic.Pointer[record]  // the running call, if calls are made one by one
	stuck     string                  // describes a call that did not return in time
	reached   bool                    // a call reached the end
	stopped   string                  // the last link that ran in another call
	late      atomic.Pointer[finding] // a law that was broken after its call
}

// program is one call: its request, the behaviour of its end, and its caller.
type program[Req, Res any] struct {
	req    Req
	with   string // describes the difference of a variant; empty: the drawn request
	res    Res
	does   string // what the end does
	caller string // what happens to the context
	again  bool   // repeats the call of a variant: the law Request is not tested, which costs most
}

const (
	returns       = "returns"
	fails         = "returns an error"
	panics        = "panics"
	goexits       = "ends its goroutine"
	stays         = "stays"
	cancelsBefore = "is canceled before the call"
	cancelsDuring = "is canceled while the end runs"
)

var (
	anyDoes   = rapid.SampledFrom([]string{returns, returns, fails, panics, goexits})
	anyCaller = rapid.SampledFrom([]string{stays, stays, stays, cancelsDuring, cancelsBefore})
)

func (k *kit[Req, Res]) draw(t *rapid.T) program[Req, Res] {
	return program[Req, Res]{
		does: anyDoes.Draw(t, "end"), caller: anyCaller.Draw(t, "context"),
		req: k.requests.Draw(t, "request"), res: k.results.Draw(t, "result"),
	}
}

// composition is one composition of the chain. The kit wraps each link, and
// adds its end as the last one.
type composition struct {
	label string
	links []chain.Link
	steps atomic.Int32 // the number of links composed so far
}

func (c *composition) end() int { return len(c.links) }

func (c *composition) name(i int) string {
	if i < len(c.links) {
		return c.links[i].Name
	}
	return "end"
}

// next returns the position of the link whose constructor runs. An observed
// chain is composed twice.
func (c *composition) next() int { return c.end() - int(c.steps.Load())%(c.end()+1) }

// handler is a composed chain that records each call.
type handler[Req, Res any] struct {
	comp *composition
	call chain.Handler[Req, Res]
}

// limited calls fn. If fn does not return in time, doing describes it, and the
// search ends.
func (k *kit[Req, Res]) limited(doing func() string, fn func()) {
	if patience.Run(within, nil, func() { alone(fn) }).Late {
		k.stuck = doing()
		runtime.Goexit()
	}
}

// compose makes a handler of the chain. It returns an error if that panics.
func (k *kit[Req, Res]) compose() (h *handler[Req, Res], err error) {
	comp := &composition{links: k.chain.Links(), label: k.label}
	h = &handler[Req, Res]{comp: comp}
	watched := onion.Decorate(k.chain, func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		if l.Within != nil { // a part of a link
			return h
		}
		i := comp.next()
		comp.steps.Add(1)
		return k.watch(comp, i, h)
	}, nil).Append(chain.Named("end", func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next }))
	k.limited(func() string {
		return fmt.Sprintf("composing the chain did not end within %s: the constructor of link %s is running", within, comp.name(comp.next()))
	}, func() {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("composing the chain panics at link %s: %v", comp.name(comp.next()), v)
			}
		}()
		if k.Compose != nil {
			h.call = k.Compose(watched)
		} else {
			h.call = watched.Then(func(context.Context, Req) (res Res, err error) { return res, nil })
		}
	})
	return h, err
}

// watch wraps a link, or the end, to record its calls.
func (k *kit[Req, Res]) watch(comp *composition, i int, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		r, gid := recordOf(ctx), goroutine()
		if cur := k.current.Load(); cur != nil && (r == nil || cur.gid.Load() == gid) {
			r = cur // the link may have passed on the context of another call
		}
		if r == nil { // the context is lost, and other calls are under way
			return h(ctx, req)
		}
		f, x, done := r.enter(comp, i, gid, ctx, req), &exit{}, false
		defer func() {
			if !done {
				x.panicked = recover()
				x.goexit = x.panicked == nil
			}
			r.leave(f, x)
			if x.panicked != nil {
				panic(x.panicked)
			}
		}()
		inner := ctx
		if i == comp.end() && ctx == nil {
			inner = context.Background()
		}
		if res, err = h(inner, req); err == nil && i == comp.end() {
			res, err = r.call.(*call[Req, Res]).end(f, ctx)
		}
		x.res, x.err, x.pic = res, err, snapshot.Of(res)
		done = true
		return res, err
	}
}

// call is one call of the chain.
type call[Req, Res any] struct {
	*record
	program[Req, Res]
	cancel context.CancelFunc
	meet   func() // not nil: the end waits briefly for other calls
}

// end is the end of a chain in one call.
func (c *call[Req, Res]) end(f *frame, ctx context.Context) (res Res, err error) {
	own := goroutine() == c.gid.Load() // a panic in another goroutine would end the program
	c.mu.Lock()
	c.record.reached = true
	c.mu.Unlock()
	if c.meet != nil {
		c.meet()
	}
	if c.caller == cancelsDuring {
		c.cancel()
		if own && ctx != nil && ctx.Err() == nil {
			c.lost(f, ctx)
		}
	}
	switch {
	case c.does == fails, c.does == panics && !own:
		return c.res, c.err
	case c.does == panics:
		panic(c.err)
	case c.does == goexits && own:
		runtime.Goexit()
	}
	return c.res, nil
}

// lost records the link that lost the cancellation, if the context of the end
// is not canceled although the caller canceled it. Other context types may need
// a goroutine to cancel.
func (c *call[Req, Res]) lost(f *frame, ctx context.Context) {
	if patience.Wait(ctx.Done(), 10*time.Millisecond, nil) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; f.parent != nil; f = f.parent {
		if ctx := f.parent.ctx; ctx != nil && ctx.Err() != nil {
			c.broke(contexts, f.parent, -1, "the caller canceled its context while the end ran, but that did not cancel the context that the link passed on")
			return
		}
	}
}

// ready prepares a call. The returned function makes the call and blocks until
// it ends.
func (k *kit[Req, Res]) ready(h *handler[Req, Res], p program[Req, Res]) (*call[Req, Res], func()) {
	c := &call[Req, Res]{program: p}
	c.record = &record{config: k.config, comp: h.comp, req: p.req, err: errors.New("chaintest: the end " + p.does), text: func() string { return k.describe(p) },
		late: &k.late, call: c, refuses: k.Refuses, texts: k.Copy != nil, decides: rule(k.Decides)}
	c.view = func() any { return k.View(p.req) }
	if k.Passes != nil {
		c.passes = rule(func(req Req) error { return k.Passes(p.req, req) })
	}
	if k.tries(request) && !p.again {
		pic := snapshot.Of(c.view())
		c.pic = &pic
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), recordKey{}, c.record))
	c.cancel = cancel
	return c, func() {
		defer cancel()
		if p.caller == cancelsBefore {
			cancel()
		}
		defer func() { _ = recover() }()
		c.gid.Store(goroutine())
		_, _ = h.call(ctx, p.req)
	}
}

// rule returns a rule of the Composer that takes any value and does not panic,
// or nil.
func rule[T any](check func(T) error) func(any) error {
	if check == nil {
		return nil
	}
	return func(v any) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("the Composer panics: %v", v)
			}
		}()
		typed, _ := v.(T) // a nil interface has no type
		return check(typed)
	}
}

// play makes one call and waits until it ends.
func (k *kit[Req, Res]) play(h *handler[Req, Res], p program[Req, Res]) *record {
	c, run := k.ready(h, p)
	k.current.Store(c.record)
	k.limited(func() string { return stuck("a call", c.record) }, run)
	k.current.Store(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.reached = k.reached || c.record.reached; !c.record.reached && len(c.frames) > 0 {
		last := c.frames[len(c.frames)-1]
		if last.i == h.comp.end() { // the composer refused the call of the end
			last = last.parent
		}
		k.stopped = last.String()
	}
	return c.record
}

// stuck describes calls that do not return.
func stuck(what string, calls ...*record) string {
	what += fmt.Sprintf(" did not return within %s", within)
	for _, r := range calls {
		if link := r.running(); link != "" || len(calls) == 1 {
			return fmt.Sprintf("%s: link %s is running\n%s%s", what, link, r.text(), traceText(r.trace(), -1))
		}
	}
	return what
}

// describe prints a program.
func (k *kit[Req, Res]) describe(p program[Req, Res]) string {
	end := p.does
	if p.does == returns || p.does == fails && !reflect.ValueOf(&p.res).Elem().IsZero() {
		end += " " + show(p.res)
	}
	with := ""
	if p.with != "" {
		with = p.with + ", "
	}
	return fmt.Sprintf("  chain:   %s\n  request: %s%s\n  context: %s\n  end:     %s\n", k.chain, with, show(k.View(p.req)), p.caller, end)
}

// traceText prints a trace, and marks the event at.
func traceText(trace []event, at int) string {
	text := "  trace:\n"
	for i, e := range trace {
		mark := "    "
		if i == at {
			mark = " ≠  "
		}
		text += mark + e.String() + "\n"
	}
	return text
}
