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
	composer *Composer[Req, Res] // nil: the chain is composed by Then
	requests *rapid.Generator[Req]
	results  *rapid.Generator[Res]

	label     string                  // labels the goroutines of all calls
	shrinking Law                     // the broken law for which rapid searches the smallest call; 0: none
	broken    map[Law]bool            // the laws that were reported
	current   atomic.Pointer[history] // of the running call, if calls are made one by one
	stuck     string                  // describes a call that did not return, after which the kit stops
	made      int                     // the number of calls
	reached   int                     // the number of calls that reached the end
	stopped   map[string]int          // the number of other calls, by the last link that ran
	closed    []closed                // calls that returned, but may still have running goroutines
}

// program is one call: its request, the behaviour of its end, and its caller.
type program[Req, Res any] struct {
	req    Req
	res    Res
	does   does
	caller caller
}

// does is the behaviour of the end.
type does uint8

const (
	returns does = iota
	fails
	panics
	goexits
)

// caller is how the caller treats the context.
type caller uint8

const (
	stays         caller = iota
	cancelsBefore        // before the call
	cancelsDuring        // while the end runs
)

func (d does) String() string {
	return [...]string{"returns", "fails", "panics", "ends its goroutine"}[d]
}

func (c caller) String() string {
	return [...]string{"stays", "is canceled before the call", "is canceled while the end runs"}[c]
}

var (
	anyDoes   = rapid.SampledFrom([]does{returns, returns, fails, panics, goexits})
	anyCaller = rapid.SampledFrom([]caller{stays, stays, stays, cancelsDuring, cancelsBefore})
)

func (k *kit[Req, Res]) draw(t *rapid.T) program[Req, Res] {
	return program[Req, Res]{
		does:   anyDoes.Draw(t, "end"),
		caller: anyCaller.Draw(t, "context"),
		req:    k.requests.Draw(t, "request"),
		res:    k.results.Draw(t, "result"),
	}
}

// endError is the error, and the panic, of an end. Each call has its own.
type endError struct{ does does }

// errAnyEnd is an endError of any call, for errors.Is.
var errAnyEnd = errors.New("the end of any call")

func (e *endError) Is(target error) bool { return target == errAnyEnd }

func (e *endError) Error() string { return "chaintest: the end " + e.does.String() }

// plan is the behaviour of the end in one call.
type plan struct {
	does     does
	res      any
	err      *endError
	cancel   context.CancelFunc // not nil: the end calls it
	meet     func()             // not nil: the end waits briefly for other calls
	patience *time.Duration     // not nil: the end waits so long for the cancellation of its context
}

// composition is one composition of the chain. The kit wraps each link.
type composition struct {
	links    []chain.Link
	n        int          // the number of links, including the end if it is a link
	steps    atomic.Int32 // the number of links composed so far
	composed atomic.Bool
	mu       sync.Mutex
	early    []string // links that called next while composing
}

func (c *composition) len() int { return len(c.links) }

func (c *composition) name(link int) string {
	if link < len(c.links) {
		return c.links[link].Name
	}
	return "end"
}

// composing returns the link whose constructor is running, or was the last to
// run.
func (c *composition) composing() string {
	if len(c.links) == 0 {
		return ""
	}
	return c.name(c.n - 1 - int(c.steps.Load())%c.n)
}

// countLinks sets and returns the number of links of one composition. end
// reports whether the end is a link.
func (c *composition) countLinks(end bool) int {
	if c.n = len(c.links); end {
		c.n++
	}
	return c.n
}

// last is the kit's end as a link after the last one. The composer treats it as
// any other link.
func (k *kit[Req, Res]) last(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (Res, error) {
		at, ok := ctx.Value(atEnd{}).(atEnd)
		if !ok {
			return k.end(ctx, req)
		}
		if res, err := next(ctx, req); err != nil {
			return res, err
		}
		return k.endOf(at.history, at.frame, at.ctx)
	}
}

// atEnd carries data from the wrapper of the last link to that link.
type atEnd struct {
	history *history
	frame   *frame
	ctx     context.Context // as the end got it; it may be nil
}

// errEarly is the error of a call while composing.
var errEarly = errors.New("chaintest: called while composing")

// compose makes a handler of a chain that records each call in a history. It
// returns an error if composing panics or does not return.
func (k *kit[Req, Res]) compose(c chain.Chain[Req, Res]) (h chain.Handler[Req, Res], comp *composition, err error) {
	comp = &composition{links: c.Links()}
	n := comp.countLinks(k.composer != nil)
	watched := onion.Decorate(c, func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		if l.Within != nil { // a part of a link
			return h
		}
		return k.watch(comp, n-1-(int(comp.steps.Add(1))-1)%n, l, h)
	}, nil)
	var panicked any
	if !within(k.within, func() {
		defer func() { panicked = recover() }()
		if k.composer != nil {
			h = k.composer.Compose(watched.Append(chain.Named("end", k.last)))
			return
		}
		h = watched.Then(k.watch(comp, comp.len(), nil, k.end))
	}) {
		return nil, comp, fmt.Errorf("composing the chain did not end within %s: the constructor of link %s is running",
			k.within, comp.composing())
	}
	switch {
	case panicked != nil:
		return nil, comp, fmt.Errorf("composing the chain panics at link %s: %v", comp.composing(), panicked)
	case h == nil:
		return nil, comp, fmt.Errorf("the constructor of link %s ended its goroutine", comp.composing())
	}
	comp.composed.Store(true)
	return h, comp, nil
}

// watch wraps each link, and the end, to record its calls.
func (k *kit[Req, Res]) watch(comp *composition, link int, meta *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		if !comp.composed.Load() {
			comp.mu.Lock()
			comp.early = append(comp.early, comp.composing())
			comp.mu.Unlock()
			return res, errEarly
		}
		hist, gid := historyOf(ctx), uint64(0)
		cur := k.current.Load()
		if hist == nil || hist.follows || cur != nil && hist != cur {
			gid = goroutine()
		}
		if cur != nil && (hist == nil || cur.gid.Load() == gid) {
			hist = cur
		}
		if hist == nil { // the context is lost, and other calls are under way
			if link == comp.len() {
				return res, errLost
			}
			return h(ctx, req)
		}
		var same func() bool
		if hist.match {
			same = func() bool { return sameRequest(hist.req, req) }
		}
		f := hist.enter(comp, link, gid, ctx, same)
		x := &exit{}
		done := false
		defer func() {
			if !done {
				x.panicked = recover()
				x.goexit = x.panicked == nil
			}
			hist.leave(f, x, meta)
			if x.panicked != nil {
				panic(x.panicked)
			}
		}()
		switch {
		case link < comp.len():
			res, err = h(ctx, req)
		case k.composer == nil:
			res, err = k.endOf(hist, f, ctx)
		default:
			within := ctx
			if within == nil {
				within = context.Background()
			}
			res, err = h(context.WithValue(within, atEnd{}, atEnd{hist, f, ctx}), req)
		}
		x.res, x.err = res, err
		if hist.keep {
			pic := snapshot.Of(res)
			x.pic = &pic
		}
		done = true
		return res, err
	}
}

var errLost = errors.New("chaintest: the context of the call is lost")

// end is never called: endOf replaces it, because that needs the history.
func (k *kit[Req, Res]) end(context.Context, Req) (res Res, err error) { return res, errLost }

// endOf is the end of a chain in one call.
func (k *kit[Req, Res]) endOf(hist *history, f *frame, ctx context.Context) (res Res, err error) {
	p := hist.end
	hist.mu.Lock()
	hist.reached = true
	hist.mu.Unlock()
	if p.meet != nil {
		p.meet()
	}
	if p.cancel != nil {
		p.cancel()
		if p.patience != nil {
			hist.canceled(f, ctx, p.patience)
		}
	}
	res, _ = p.res.(Res)
	switch p.does {
	case fails:
		return res, p.err
	case panics:
		if goroutine() != hist.gid.Load() { // a panic here would end the program
			return res, p.err
		}
		panic(p.err)
	case goexits:
		if goroutine() == hist.gid.Load() {
			runtime.Goexit()
		}
	}
	return res, nil
}

// canceled records a violation if the context of the end is not canceled
// although the caller canceled it. The violation names the link that lost the
// cancellation.
func (hist *history) canceled(f *frame, ctx context.Context, limit *time.Duration) {
	if ctx == nil || ctx.Err() != nil || goroutine() != hist.gid.Load() {
		return
	}
	if patience.Wait(ctx.Done(), *limit, nil) { // other context types may need a goroutine to cancel
		return
	}
	*limit = impatient
	hist.mu.Lock()
	defer hist.mu.Unlock()
	for inner := f; inner.parent != nil; inner = inner.parent {
		if outer := inner.parent; outer.ctx != nil && outer.ctx.Err() != nil {
			hist.violated(violation{law: Context, link: outer.name, at: -1,
				why: "the caller canceled its context while the end ran, but that did not cancel the context that the link passed on"})
			return
		}
	}
}

// sameRequest compares requests that are references by identity, and others by
// content.
func sameRequest(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return w.Kind() == v.Kind() && v.Pointer() == w.Pointer()
	}
	return snapshot.Of(a).Diff(b) == ""
}

// call is one call of the chain.
type call struct {
	history *history
	exit    exit
}

// ready prepares a call. The returned function makes the call and blocks until
// it ends.
func (k *kit[Req, Res]) ready(h chain.Handler[Req, Res], comp *composition, p program[Req, Res], with func(*history)) (*call, func()) {
	end := &plan{does: p.does, res: p.res, err: &endError{p.does}}
	c := &call{history: &history{comp: comp, req: p.req, end: end}}
	if with != nil {
		with(c.history)
	}
	ctx := context.WithValue(context.Background(), historyKey{}, c.history)
	if c.history.label != "" {
		ctx = pprof.WithLabels(ctx, pprof.Labels(labelCall, c.history.label))
	}
	ctx, cancel := context.WithCancel(ctx)
	switch p.caller {
	case cancelsBefore:
		cancel()
	case cancelsDuring:
		end.cancel = cancel
	}
	return c, func() {
		defer cancel()
		done := false
		defer func() {
			if !done {
				c.exit.panicked = recover()
				c.exit.goexit = c.exit.panicked == nil
			}
		}()
		c.history.gid.Store(goroutine())
		res, err := h(ctx, p.req)
		c.exit.res, c.exit.err = res, err
		done = true
	}
}

// play makes one call and waits until it ends. with configures its history.
func (k *kit[Req, Res]) play(h chain.Handler[Req, Res], comp *composition, p program[Req, Res], with func(*history)) *call {
	c, run := k.ready(h, comp, p, with)
	k.current.Store(c.history)
	if !within(k.within, run) {
		k.markStuck(c.history, p)
	}
	k.current.Store(nil)
	k.made++
	k.count(c.history)
	return c
}

// markStuck records that a call did not return.
func (k *kit[Req, Res]) markStuck(hist *history, p program[Req, Res]) {
	running := cmp.Or(hist.control(), "no link is running, so the machine may be slow: see chaintest.WithTimeout")
	k.stuck = fmt.Sprintf("a call did not return within %s: %s\n%s%s", k.within, running, k.describe(p),
		indent("trace:\n"+strings.Join(lines(hist.trace()), "\n"), "  "))
}

func (k *kit[Req, Res]) count(hist *history) {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	if hist.reached {
		k.reached++
		return
	}
	if n := len(hist.frames); n > 0 {
		k.stopped[hist.frames[n-1].name]++
	}
}

// describe prints a program.
func (k *kit[Req, Res]) describe(p program[Req, Res]) string {
	end := "returns " + show(p.res)
	switch p.does {
	case fails:
		end = "returns an error"
		if !reflect.ValueOf(&p.res).Elem().IsZero() {
			end += " and " + show(p.res)
		}
	case panics, goexits:
		end = p.does.String()
	}
	req := any(p.req)
	if k.composer != nil && k.composer.View != nil {
		req = k.composer.View(p.req)
	}
	return fmt.Sprintf("  chain:   %s\n  request: %s\n  context: %s\n  end:     %s\n", k.chain, show(req), p.caller, end)
}

// show prints a value by its Error or String method, or by its exported fields.
func show(v any) (text string) {
	defer func() {
		if recover() != nil { // the String of a nil pointer may panic
			text = snapshot.Of(v).Public()
		}
	}()
	switch v := v.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	return snapshot.Of(v).Public()
}

// within runs fn in a new goroutine and reports whether fn ended within d.
func within(d time.Duration, fn func()) bool {
	done := make(chan struct{})
	go unlabeled(fn, func() { close(done) })
	return patience.Wait(done, d, nil)
}

// unlabeled runs fn, removes the labels that fn gave to the goroutine, and runs
// over. Without labels, the kit does not report its own goroutine for the law
// Goroutines.
func unlabeled(fn, over func()) {
	defer over()
	defer pprof.SetGoroutineLabels(context.Background())
	fn()
}
