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

// history records one call of a chain: how each link was entered and left, and
// which laws the call broke. Any goroutine may enter a link, also after the call.
type history struct {
	comp    *composition
	end     *plan
	gid     atomic.Uint64 // the goroutine of the call
	held    func() int
	pic     *snapshot.Snapshot // of the request; nil if it is not watched
	req     any                // the request of the call
	view    func() any         // the part of it that links must not change
	label   string             // labels goroutines while a link has control; empty if that is not needed
	keep    bool               // results are kept, to be compared
	refuses []error            // by which the composer refuses a result
	follows bool               // the goroutines of links are compared; that takes most of the time of a call
	match   bool               // requests are compared with the one of the call
	solo    map[int]bool       // among other calls: the links that got the request of the call when it was alone
	alone   bool               // among other calls: it stayed in one goroutine when it was alone

	mu      sync.Mutex
	events  []event
	frames  []*frame
	open    []*frame
	found   []violation
	over    bool
	changed bool // the request has changed; the history notes it once
	reached bool
	same    map[int]bool // the links that got the request of the call
}

// event is a line of a trace: a link was entered or, with a verdict, left.
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
	link string // empty: the chain as a whole
	why  string
	at   int      // the first wrong event; -1 if there is none
	want string   // the right event
	path []string // the expected trace, if another call shows it
}

// frame is one call of a link, or of the end.
type frame struct {
	link   int // the position in the chain; the end follows the last link
	comp   *composition
	name   string
	ctx    context.Context
	parent *frame // nil for the outermost
	depth  int
	nexts  int
	inner  *exit // how the last call of next ended; nil before that
	open   bool
	value  bool // the context has the caller's value
	held   int  // before
	kept   int  // how much more is held since, by all that it called
}

// exit is how a link was left.
type exit struct {
	res      any
	pic      *snapshot.Snapshot // of res
	err      error
	panicked any
	passed   bool
	goexit   bool
	at       int // the event
}

func (e *exit) returned() bool { return e.panicked == nil && !e.goexit }

// enter notes that a link, or the end, is entered. same reports whether the
// request is the one of the call; it may be nil.
func (hist *history) enter(comp *composition, link int, gid uint64, ctx context.Context, same func() bool) *frame {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	f := &frame{link: link, comp: comp, name: comp.name(link), ctx: ctx, open: true}
	hist.place(f, comp, gid)
	f.depth = 0
	if f.parent != nil {
		f.depth = f.parent.depth + 1
	}
	hist.sees(f)
	hist.lookAtRequest(f.parent)
	if hist.held != nil {
		f.held = hist.held()
	}
	if same != nil {
		is := same()
		if hist.solo[link] && !is { // nil, and so never, as long as it is alone
			hist.violated(violation{law: Concurrent, link: nameOf(f.parent), at: -1,
				why: "what it handed on is not the request of its own call"})
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

// place finds the link that called f, and notes a violation if it may not.
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
			why: "it handed on the context of another call"})
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

// sees compares the context of a link with that of the next outer link.
func (hist *history) sees(f *frame) {
	outer := f.parent
	want := fmt.Sprintf("> %s with a context that descends from the caller's", f.name)
	if f.ctx == nil {
		hist.violated(violation{law: Context, link: nameOf(outer), at: len(hist.events), want: want, why: "it handed on a nil context"})
		return
	}
	f.value = historyOf(f.ctx) == hist
	switch {
	case outer != nil && outer.value && !f.value:
		hist.violated(violation{law: Context, link: outer.name, at: len(hist.events), want: want,
			why: "the context that it handed on lacks a value of the one that it got"})
	case outer != nil && outer.ctx != nil && outer.ctx.Err() != nil && f.ctx.Err() == nil:
		hist.violated(violation{law: Context, link: outer.name, at: len(hist.events), want: want,
			why: "the context that it got is canceled, but not the one that it handed on"})
	}
}

// lookAtRequest blames by, the link that had control, if the request has changed.
func (hist *history) lookAtRequest(by *frame) {
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

// leave notes how a link is left.
func (hist *history) leave(f *frame, x *exit, meta *chain.Link) {
	verdict, reason := x.verdict()
	if reason != "" {
		verdict += " " + reason
	}
	hist.mu.Lock()
	defer hist.mu.Unlock()
	hist.lookAtRequest(f)
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
				why: fmt.Sprintf("the number held changed by %+d in it: from %d to %d", own, f.held, held)})
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

// compare compares how a link was left with how next ended.
func (hist *history) compare(f *frame, x *exit) {
	inner := f.inner
	say := func(law Law, want, why string) {
		hist.violated(violation{law: law, link: f.name, at: x.at, want: "< " + f.name + ": " + want, why: why})
	}
	if x.returned() && hist.refused(x) && (inner == nil || !hist.refused(inner)) {
		say(Accepted, "another result", text(x.err))
	}
	switch {
	case x.goexit:
		if inner == nil || !inner.goexit {
			say(NoPanic, "a return", "it ended its goroutine")
		}
		return
	case x.panicked != nil:
		if inner == nil || !finds(inner.panicked, x.panicked) {
			say(NoPanic, "a return", fmt.Sprintf("it panicked: %v", x.panicked))
		}
		return
	case inner == nil:
		return
	case inner.panicked != nil:
		if x.err == nil || !finds(inner.panicked, x.err) {
			say(Panics, "panic", "the panic of the inner links is lost: it neither continues nor is found in the error that the link returned")
		}
	case inner.err != nil:
		if !is(x.err, inner.err) {
			say(Errors, "error", fmt.Sprintf(
				"the error of the inner links is lost: errors.Is does not find it in the error that the link returned, %v", x.err))
		}
	case inner.pic != nil && inner.returned() && x.err == nil:
		if diff := inner.pic.Diff(x.res); diff != "" {
			_, speaks := x.res.(fmt.Stringer)
			if was, is := show(inner.res), show(x.res); speaks && was != is {
				diff = "was " + was + ", is " + is
			}
			say(Result, "what next returned", "its result is not that of next:\n"+indent(diff, "    "))
		}
	}
}

// refused reports whether the composer refused a result.
func (hist *history) refused(x *exit) bool {
	return slices.ContainsFunc(hist.refuses, func(err error) bool { return x.err != nil && is(x.err, err) })
}

// finds reports whether a panic is found in another panic, or in an error. A
// value that is no error counts as found in any error but a *chain.PanicError.
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
	if sought, ok := inner.(error); ok {
		return is(err, sought)
	}
	var p *chain.PanicError
	return !errors.As(err, &p) || identical(inner, p.Value)
}

// foreign reports whether a link was left with the error or panic of another call.
func (hist *history) foreign(x *exit) bool {
	for _, v := range [...]any{x.err, x.panicked} {
		if err, ok := v.(error); ok && !is(err, hist.end.err) && is(err, errAnyEnd) {
			return true
		}
	}
	return false
}

// is is errors.Is, also for errors whose methods panic.
func is(err, target error) (found bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}

// identical compares by == if the types allow it.
func identical(a, b any) (same bool) {
	defer func() { _ = recover() }() // of a type that cannot be compared
	return a == b
}

func (hist *history) violated(v violation) { hist.found = append(hist.found, v) }

// close ends the history and returns its violations. The law Nested covers later
// events.
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

// late returns the violations since the history was closed.
func (hist *history) late(since int) []violation {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	return slices.Clone(hist.found[since:])
}

// mark labels the goroutine with the link that has control.
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

// control describes the link that has control.
func (hist *history) control() string {
	hist.mu.Lock()
	defer hist.mu.Unlock()
	if len(hist.open) == 0 {
		return ""
	}
	f := hist.open[len(hist.open)-1]
	if f.nexts == 0 {
		return fmt.Sprintf("link %s has control and has not called next", f.name)
	}
	return fmt.Sprintf("link %s has control, after next returned to it", f.name)
}

// verdict returns how a link was left: by Goexit, or as chain.Exit says.
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

// goroutine returns the number of the running goroutine, which only stacks show.
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
