package chaintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// record is one call of a chain: which links ran, how each ended, and which
// laws the call broke. Any goroutine may enter a link, even after the call.
type record struct {
	*config
	comp *composition
	call any           // the *call
	text func() string // describes the call
	req  any           // the request of the call
	view func() any    // returns the part of it that links must not change
	gid  atomic.Uint64 // identifies the goroutine of the call
	err  error         // the error, and the panic, of the end; each call has its own

	mu      sync.Mutex
	pic     *snapshot.Snapshot // of view; nil: the law Request is not tested
	events  []event
	frames  []*frame // calls of links, in the order of their begin
	found   []finding
	over    bool
	reached bool
	late    *atomic.Pointer[finding] // a law that is broken after the call

	// These are of the Composer; nil: it has none.
	refuses []error
	passes  func(req any) error
	decides func(res any) error
	texts   bool // the trace has the texts of results and errors
}

// event is a line of a trace: a link was entered, or left with a verdict.
type event struct {
	depth         int
	name, verdict string
	note          string // the request belongs to another call; empty: it does not
	by            string // the link that called it, or that was left; for the kit's end, the link before it
	exit          *exit  // compared, too; nil: it has no result, or only the verdict counts
}

// differs describes the difference of two events; empty: they are equal. The
// text of a result may be cut, or leave out secrets, so results are compared.
func (e event) differs(o event) (diff string) {
	if e.exit != nil && o.exit != nil {
		diff = e.exit.pic.Diff(o.exit.res)
	}
	e.exit, o.exit = nil, nil
	switch text := strings.TrimSpace(e.String()); {
	case e != o:
		return "expected: " + text
	case diff != "":
		return "the printed results are equal, the results are not:\n" + indent(diff)
	}
	return ""
}

func (e event) String() string {
	text := strings.Repeat("  ", e.depth)
	if e.verdict == "" {
		text += "> " + e.name
	} else {
		text += "< " + e.name + ": " + e.verdict
	}
	return text + e.note
}

// frame is one call of a link, or of the end.
type frame struct {
	i      int // the position in the chain; the end follows the last link
	comp   *composition
	name   string
	ctx    context.Context
	parent *frame // nil for the outermost
	gid    uint64 // identifies its goroutine
	depth  int
	nexts  int   // the number of calls of next
	inner  *exit // the end of the last call of next; nil: none ended yet
	open   bool
	value  bool // the context has the caller's value
}

func (f *frame) String() string {
	if f == nil {
		return ""
	}
	return f.name
}

// exit describes how a link ended.
type exit struct {
	res      any
	pic      snapshot.Snapshot // of res
	err      error
	panicked any
	goexit   bool
}

// broke records a broken law. The record is locked.
func (r *record) broke(law string, by *frame, at int, format string, args ...any) {
	f := finding{law: law, link: by.String(), why: fmt.Sprintf(format, args...), at: at, call: r}
	if r.over {
		if law == nested && !r.excused(nested, f.link) {
			first := func(f finding) bool { return f.law == nested && !r.excused(nested, f.link) }
			if i := slices.IndexFunc(r.found, first); i >= 0 { // the call may have ended between the two
				f = r.found[i]
			}
			r.late.CompareAndSwap(nil, &f)
		}
		return
	}
	r.found = append(r.found, f)
}

// enter records that the i-th link, or the end, was entered.
func (r *record) enter(comp *composition, i int, gid uint64, ctx context.Context, req any) *frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, at := &frame{i: i, comp: comp, name: comp.name(i), ctx: ctx, gid: gid, open: true}, len(r.events)
	for _, o := range slices.Backward(r.frames) { // the caller is the last open call of the next outer link
		if o.i == i-1 && (f.parent == nil || o.open && !f.parent.open) {
			f.parent = o
		}
	}
	by := f.parent
	if by != nil {
		f.depth = by.depth + 1
	}
	switch {
	case r.over, i > 0 && (by == nil || !by.open):
		r.broke(nested, by, at, "it called next after it had returned")
	case by == nil && comp != r.comp, by != nil && comp != by.comp:
		r.broke(ownEnd, by, at, "it called the next of another composition of the chain")
	case by == nil && gid != r.gid.Load(), by != nil && gid != by.gid:
		r.broke(nested, by, at, "it called next in another goroutine")
	}
	if by != nil {
		if by.nexts++; by.nexts == 2 {
			r.broke(nextOnce, by, at, "it called next a second time")
		}
	}
	if by != nil && r.passes != nil {
		if err := r.passes(req); err != nil {
			r.broke(rules, by, at, "%v", err)
		}
	}
	r.descends(f, at)
	r.unchanged(by)
	note := ""
	if !identical(r.req, req) && snapshot.Of(r.req).Diff(req) != "" {
		note = " (with a request that is not the request of its call)"
	}
	r.frames, r.events = append(r.frames, f), append(r.events, event{f.depth, f.name, "", note, by.String(), nil})
	r.mark(f)
	return f
}

// descends compares the context of a link with that of the next outer link.
func (r *record) descends(f *frame, at int) {
	outer := f.parent
	if f.ctx == nil {
		r.broke(contexts, outer, at, "it passed on a nil context")
		return
	}
	f.value = recordOf(f.ctx) == r
	switch {
	case outer == nil || outer.ctx == nil:
	case outer.value && !f.value:
		r.broke(contexts, outer, at, "the context that it passed on lacks a value of the one that it got")
	case outer.ctx.Err() != nil && f.ctx.Err() == nil:
		r.broke(contexts, outer, at, "the context that it got is canceled, but not the one that it passed on")
	}
}

// unchanged records that by, the link that ran, changed the request.
func (r *record) unchanged(by *frame) {
	if r.pic == nil || by == nil {
		return
	}
	if diff := r.pic.Diff(r.view()); diff != "" {
		r.pic = nil // reported once
		r.broke(request, by, -1, "it changed the request:\n%s", indent(diff))
	}
}

// leave records that a link was left.
func (r *record) leave(f *frame, x *exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.i < f.comp.end() { // the kit's end changes nothing
		r.unchanged(f)
	}
	at := len(r.events)
	f.open = false
	for _, o := range r.frames {
		if o.open && o.parent == f {
			r.broke(nested, f, at, "it returned before a link that it called")
			break
		}
	}
	e := event{f.depth, f.name, x.verdict(r.texts), "", f.name, nil}
	if f.i == f.comp.end() {
		e.by = f.parent.String()
	}
	if r.texts && x.err == nil {
		e.exit = x
	}
	r.events = append(r.events, e)
	if f.i < f.comp.end() {
		r.compare(f, x, at)
	}
	if f.parent != nil {
		f.parent.inner = x
	}
	r.mark(f.parent)
}

// compare compares the end of a link with the end of next.
func (r *record) compare(f *frame, x *exit, at int) {
	inner := f.inner
	if r.refused(x) && (inner == nil || !r.refused(inner)) {
		r.broke(accepted, f, at, "%v", x.err)
	}
	if p, ok := errors.AsType[*chain.PanicError](x.err); ok && (inner == nil || inner.err == nil && inner.panicked == nil) {
		r.broke(noPanic, f, at, "it panicked: %v", p.Value)
	}
	if inner == nil && x.err == nil && x.panicked == nil && !x.goexit && r.decides != nil {
		if err := r.decides(x.res); err != nil {
			r.broke(rules, f, at, "%v", err)
		}
	}
	switch {
	case x.goexit:
		if inner == nil || !inner.goexit {
			r.broke(noPanic, f, at, "it ended its goroutine")
		}
	case x.panicked != nil:
		if inner == nil || !contains(x.panicked, inner.panicked) {
			r.broke(noPanic, f, at, "it panicked: %v", x.panicked)
		}
	case inner == nil:
	case inner.panicked != nil:
		if x.err == nil || !contains(x.err, inner.panicked) {
			r.broke(keepsPanic, f, at, "the panic of the inner links is lost: it does not continue, and the error that the link returned does not contain it")
		}
	case inner.err != nil:
		if !is(x.err, inner.err) {
			r.broke(keepsError, f, at, "the error of the inner links is lost: errors.Is does not find it in the error that the link returned, %v", x.err)
		}
	case r.keepsResult && !inner.goexit && x.err == nil && (len(r.keeps) == 0 || slices.Contains(r.keeps, f.name)):
		if diff := inner.pic.Diff(x.res); diff != "" {
			if _, prints := x.res.(fmt.Stringer); prints {
				diff = "was " + show(inner.res) + ", is " + show(x.res)
			}
			r.broke(result, f, at, "its result is not that of next:\n%s", indent(diff))
		}
	}
}

// refused reports whether the composer replaced a wrong result by an error.
func (r *record) refused(x *exit) bool {
	return x.err != nil && slices.ContainsFunc(r.refuses, func(err error) bool { return is(x.err, err) })
}

// contains reports whether a panic, or an error, contains the value of an inner
// panic. Any error except a *chain.PanicError counts as containing a value that
// is no error.
func contains(outer, inner any) bool {
	if inner == nil || identical(inner, outer) {
		return inner != nil
	}
	err, ok := outer.(error)
	if target, isErr := inner.(error); !ok || isErr {
		return ok && is(err, target)
	}
	var p *chain.PanicError
	return !errors.As(err, &p) || identical(inner, p.Value)
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

// verdict returns "goexit", or the verdict and reason of chain.Exit. texts adds
// the text of the result or of the error.
func (x *exit) verdict(texts bool) (text string) {
	defer func() {
		if recover() != nil {
			text = "(the result panics in Describe)"
		}
	}()
	switch {
	case x.goexit:
		return "goexit"
	case texts && x.err != nil:
		return "error: " + fmt.Sprint(x.err)
	case texts && x.panicked == nil:
		return show(x.res)
	}
	verdict, reason := chain.Exit{Result: x.res, Err: x.err, Panic: x.panicked}.Verdict()
	return strings.TrimSuffix(verdict+" "+reason, " ")
}

// close ends the record and returns the broken laws.
func (r *record) close() []finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	return r.found
}

// trace returns the events so far.
func (r *record) trace() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// running returns the name of the link that runs; empty: none.
func (r *record) running() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range slices.Backward(r.frames) {
		if f.open {
			return f.name
		}
	}
	return ""
}

// label is a label of goroutines. Its value is the number of the kit and the
// running link. A new goroutine inherits the labels of the goroutine that starts
// it. So the kit does not count goroutines of other tests.
const label = "chaintest"

// mark labels the goroutine with the running link.
func (r *record) mark(f *frame) {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(label, r.comp.label+" "+f.String())))
}

// goroutine returns the number of the running goroutine. Only stacks show it.
func goroutine() (n uint64) {
	var buf [40]byte
	for _, c := range bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine ")) {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + uint64(c-'0')
	}
	return n
}

// recordKey is the key of the call's record in the caller's context.
type recordKey struct{}

func recordOf(ctx context.Context) *record {
	if ctx == nil {
		return nil
	}
	r, _ := ctx.Value(recordKey{}).(*record)
	return r
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

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
