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
	"github.com/windlass-go/windlass/internal/snapshot"
)

// tape is what happened in one call of a chain: how each link was entered and left, and which laws were broken by it.
// Links may be entered by any goroutine, and after the call is over.
type tape struct {
	comp    *composition
	end     *plan
	gid     atomic.Uint64 // the goroutine of the call
	held    func() int
	pic     *snapshot.Snapshot // of the request; nil if that is not watched
	req     any                // the request of the call
	view    func() any         // the part of it that links must not change
	label   string             // labels goroutines while a link has control; empty if that is not needed
	keep    bool               // results are kept, to be compared
	refuses []error            // by which what composes the chain refuses a result
	follows bool               // the goroutines of links are compared; that takes most of the time of a call
	match   bool               // requests are compared with the one of the call
	solo    map[int]bool       // among others: at which links it got the request of the call when it was alone
	alone   bool               // among others: when it was alone it stayed in one goroutine

	mu      sync.Mutex
	events  []event
	frames  []*frame
	open    []*frame
	found   []violation
	over    bool
	changed bool // the request was; it is told once
	reached bool
	same    map[int]bool // at which links the request was the one that the call was given
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

// violation is a law that was broken in a call.
type violation struct {
	law  Law
	link string // empty: the chain as a whole
	why  string
	at   int      // the first event that should be another one; -1 if there is none
	want string   // what it should be
	path []string // the expected trace, if another call tells it
}

// frame is one call of a link, or of the end.
type frame struct {
	link   int // the place in the chain; that of the end is behind the last
	comp   *composition
	name   string
	ctx    context.Context
	parent *frame // nil for the outermost
	depth  int
	nexts  int
	inner  *exit // how the last call of next came out; nil before that
	open   bool
	value  bool // the context has the caller's value
	held   int  // before
	kept   int  // how much more is held since, for all that was called
}

// exit is how a link was left.
type exit struct {
	res      any
	pic      *snapshot.Snapshot // of res
	err      error
	panicked any
	goexit   bool
	at       int // the event
}

func (e *exit) returned() bool { return e.panicked == nil && !e.goexit }

// enter notes that a link is entered, or the end. same tells whether the request is the one of the call; it is asked only
// where that matters.
func (tp *tape) enter(comp *composition, link int, gid uint64, ctx context.Context, same func() bool) *frame {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	f := &frame{link: link, comp: comp, name: comp.name(link), ctx: ctx, open: true}
	tp.place(f, comp, gid)
	f.depth = 0
	if f.parent != nil {
		f.depth = f.parent.depth + 1
	}
	tp.sees(f)
	tp.lookAtRequest(f.parent)
	if tp.held != nil {
		f.held = tp.held()
	}
	if same != nil {
		is := same()
		if tp.solo[link] && !is { // nil, and so never, as long as it is alone
			tp.violated(violation{law: Concurrent, link: nameOf(f.parent), at: -1,
				why: "what it handed on is not the request of its own call"})
		}
		if tp.same == nil {
			tp.same = map[int]bool{}
		}
		tp.same[link] = is
	}
	tp.frames, tp.open = append(tp.frames, f), append(tp.open, f)
	tp.events = append(tp.events, event{depth: f.depth, name: f.name})
	tp.mark(f)
	return f
}

// place finds out who called, and whether it may.
func (tp *tape) place(f *frame, comp *composition, gid uint64) {
	for i := len(tp.open) - 1; i >= 0 && f.parent == nil; i-- {
		if tp.open[i].link == f.link-1 {
			f.parent = tp.open[i]
		}
	}
	late := f.parent == nil && f.link > 0 || tp.over
	for i := len(tp.frames) - 1; i >= 0 && f.parent == nil; i-- {
		if tp.frames[i].link == f.link-1 {
			f.parent = tp.frames[i]
		}
	}
	switch by := nameOf(f.parent); {
	case late:
		tp.violated(violation{law: Nested, link: by, at: len(tp.events), want: "(no call of next)",
			why: "it called next when it had been left"})
	case f.parent == nil && comp != tp.comp || f.parent != nil && comp != f.parent.comp:
		tp.violated(violation{law: OwnEnd, link: by, at: len(tp.events), want: "> " + tp.comp.name(f.link) + " of its own composition",
			why: "it called the next of another composition of the chain"})
	case !tp.follows:
	case gid != tp.gid.Load() && tp.alone:
		tp.violated(violation{law: Concurrent, link: by, at: len(tp.events), want: "(nothing of another call)",
			why: "it handed on the context of another call"})
	case gid != tp.gid.Load():
		tp.violated(violation{law: Nested, link: by, at: len(tp.events), want: "> " + f.name + " in the goroutine of the call",
			why: "it called next in another goroutine"})
	}
	if f.parent == nil {
		return
	}
	if f.parent.nexts++; f.parent.nexts == 2 {
		tp.violated(violation{law: NextOnce, link: f.parent.name, at: len(tp.events), want: "< " + f.parent.name,
			why: "it called next a second time"})
	}
}

// sees looks at the context that a link is given.
func (tp *tape) sees(f *frame) {
	outer := f.parent
	want := fmt.Sprintf("> %s with a context that descends from the caller's", f.name)
	if f.ctx == nil {
		tp.violated(violation{law: Context, link: nameOf(outer), at: len(tp.events), want: want, why: "it handed on a nil context"})
		return
	}
	f.value = tapeOf(f.ctx) == tp
	switch {
	case outer != nil && outer.value && !f.value:
		tp.violated(violation{law: Context, link: outer.name, at: len(tp.events), want: want,
			why: "a value that is in the context that it got is not in the one that it handed on"})
	case outer != nil && outer.ctx != nil && outer.ctx.Err() != nil && f.ctx.Err() == nil:
		tp.violated(violation{law: Context, link: outer.name, at: len(tp.events), want: want,
			why: "the context that it got is canceled, the one that it handed on is not"})
	}
}

// lookAtRequest blames by, who had control till now, if the request has changed.
func (tp *tape) lookAtRequest(by *frame) {
	if tp.pic == nil || tp.changed || by == nil {
		return
	}
	diff := tp.pic.Diff(tp.view())
	if diff == "" {
		return
	}
	tp.changed = true
	tp.violated(violation{law: Request, link: by.name, at: -1, why: "it changed the request:\n" + indent(diff, "    ")})
}

// leave notes that a link is left.
func (tp *tape) leave(f *frame, x *exit, meta *chain.Link) {
	verdict, reason := x.verdict(meta)
	if reason != "" {
		verdict += " " + reason
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.lookAtRequest(f)
	x.at = len(tp.events)
	for i, o := range tp.open {
		if o == f {
			tp.open = append(tp.open[:i], tp.open[i+1:]...)
			break
		}
	}
	for _, o := range tp.open {
		if o.parent == f {
			tp.violated(violation{law: Nested, link: f.name, at: x.at, want: "< " + o.name, why: "it was left before what it called"})
			break
		}
	}
	f.open = false
	tp.events = append(tp.events, event{f.depth, f.name, verdict})
	if f.parent != nil {
		f.parent.inner = x
	}
	if tp.held != nil {
		held := tp.held()
		if own := held - f.held - f.kept; own != 0 {
			tp.violated(violation{law: GivesBack, link: f.name, at: x.at, want: fmt.Sprintf("< %s with nothing held", f.name),
				why: fmt.Sprintf("what is held changed by %+d in it: from %d to %d", own, f.held, held)})
		}
		if f.parent != nil {
			f.parent.kept += held - f.held
		}
	}
	if f.link < tp.comp.len() {
		tp.judge(f, x)
	}
	if tp.solo != nil && tp.foreign(x) && (f.inner == nil || !tp.foreign(f.inner)) {
		tp.violated(violation{law: Concurrent, link: f.name, at: -1, why: "it came to the error or the panic of another call"})
	}
	tp.mark(f.parent)
}

// judge holds what a link returned against what next did.
func (tp *tape) judge(f *frame, x *exit) {
	inner := f.inner
	say := func(law Law, want, why string) {
		tp.violated(violation{law: law, link: f.name, at: x.at, want: "< " + f.name + ": " + want, why: why})
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
	case tp.refused(x) && (inner == nil || !tp.refused(inner)):
		say(Accepted, "another result", text(x.err))
	case inner == nil:
		return
	case inner.panicked != nil:
		if x.err == nil || !finds(inner.panicked, x.err) {
			say(Panics, "panic", "the panic of what is behind it is lost: it neither goes on nor is found in the error that it returned")
		}
	case inner.err != nil:
		if !is(x.err, inner.err) {
			say(Errors, "error", fmt.Sprintf(
				"the error of what is behind it is lost: errors.Is does not find it in what it returned, %v", x.err))
		}
	case inner.pic != nil && inner.returned() && x.err == nil:
		if diff := inner.pic.Diff(x.res); diff != "" {
			_, speaks := x.res.(fmt.Stringer)
			if was, is := show(inner.res), show(x.res); speaks && was != is {
				diff = "was " + was + ", is " + is
			}
			say(Result, "what next returned", "it returned another result than next did:\n"+indent(diff, "    "))
		}
	}
}

// refused reports whether what composes the chain refused a result.
func (tp *tape) refused(x *exit) bool {
	return slices.ContainsFunc(tp.refuses, func(err error) bool { return x.err != nil && is(x.err, err) })
}

// finds tells whether a panic is found in another one, or in an error. What cannot be looked for, as it is no error, is
// taken to be found in an error that is not a *chain.PanicError.
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

// foreign tells whether a link was left with what the end of another call did.
func (tp *tape) foreign(x *exit) bool {
	for _, v := range [...]any{x.err, x.panicked} {
		if err, ok := v.(error); ok && !is(err, tp.end.err) && is(err, errAnyEnd) {
			return true
		}
	}
	return false
}

// is is errors.Is, for errors whose methods may be wrong, too.
func is(err, target error) (found bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, target)
}

// identical compares by ==, as far as that is possible.
func identical(a, b any) (same bool) {
	defer func() { _ = recover() }() // of a type that cannot be compared
	return a == b
}

func (tp *tape) violated(v violation) { tp.found = append(tp.found, v) }

// close ends the tape, and gives what was found. What comes later is told by Nested.
func (tp *tape) close() []violation {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	tp.over = true
	return slices.Clone(tp.found)
}

// matched tells at which links the request was the one of the call.
func (tp *tape) matched() map[int]bool {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return maps.Clone(tp.same)
}

// late gives what was found since the tape was closed.
func (tp *tape) late(since int) []violation {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return slices.Clone(tp.found[since:])
}

// mark labels the goroutine with the link that has control.
func (tp *tape) mark(f *frame) {
	if tp.label != "" {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(labelCall, tp.label, labelLink, nameOf(f))))
	}
}

// trace is what happened so far.
func (tp *tape) trace() []event {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return slices.Clone(tp.events)
}

// control says who has control.
func (tp *tape) control() string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if len(tp.open) == 0 {
		return ""
	}
	f := tp.open[len(tp.open)-1]
	if f.nexts == 0 {
		return fmt.Sprintf("link %s has control, and has not called next", f.name)
	}
	return fmt.Sprintf("link %s has control, and next has returned to it", f.name)
}

// verdict says how a link was left: by Goexit, or as chain.Exit does.
func (x *exit) verdict(meta *chain.Link) (verdict, reason string) {
	defer func() {
		if recover() != nil {
			verdict, reason = "(its result panics when asked what was decided)", ""
		}
	}()
	if x.goexit {
		return "goexit", ""
	}
	return chain.Exit{Result: x.res, Err: x.err, Panic: x.panicked}.Verdict(meta)
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

// goroutine is the number of the running goroutine, which the runtime tells in stacks only.
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

// tapeKey is where the caller's context keeps the tape of the call.
type tapeKey struct{}

func tapeOf(ctx context.Context) *tape {
	if ctx == nil {
		return nil
	}
	tp, _ := ctx.Value(tapeKey{}).(*tape)
	return tp
}
