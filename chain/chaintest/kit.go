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
	"github.com/windlass-go/windlass/internal/patience"
	"github.com/windlass-go/windlass/internal/snapshot"
)

// kit calls one chain in order to find out which laws it keeps.
type kit[Req, Res any] struct {
	*config
	chain    chain.Chain[Req, Res]
	composer *Composer[Req, Res] // nil: the chain is composed by Then
	requests *rapid.Generator[Req]
	results  *rapid.Generator[Res]

	current atomic.Pointer[tape] // of the call under way, where calls are made one by one
	stuck   string               // what did not come back; nothing can be tried after that
	calls   int                  // how many there were
	reached int                  // how many of them reached the end
	stopped map[string]int       // how many did not, by the link that had control last
	broken  map[Law]bool         // laws that were found to be broken
	closed  []closed             // calls that may not be over, although they came back
}

// program is one call: what it is made with, and what its end does.
type program[Req, Res any] struct {
	req    Req
	res    Res
	does   does
	caller caller
}

// does is what the end does.
type does uint8

const (
	returns does = iota
	fails
	panics
	goexits
)

// caller is what the caller does with the context.
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

// endError is the error, and the panic, of an end; each call has its own.
type endError struct{ does does }

// errAnyEnd is an endError of any call, for errors.Is.
var errAnyEnd = errors.New("the end of any call")

func (e *endError) Is(target error) bool { return target == errAnyEnd }

func (e *endError) Error() string { return "chaintest: the end " + e.does.String() }

// plan is what the end does in one call.
type plan struct {
	does     does
	res      any
	err      *endError
	cancel   context.CancelFunc // not nil: the end calls it
	meet     func()             // not nil: the end waits a little for other calls
	patience *time.Duration     // not nil: the end looks whether it sees the cancellation, for that long
}

// composition is the chain composed once more, with the kit around each of its links.
type composition struct {
	links    []chain.Link
	n        int          // how many links are composed, maybe with one for the end
	steps    atomic.Int32 // how many links were composed
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

// composing is the link whose constructor runs, or ran last.
func (c *composition) composing() string {
	if len(c.links) == 0 {
		return ""
	}
	return c.name(c.n - 1 - int(c.steps.Load())%c.n)
}

// steppers notes and returns how many links one composition has: the end is
// one if what composes the chain brings an end of its own.
func (c *composition) steppers(end bool) int {
	if c.n = len(c.links); end {
		c.n++
	}
	return c.n
}

// last is the link after the last one that takes the place of the end. It is a
// link like the others to what composes the chain.
func (k *kit[Req, Res]) last(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (Res, error) {
		at, ok := ctx.Value(atEnd{}).(atEnd)
		if !ok {
			return k.end(ctx, req)
		}
		if res, err := next(ctx, req); err != nil {
			return res, err
		}
		return k.endOf(at.tape, at.frame, at.ctx)
	}
}

// atEnd carries what the watch around the last link knows to that link.
type atEnd struct {
	tape  *tape
	frame *frame
	ctx   context.Context // as the end was given it; it may be nil
}

// errEarly is what is returned to those who call while composing.
var errEarly = errors.New("chaintest: called while composing")

// compose makes a handler of a chain that puts down on a tape what happens. It fails if that panics or does not come back.
func (k *kit[Req, Res]) compose(c chain.Chain[Req, Res]) (h chain.Handler[Req, Res], comp *composition, err error) {
	comp = &composition{links: c.Links()}
	n := comp.steppers(k.composer != nil)
	watched := c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return k.watch(comp, n-1-(int(comp.steps.Add(1))-1)%n, l, h)
	})
	var panicked any
	if !within(k.within, func() {
		defer func() { panicked = recover() }()
		if k.composer != nil {
			h = k.composer.Compose(watched.Append(chain.Named("end", k.last)))
			return
		}
		h = watched.Then(k.watch(comp, comp.len(), nil, k.end))
	}) {
		return nil, comp, fmt.Errorf("composing the chain did not come to an end within %s: the constructor of link %s has control",
			k.within, comp.composing())
	}
	switch {
	case panicked != nil:
		return nil, comp, fmt.Errorf("composing the chain panics at link %s: %v", comp.composing(), panicked)
	case h == nil:
		return nil, comp, fmt.Errorf("the goroutine was ended while composing: the constructor of link %s had control", comp.composing())
	}
	comp.composed.Store(true)
	return h, comp, nil
}

// watch is what stands around each link, and around the end.
func (k *kit[Req, Res]) watch(comp *composition, link int, meta *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
	return func(ctx context.Context, req Req) (res Res, err error) {
		if !comp.composed.Load() {
			comp.mu.Lock()
			comp.early = append(comp.early, comp.composing())
			comp.mu.Unlock()
			return res, errEarly
		}
		tp, gid := tapeOf(ctx), uint64(0)
		cur := k.current.Load()
		if tp == nil || tp.follows || cur != nil && tp != cur {
			gid = goroutine()
		}
		if cur != nil && (tp == nil || cur.gid.Load() == gid) {
			tp = cur
		}
		if tp == nil { // the context is lost, and calls are made side by side
			if link == comp.len() {
				return res, errLost
			}
			return h(ctx, req)
		}
		var same func() bool
		if tp.match {
			same = func() bool { return sameRequest(tp.req, req) }
		}
		f := tp.enter(comp, link, gid, ctx, same)
		x := &exit{}
		done := false
		defer func() {
			if !done {
				x.panicked = recover()
				x.goexit = x.panicked == nil
			}
			tp.leave(f, x, meta)
			if x.panicked != nil {
				panic(x.panicked)
			}
		}()
		switch {
		case link < comp.len():
			res, err = h(ctx, req)
		case k.composer == nil:
			res, err = k.endOf(tp, f, ctx)
		default:
			within := ctx
			if within == nil {
				within = context.Background()
			}
			res, err = h(context.WithValue(within, atEnd{}, atEnd{tp, f, ctx}), req)
		}
		x.res, x.err = res, err
		if tp.keep {
			pic := snapshot.Of(res)
			x.pic = &pic
		}
		done = true
		return res, err
	}
}

var errLost = errors.New("chaintest: the context of the call is lost")

// end is never called: endOf is in its place, as it needs the tape.
func (k *kit[Req, Res]) end(context.Context, Req) (res Res, err error) { return res, errLost }

// endOf is the end of a chain in one call.
func (k *kit[Req, Res]) endOf(tp *tape, f *frame, ctx context.Context) (res Res, err error) {
	p := tp.end
	tp.mu.Lock()
	tp.reached = true
	tp.mu.Unlock()
	if p.meet != nil {
		p.meet()
	}
	if p.cancel != nil {
		p.cancel()
		if p.patience != nil {
			tp.canceled(f, ctx, p.patience)
		}
	}
	res, _ = p.res.(Res)
	switch p.does {
	case fails:
		return res, p.err
	case panics:
		if goroutine() != tp.gid.Load() { // nobody could recover it
			return res, p.err
		}
		panic(p.err)
	case goexits:
		if goroutine() == tp.gid.Load() {
			runtime.Goexit()
		}
	}
	return res, nil
}

// canceled looks whether the end sees that the caller has canceled its context, and if not, whom to blame.
func (tp *tape) canceled(f *frame, ctx context.Context, limit *time.Duration) {
	if ctx == nil || ctx.Err() != nil || goroutine() != tp.gid.Load() {
		return
	}
	if patience.Wait(ctx.Done(), *limit, nil) { // contexts of others may need a goroutine to be canceled
		return
	}
	*limit = impatient
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for inner := f; inner.parent != nil; inner = inner.parent {
		if outer := inner.parent; outer.ctx != nil && outer.ctx.Err() != nil {
			tp.violated(violation{law: Context, link: outer.name, at: -1,
				why: "the caller canceled its context while the end ran, and the context that the link handed on was not canceled by it"})
			return
		}
	}
}

// sameRequest compares by identity what has one, else by content.
func sameRequest(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return w.Kind() == v.Kind() && v.Pointer() == w.Pointer()
	}
	return snapshot.Of(a).Diff(b) == ""
}

// call is a call that was made.
type call struct {
	tape *tape
	exit exit
}

// ready makes what a call needs. The function that it returns makes the call and blocks until that is over.
func (k *kit[Req, Res]) ready(h chain.Handler[Req, Res], comp *composition, p program[Req, Res], with func(*tape)) (*call, func()) {
	end := &plan{does: p.does, res: p.res, err: &endError{p.does}}
	c := &call{tape: &tape{comp: comp, req: p.req, end: end}}
	if with != nil {
		with(c.tape)
	}
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), tapeKey{}, c.tape))
	switch p.caller {
	case cancelsBefore:
		cancel()
	case cancelsDuring:
		end.cancel = cancel
	}
	if c.tape.label != "" {
		ctx = pprof.WithLabels(ctx, pprof.Labels(labelCall, c.tape.label))
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
		c.tape.gid.Store(goroutine())
		res, err := h(ctx, p.req)
		c.exit.res, c.exit.err = res, err
		done = true
	}
}

// play makes one call and waits until it is over. with prepares its tape.
func (k *kit[Req, Res]) play(h chain.Handler[Req, Res], comp *composition, p program[Req, Res], with func(*tape)) *call {
	c, run := k.ready(h, comp, p, with)
	k.current.Store(c.tape)
	if !within(k.within, run) {
		k.stick(c.tape, p)
	}
	k.current.Store(nil)
	k.calls++
	k.count(c.tape)
	return c
}

// stick notes that a call did not come back.
func (k *kit[Req, Res]) stick(tp *tape, p program[Req, Res]) {
	who := cmp.Or(tp.control(), "no link has control, so that the machine may just be slow: see chaintest.Within")
	k.stuck = fmt.Sprintf("a call did not come back within %s: %s\n%s%s", k.within, who, k.describe(p),
		indent("what happened until then:\n"+strings.Join(lines(tp.trace()), "\n"), "  "))
}

func (k *kit[Req, Res]) count(tp *tape) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if tp.reached {
		k.reached++
		return
	}
	if n := len(tp.frames); n > 0 {
		k.stopped[tp.frames[n-1].name]++
	}
}

// describe prints a program.
func (k *kit[Req, Res]) describe(p program[Req, Res]) string {
	end := "returns " + show(p.res)
	switch p.does {
	case fails:
		end = "returns an error"
		if !reflect.ValueOf(&p.res).Elem().IsZero() {
			end += ", beside " + show(p.res)
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

// show prints a value by its String or Error, and without unexported fields if
// it has neither.
func show(v any) (text string) {
	defer func() {
		if recover() != nil { // such as that of a String of a nil pointer
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

// within runs fn in a goroutine of its own and reports whether fn ended in time.
func within(d time.Duration, fn func()) bool {
	done := make(chan struct{})
	go unlabeled(fn, func() { close(done) })
	return patience.Wait(done, d, nil)
}

// unlabeled runs fn and then over, without the labels that fn gave to the
// goroutine: the kit's own goroutine is not one that a link left behind.
func unlabeled(fn, over func()) {
	defer over()
	defer pprof.SetGoroutineLabels(context.Background())
	fn()
}
