package chaintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// history records one call of a chain: when links were entered and left, and
// which laws the call broke. Any goroutine may enter a link, even after the
// call.
type history struct {
	comp    *composition
	end     *plan
	gid     atomic.Uint64 // identifies the goroutine of the call
	held    func() int
	pic     *snapshot.Snapshot // of the request; nil: the law Request is not tested
	req     any                // the request of the call
	view    func() any         // returns the part of it that links must not change
	label   string             // labels the goroutines of the call; empty: no label is needed
	keep    bool               // take snapshots of results, for the law Result
	refuses []error            // the errors of the composer for a wrong result
	follows bool               // compare the goroutines of links, which takes most of the time of a call
	match   bool               // compare requests with the request of the call
	solo    map[int]bool       // in concurrent calls: the links that got the request of the call when it ran alone
	alone   bool               // in concurrent calls: the call used one goroutine when it ran alone

	mu      sync.Mutex
	events  []event
	frames  []*frame
	open    []*frame
	found   []violation
	over    bool
	changed bool // the request changed, which is reported once
	reached bool
	same    map[int]bool // the links that got the request of the call
}

// event is a line of a trace: a link was entered, or left with a verdict.
type event struct {
	depth         int
	name, verdict string
}

func (e event) String() string {
	if e.verdict == "" {
		return e.indent() + "> " + e.name
	}
	return e.indent() + "< " + e.name + ": " + e.verdict
}

func (e event) indent() string { return strings.Repeat("  ", e.depth) }

// violation is a law that a call broke.
type violation struct {
	law  Law
	link string // empty: the whole chain
	why  string
	at   int      // the first wrong event; -1: no event is wrong
	want string   // the right event
	path []string // the trace of another call, if that shows the expected one
}

// frame is one call of a link, or of the end.
type frame struct {
	link   int // the position in the chain; the end follows the last link
	comp   *composition
	name   string
	ctx    context.Context
	parent *frame // nil for the outermost
	depth  int
	nexts  int   // the number of calls of next
	inner  *exit // the end of the last call of next; nil: none ended yet
	open   bool
	value  bool // the context has the caller's value
	held   int  // the number held when the link was entered
	kept   int  // the number that its inner links did not release
}

// exit describes how a link ended.
type exit struct {
	res      any
	pic      *snapshot.Snapshot // of res
	err      error
	panicked any
	passed   bool
	goexit   bool
	at       int // the index of the event
}

func (e *exit) returned() bool { return e.panicked == nil && !e.goexit }

// enter records that a link, or the end, was entered. same reports whether the
// request is that of the call; it may be nil.
func (hist *history) enter(comp *composition, link int, gid uint64, ctx context.Context, same func() bool) *frame {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	f := &frame{link: link, comp: comp, name: comp.name(link), ctx: ctx, open: true}
	hist.place(f, comp, gid)
	f.depth = 0
	if f.parent != nil {
		f.depth = f.parent.depth + 1
	}
	hist.checkContext(f)
	hist.checkRequest(f.parent)
	if hist.held != nil {
		f.held = hist.held()
	}
	if same != nil {
		is := same()
		if hist.solo[link] && !is { // solo is nil while the call runs alone
			hist.violated(violation{law: Concurrent, link: nameOf(f.parent), at: -1,
				why: "it passed on a request that is not the request of its call"})
		}
		if hist.same == nil {
			hist.same = map[int]bool{}
		}
		hist.same[link] = is
	}
	hist.frames, hist.open = append(hist.frames, f), append(hist.open, f)
	hist.events = append(hist.events, event{depth: f.depth, name: f.name})
	hist.mark(f)
	return f
}

// place finds the link that called f, and records a violation if that link may
// not call it.
func (hist *history) place(f *frame, comp *composition, gid uint64) {
	for i := len(hist.open) - 1; i >= 0 && f.parent == nil; i-- {
		if hist.open[i].link == f.link-1 {
			f.parent = hist.open[i]
		}
	}
	late := f.parent == nil && f.link > 0 || hist.over
	for i := len(hist.frames) - 1; i >= 0 && f.parent == nil; i-- {
		if hist.frames[i].link == f.link-1 {
			f.parent = hist.frames[i]
		}
	}
	switch by := nameOf(f.parent); {
	case late:
		hist.violated(violation{law: Nested, link: by, at: len(hist.events), want: "(no call of next)",
			why: "it called next after it had returned"})
	case f.parent == nil && comp != hist.comp || f.parent != nil && comp != f.parent.comp:
		hist.violated(violation{law: OwnEnd, link: by, at: len(hist.events), want: "> " + hist.comp.name(f.link) + " of its own composition",
			why: "it called the next of another composition of the chain"})
	case !hist.follows:
	case gid != hist.gid.Load() && hist.alone:
		hist.violated(violation{law: Concurrent, link: by, at: len(hist.events), want: "(nothing of another call)",
			why: "it passed on the context of another call"})
	case gid != hist.gid.Load():
		hist.violated(violation{law: Nested, link: by, at: len(hist.events), want: "> " + f.name + " in the goroutine of the call",
			why: "it called next in another goroutine"})
	}
	if f.parent == nil {
		return
	}
	if f.parent.nexts++; f.parent.nexts == 2 {
		hist.violated(violation{law: NextOnce, link: f.parent.name, at: len(hist.events), want: "< " + f.parent.name,
			why: "it called next a second time"})
	}
}

// checkContext compares the context of a link with that of the next outer link.
func (hist *history) checkContext(f *frame) {
	outer := f.parent
	want := fmt.Sprintf("> %s with a context that descends from the caller's", f.name)
	if f.ctx == nil {
		hist.violated(violation{law: Context, link: nameOf(outer), at: len(hist.events), want: want, why: "it passed on a nil context"})
		return
	}
	f.value = historyOf(f.ctx) == hist
	switch {
	case outer != nil && outer.value && !f.value:
		hist.violated(violation{law: Context, link: outer.name, at: len(hist.events), want: want,
			why: "the context that it passed on lacks a value of the one that it got"})
	case outer != nil && outer.ctx != nil && outer.ctx.Err() != nil && f.ctx.Err() == nil:
		hist.violated(violation{law: Context, link: outer.name, at: len(hist.events), want: want,
			why: "the context that it got is canceled, but not the one that it passed on"})
	}
}

// checkRequest records a violation of by, the link that ran, if the request has
// changed.
func (hist *history) checkRequest(by *frame) {
	if hist.pic == nil || hist.changed || by == nil {
		return
	}
	diff := hist.pic.Diff(hist.view())
	if diff == "" {
		return
	}
	hist.changed = true
	hist.violated(violation{law: Request, link: by.name, at: -1, why: "it changed the request:\n" + indent(diff, "    ")})
}

// leave records that a link was left.
func (hist *history) leave(f *frame, x *exit, meta *chain.Link) {
	verdict, reason := x.verdict()
	if reason != "" {
		verdict += " " + reason
	}
	hist.mu.Lock()
	defer hist.mu.Unlock()
	hist.checkRequest(f)
	x.at = len(hist.events)
	for i, o := range hist.open {
		if o == f {
			hist.open = append(hist.open[:i], hist.open[i+1:]...)
			break
		}
	}
	for _, o := range hist.open {
		if o.parent == f {
			hist.violated(violation{law: Nested, link: f.name, at: x.at, want: "< " + o.name, why: "it returned before a link that it called"})
			break
		}
	}
	f.open = false
	hist.events = append(hist.events, event{f.depth, f.name, verdict})
	if f.parent != nil {
		f.parent.inner = x
	}
	if hist.held != nil {
		held := hist.held()
		if own := held - f.held - f.kept; own != 0 {
			hist.violated(violation{law: GivesBack, link: f.name, at: x.at, want: fmt.Sprintf("< %s with nothing held", f.name),
				why: fmt.Sprintf("it changed the number held by %+d, from %d to %d", own, f.held, held)})
		}
		if f.parent != nil {
			f.parent.kept += held - f.held
		}
	}
	if f.link < hist.comp.len() {
		hist.compare(f, x)
	}
	if hist.solo != nil && hist.foreign(x) && (f.inner == nil || !hist.foreign(f.inner)) {
		hist.violated(violation{law: Concurrent, link: f.name, at: -1, why: "it ended with the error or the panic of another call"})
	}
	hist.mark(f.parent)
}

// compare compares the end of a link with the end of next.
func (hist *history) compare(f *frame, x *exit) {
	inner := f.inner
	breaks := func(law Law, want, why string) {
		hist.violated(violation{law: law, link: f.name, at: x.at, want: "< " + f.name + ": " + want, why: why})
	}
	if x.returned() && hist.refused(x) && (inner == nil || !hist.refused(inner)) {
		breaks(Accepted, "another result", text(x.err))
	}
	switch {
	case x.goexit:
		if inner == nil || !inner.goexit {
			breaks(NoPanic, "a return", "it ended its goroutine")
		}
		return
	case x.panicked != nil:
		if inner == nil || !finds(inner.panicked, x.panicked) {
			breaks(NoPanic, "a return", fmt.Sprintf("it panicked: %v", x.panicked))
		}
		return
	case inner == nil:
		return
	case inner.panicked != nil:
		if x.err == nil || !finds(inner.panicked, x.err) {
			breaks(Panics, "panic", "the panic of the inner links is lost: it does not continue, and the error that the link returned does not contain it")
		}
	case inner.err != nil:
		if !is(x.err, inner.err) {
			breaks(Errors, "error", fmt.Sprintf(
				"the error of the inner links is lost: errors.Is does not find it in the error that the link returned, %v", x.err))
		}
	case inner.pic != nil && inner.returned() && x.err == nil:
		if diff := inner.pic.Diff(x.res); diff != "" {
			_, prints := x.res.(fmt.Stringer)
			if was, is := show(inner.res), show(x.res); prints && was != is {
				diff = "was " + was + ", is " + is
			}
			breaks(Result, "the result of next", "its result is not that of next:\n"+indent(diff, "    "))
		}
	}
}

// refused reports whether the composer replaced a wrong result by an error.
func (hist *history) refused(x *exit) bool {
	return slices.ContainsFunc(hist.refuses, func(err error) bool { return x.err != nil && is(x.err, err) })
}

// finds reports whether another panic, or an error, contains the panic value
// inner. Any error except a *chain.PanicError counts as containing a value that
// is no error.
func finds(inner, outer any) bool {
	if inner == nil {
		return false
	}
	if identical(inner, outer) {
		return true
	}
	err, ok := outer.(error)
	if !ok {
		return false
	}
	if target, ok := inner.(error); ok {
		return is(err, target)
	}
	var p *chain.PanicError
	return !errors.As(err, &p) || identical(inner, p.Value)
}

// foreign reports whether a link ended with the error or panic of another call.
func (hist *history) foreign(x *exit) bool {
	for _, v := range [...]any{x.err, x.panicked} {
		if err, ok := v.(error); ok && !is(err, hist.end.err) && is(err, errAnyEnd) {
			return true
		}
	}
	return false
}

// is returns errors.Is, or false if a method of the error panics.
func is(err, target error) (found bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}

// identical compares by ==, or returns false if the types do not allow it.
func identical(a, b any) (same bool) {
	defer func() { _ = recover() }() // == panics for such a type
	return a == b
}

func (hist *history) violated(v violation) { hist.found = append(hist.found, v) }

// close ends the history and returns its violations. Later events break the law
// Nested.
func (hist *history) close() []violation {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	hist.over = true
	return slices.Clone(hist.found)
}

// matched returns the links that got the request of the call.
func (hist *history) matched() map[int]bool {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	return maps.Clone(hist.same)
}

// late returns the violations after the first since ones.
func (hist *history) late(since int) []violation {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	return slices.Clone(hist.found[since:])
}

// mark labels the goroutine with the running link.
func (hist *history) mark(f *frame) {
	if hist.label != "" {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(labelCall, hist.label, labelLink, nameOf(f))))
	}
}

// trace returns the events so far.
func (hist *history) trace() []event {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	return slices.Clone(hist.events)
}

// control describes the running link, or returns "".
func (hist *history) control() string {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	if len(hist.open) == 0 {
		return ""
	}
	f := hist.open[len(hist.open)-1]
	if f.nexts == 0 {
		return fmt.Sprintf("link %s is running and has not called next", f.name)
	}
	return fmt.Sprintf("link %s is running, after next returned to it", f.name)
}

// verdict returns "goexit", or the verdict and reason of chain.Exit.
func (x *exit) verdict() (verdict, reason string) {
	defer func() {
		if recover() != nil {
			verdict, reason = "(the result panics in Describe)", ""
		}
	}()
	if x.goexit {
		return "goexit", ""
	}
	return chain.Exit{Result: x.res, Err: x.err, Panic: x.panicked, Passed: x.passed}.Verdict()
}

// text prints an error or the value of a panic.
func text(v any) string { return fmt.Sprint(v) }

func nameOf(f *frame) string {
	if f == nil {
		return ""
	}
	return f.name
}

func indent(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

// goroutine returns the number of the running goroutine. Only stacks show it.
func goroutine() uint64 {
	var buf [40]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// historyKey is the key of the call's history in the caller's context.
type historyKey struct{}

func historyOf(ctx context.Context) *history {
	if ctx == nil {
		return nil
	}
	hist, _ := ctx.Value(historyKey{}).(*history)
	return hist
}
