package chaintest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/testing/patience"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// kit calls one chain to find the laws that it breaks.
type kit[Req, Res any] struct {
	*config
	chain    chain.Chain[Req, Res]
	requests *rapid.Generator[Req]
	results  *rapid.Generator[Res]
	label    string // of the goroutines of all calls

	shrinking string                        // the broken law for which rapid searches the smallest call; empty: none
	broken    map[string]bool               // the laws that were reported
	current   atomic.Pointer[record]        // the running call, if calls are made one by one
	steps     atomic.Int64                  // the number of calls and compositions so far
	doing     atomic.Pointer[func() string] // describes the running one
	gone      atomic.Bool                   // a call did not return in time, and the test has ended
	reports   []string                      // the broken laws, for the test
	made      int                           // the number of calls
	reached   bool                          // a call reached the end
	stopped   map[string]int                // the number of other calls, by the last link that ran
	lateMu    sync.Mutex
	late      *finding // a law that was broken after its call
}

// program is one call: its request, the behaviour of its end, and its caller.
type program[Req, Res any] struct {
	req    Req
	res    Res
	does   does
	caller caller
}

// does is the behaviour of the end. caller is how the caller treats the context.
type does string

type caller string

const (
	returns does = "returns"
	fails   does = "returns an error"
	panics  does = "panics"
	goexits does = "ends its goroutine"

	stays         caller = "stays"
	cancelsBefore caller = "is canceled before the call"
	cancelsDuring caller = "is canceled while the end runs"
)

var (
	anyDoes   = rapid.SampledFrom([]does{returns, returns, fails, panics, goexits})
	anyCaller = rapid.SampledFrom([]caller{stays, stays, stays, cancelsDuring, cancelsBefore})
)

func (k *kit[Req, Res]) draw(t *rapid.T) program[Req, Res] {
	return program[Req, Res]{
		does: anyDoes.Draw(t, "end"), caller: anyCaller.Draw(t, "context"),
		req: k.requests.Draw(t, "request"), res: k.results.Draw(t, "result"),
	}
}

// endError is the error, and the panic, of an end. Each call has its own.
type endError struct{ does does }

// errAnyEnd is an endError of any call, for errors.Is.
var errAnyEnd = errors.New("the end of any call")

func (e *endError) Is(target error) bool { return target == errAnyEnd }

func (e *endError) Error() string { return "chaintest: the end " + string(e.does) }

// composition is one composition of the chain. The kit wraps each link, and
// adds its end as the last one.
type composition struct {
	label string
	links []chain.Link
	steps atomic.Int32 // the number of links composed so far
	done  atomic.Bool
	early atomic.Pointer[string] // a link that called next while composing
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

// atEnd carries data from the wrapper of the kit's end to the end.
type atEnd[Req, Res any] struct {
	call  *call[Req, Res]
	frame *frame
	ctx   context.Context // as the end got it; it may be nil
}

// handler is a composed chain that records each call.
type handler[Req, Res any] struct {
	comp *composition
	call chain.Handler[Req, Res]
}

// begin begins a call or a composition. doing describes it if it does not
// return.
func (k *kit[Req, Res]) begin(doing func() string) {
	if k.gone.Load() {
		runtime.Goexit()
	}
	k.doing.Store(&doing)
	k.steps.Add(1)
}

// compose makes a handler of a chain. It returns an error if composing panics.
func (k *kit[Req, Res]) compose(c chain.Chain[Req, Res]) (h *handler[Req, Res], err error) {
	comp := &composition{links: c.Links(), label: k.label}
	h = &handler[Req, Res]{comp: comp}
	watched := onion.Decorate(c, func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		if l.Within != nil { // a part of a link
			return h
		}
		i := comp.next()
		comp.steps.Add(1)
		return k.watch(comp, i, h)
	}, nil).Append(chain.Named("end", func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			res, err := next(ctx, req)
			if at, ok := ctx.Value(recordKey{}).(atEnd[Req, Res]); ok && err == nil {
				return at.call.end(at.frame, at.ctx)
			}
			return res, err
		}
	}))
	k.begin(func() string {
		return fmt.Sprintf("composing the chain did not end within %s: the constructor of link %s is running", within, comp.name(comp.next()))
	})
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("composing the chain panics at link %s: %v", comp.name(comp.next()), v)
		}
	}()
	if compose, ok := k.config.compose.(func(chain.Chain[Req, Res]) chain.Handler[Req, Res]); ok {
		h.call = compose(watched)
	} else {
		h.call = watched.Then(func(context.Context, Req) (res Res, err error) { return res, nil })
	}
	comp.done.Store(true)
	return h, nil
}

var errEarly = errors.New("chaintest: called while composing")

// watch wraps a link, or the end, to record its calls.
func (k *kit[Req, Res]) watch(comp *composition, i int, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		if !comp.done.Load() {
			by := comp.name(i - 1)
			comp.early.Store(&by)
			return res, errEarly
		}
		r := recordOf(ctx)
		if cur := k.current.Load(); cur != nil && (r == nil || cur.gid.Load() == goroutine()) {
			r = cur // the link may have passed on the context of another call
		}
		if r == nil { // the context is lost, and other calls are under way
			return h(ctx, req)
		}
		f, x, done := r.enter(comp, i, ctx, req), &exit{}, false
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
		if i == comp.end() {
			if inner == nil {
				inner = context.Background()
			}
			inner = context.WithValue(inner, recordKey{}, atEnd[Req, Res]{r.call.(*call[Req, Res]), f, ctx})
		}
		res, err = h(inner, req)
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
	if patience.Wait(ctx.Done(), time.Duration(c.patience.Load()), nil) {
		return
	}
	c.patience.Store(int64(10 * time.Millisecond)) // while rapid searches the smallest call
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
	c.record = &record{config: k.config, comp: h.comp, req: p.req, err: &endError{p.does}, text: func() string { return k.describe(p) }, late: k.later, call: c}
	c.view = func() any { return k.viewOf(p.req) }
	if k.tries(request) {
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

// play makes one call and waits until it ends.
func (k *kit[Req, Res]) play(h *handler[Req, Res], p program[Req, Res]) *record {
	c, run := k.ready(h, p)
	k.begin(func() string { return k.stuck("a call", c.record) })
	k.current.Store(c.record)
	alone(run)
	k.current.Store(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	k.made++
	if k.reached = k.reached || c.record.reached; !c.record.reached && len(c.frames) > 0 {
		k.stopped[c.frames[len(c.frames)-1].name]++
	}
	return c.record
}

// alone runs fn in a new goroutine, which fn may end.
func alone(fn func()) {
	var done sync.WaitGroup
	done.Go(func() {
		defer pprof.SetGoroutineLabels(context.Background()) // for the law Goroutines, the kit's own goroutine has ended
		fn()
	})
	done.Wait()
}

// stuck describes calls that do not return.
func (k *kit[Req, Res]) stuck(what string, calls ...*record) string {
	for _, r := range calls {
		if running := r.control(); running != "" || len(calls) == 1 {
			running = cmp.Or(running, "no link is running, so the machine may be slow")
			return fmt.Sprintf("%s did not return within %s: %s\n%s%s", what, within, running, r.text(), traceText(r.trace(), -1))
		}
	}
	return fmt.Sprintf("%s did not return within %s", what, within)
}

// later records a law that was broken after its call.
func (k *kit[Req, Res]) later(f finding) {
	k.lateMu.Lock()
	defer k.lateMu.Unlock()
	if k.late == nil && f.law == nested && !k.excused(nested, f.link) {
		k.late = &f
	}
}

func (k *kit[Req, Res]) viewOf(req Req) any {
	if view, ok := k.view.(func(Req) any); ok {
		return view(req)
	}
	return req
}

// describe prints a program.
func (k *kit[Req, Res]) describe(p program[Req, Res]) string {
	end := string(p.does)
	if p.does == returns || p.does == fails && !reflect.ValueOf(&p.res).Elem().IsZero() {
		end += " " + show(p.res)
	}
	return fmt.Sprintf("  chain:   %s\n  request: %s\n  context: %s\n  end:     %s\n", k.chain, show(k.viewOf(p.req)), p.caller, end)
}

// traceText prints a trace, and marks the event at.
func traceText(trace []event, at int) string {
	var b strings.Builder
	b.WriteString("  trace:\n")
	for i, e := range trace {
		mark := "    "
		if i == at {
			mark = " ≠  "
		}
		b.WriteString(mark + e.String() + "\n")
	}
	return b.String()
}
