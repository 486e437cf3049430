package flowtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/patience"
)

const (
	month = 30 * 24 * time.Hour // how long a run may take that is not over before
	never = time.Duration(math.MaxInt64)
	shown = 12 // lines of the timeline that a failure shows
)

// Run lets time pass until the resource is ready in a pass behind all that is scripted to happen, or until it is gone. It
// fails the test if that takes more than MaxPasses or 30 days.
func (w *World[T]) Run(t rapid.TB) *Run {
	t.Helper()
	return w.run(t, ending{at: never, settled: true})
}

// RunUntil lets time pass until end, or until the resource is gone. What is due at end still happens.
func (w *World[T]) RunUntil(t rapid.TB, end time.Duration) *Run {
	t.Helper()
	return w.run(t, ending{at: end})
}

// RunPasses lets time pass until there were n passes, or until the resource is gone.
func (w *World[T]) RunPasses(t rapid.TB, n int) *Run {
	t.Helper()
	return w.run(t, ending{at: never, passes: &n})
}

// ending is when a run is over.
type ending struct {
	at      time.Duration
	passes  *int // nil: any number
	settled bool
}

// engine is a run under way.
type engine[T any] struct {
	w      *World[T]
	t      rapid.TB
	run    *Run
	runner flow.Runner[T]
	events []*event
	due    time.Duration // when the next pass is
	out    flow.Outcome
	ops    operations
	latest bool            // nothing has happened since the last pass
	broken map[string]bool // the invariants that the test has failed with
}

func (w *World[T]) run(t rapid.TB, end ending) *Run {
	t.Helper()
	e := &engine[T]{w: w, t: t, run: &Run{}, ops: operations{}, broken: map[string]bool{}}
	scripts := w.wire()
	fault := w.mistake(scripts)
	switch {
	case w.ran:
		fault = "this World was run before: make another one, since its scripts are used up"
	case end.at < 0:
		fault = fmt.Sprintf("RunUntil(%s): the time is negative", end.at)
	case end.passes != nil && *end.passes < 1:
		fault = fmt.Sprintf("RunPasses(%d): give at least 1", *end.passes)
	}
	w.ran = true
	if fault == "" {
		e.events = w.happenings()
		fault = e.start()
	}
	if fault == "" {
		fault = e.until(end)
	}
	if fault != "" {
		if len(e.run.lines) > 0 {
			fault += "\nthe run so far, its last lines:\n" + indent(e.run.last(shown))
		}
		t.Fatalf("flowtest: %s", fault)
		return e.run
	}
	e.unused(scripts)
	return e.run
}

// start makes the flow.
func (e *engine[T]) start() (fault string) {
	e.runner, fault = e.w.begin()
	return fault
}

// until lets time pass. It says why the run cannot go on; empty: it is over.
func (e *engine[T]) until(end ending) (fault string) {
	most := e.w.MaxPasses
	if most == 0 {
		most = 1000
	}
	for {
		if fault = e.restart(); fault != "" {
			return fault
		}
		next := e.next()
		at := e.due
		if next != nil {
			at = min(at, next.at)
		}
		switch {
		case e.over(end, next):
			return ""
		case at == never:
			return fmt.Sprintf("nothing brings the resource back after %s", e.out.State())
		case at > end.at:
			e.w.stage.set(end.at)
			return ""
		case at > month && end.settled:
			return fmt.Sprintf("the resource is not ready after 30 days and %d passes: use RunUntil or RunPasses if that is right",
				len(e.run.Passes))
		case next != nil && next.at <= at:
			e.w.stage.set(at)
			if fault = e.happens(next); fault != "" {
				return fault
			}
			continue
		case end.passes == nil && len(e.run.Passes) >= most:
			return fmt.Sprintf("the run is not over after %d passes (World.MaxPasses)", most)
		}
		e.w.stage.set(at)
		if fault = e.pass(); fault != "" {
			return fault
		}
	}
}

// over tells whether the run is.
func (e *engine[T]) over(end ending, next *event) bool {
	state := e.out.State()
	return state == flow.StateGone ||
		end.passes != nil && len(e.run.Passes) >= *end.passes ||
		end.settled && state == flow.StateReady && next == nil && e.latest
}

// next is the event that happens next; nil: there is none any more.
func (e *engine[T]) next() (first *event) {
	for _, ev := range e.events {
		if !ev.happened && (first == nil || ev.at < first.at) {
			first = ev
		}
	}
	return first
}

func (e *engine[T]) happens(ev *event) (fault string) {
	defer func() {
		if v := recover(); v != nil {
			fault = fmt.Sprintf("%s at %s panics: %v", ev.named(), stamp(ev.at), v)
		}
	}()
	ev.happened, e.latest = true, false
	now := e.w.stage.elapsed()
	if ev.what != "" {
		e.run.tell(now, ev.what)
	}
	if ev.do != nil {
		ev.do()
	}
	waits := e.out.WaitingFor()
	if ev.wakes || slices.ContainsFunc(ev.refs, func(ref checks.Ref) bool { return slices.Contains(waits, ref) }) {
		e.due = now
	}
	return ""
}

// restart makes the flow anew if that was asked for.
func (e *engine[T]) restart() (fault string) {
	restarts, unkept := e.w.stage.takeRestart()
	if !restarts {
		return ""
	}
	e.due, e.latest = e.w.stage.elapsed(), false
	e.run.tell(e.due, "the process restarts")
	if e.w.Operations.Token == nil || unkept {
		clear(e.ops)
	}
	return e.start()
}

// pass reconciles the resource once.
func (e *engine[T]) pass() (fault string) {
	w := e.w
	deleting, fault := e.deleting()
	if fault != "" {
		return fault
	}
	if fault = e.reconcile(deleting); fault != "" {
		return fault
	}
	rec, fault, watched := w.stage.end()
	now := w.stage.elapsed()
	delay, again := e.out.Again()
	p := Pass{
		At: now, State: e.out.State(), Point: e.out.Point(), Link: e.out.Link(), Reason: e.out.Reason(),
		WaitingFor: e.out.WaitingFor(), Requests: rec.requests,
	}
	e.due, e.latest = never, true
	if again {
		p.Again, e.due = delay, now+max(delay, 0)
	}
	p.Ready, p.Since = e.condition(now)
	e.run.add(p)
	switch {
	case fault != "":
		return fault
	case e.out.IsZero():
		return "the pass came to the zero Outcome, which says nothing"
	case !watched:
		return "the flow does not know the options that World.New was given, so that it has neither the clock of the world " +
			"nor its back-off: hand them on to flow.New"
	}
	for _, inv := range invariants {
		e.check(inv.name, inv.broken(&p, &rec, again), &p)
	}
	e.check(oneOperation, e.ops.follow(&rec), &p)
	return ""
}

// check fails the test if an invariant is broken, once for each.
func (e *engine[T]) check(name, broken string, p *Pass) {
	if broken == "" || e.broken[name] {
		return
	}
	e.broken[name] = true
	e.t.Helper()
	e.t.Errorf("flowtest: %s: %s:\n  %s", name, broken, p)
}

// condition is Ready after the last pass, and since when it has its status.
func (e *engine[T]) condition(now time.Duration) (c flow.Condition, since time.Duration) {
	if n := len(e.run.Passes); n > 0 {
		c, since = e.run.Passes[n-1].Ready, e.run.Passes[n-1].Since
	}
	written, ok := readyOf(e.out.Conditions())
	switch {
	case e.out.State() == flow.StateGone:
		return flow.Condition{}, 0
	case !ok:
		return c, since
	case written.Status != c.Status:
		since = now
	}
	return written, since
}

func (e *engine[T]) deleting() (deleting bool, fault string) {
	if e.w.Operations.Deleting == nil {
		return false, ""
	}
	defer func() {
		if v := recover(); v != nil {
			deleting, fault = false, fmt.Sprintf("Operations.Deleting panics: %v", v)
		}
	}()
	return e.w.Operations.Deleting(e.w.Resource), ""
}

// reconcile makes the pass on a goroutine of its own, so that one that is stuck does not take the test with it.
func (e *engine[T]) reconcile(deleting bool) (fault string) {
	var r struct {
		out      flow.Outcome
		returned bool
		panics   any
	}
	limit := e.w.Patience
	if limit == 0 {
		limit = 10 * time.Second
	}
	done := make(chan struct{})
	ctx, cancel := e.w.stage.begin(deleting)
	defer cancel()
	go func(ctx context.Context, runner flow.Runner[T], resource T) {
		defer func() {
			if !r.returned {
				r.panics = recover()
			}
			close(done)
		}()
		r.out = runner.Reconcile(ctx, resource)
		r.returned = true
	}(ctx, e.runner, e.w.Resource)

	if !patience.Wait(done, limit, nil) {
		return fmt.Sprintf("the pass at %s is stuck at %s: it has not come back within %s (World.Patience, by the real clock)",
			stamp(e.w.stage.elapsed()), e.w.stage.place(), limit)
	}
	e.out = r.out
	switch {
	case r.panics != nil:
		return fmt.Sprintf("the reconciler panics at %s of the run: %v", stamp(e.w.stage.elapsed()), r.panics)
	case !r.returned:
		return fmt.Sprintf("the pass at %s ended its goroutine at %s, as FailNow does: let links return errors",
			stamp(e.w.stage.elapsed()), e.w.stage.place())
	}
	return ""
}

// unused fails the test for what is scripted and was in vain.
func (e *engine[T]) unused(scripts []scripted) {
	var unused []string
	for _, s := range scripts {
		unused = append(unused, s.unused()...)
	}
	for _, ev := range e.events {
		if ev.scripted && !ev.happened {
			unused = append(unused, fmt.Sprintf("%s at %s never happened", ev.named(), stamp(ev.at)))
		}
	}
	if len(unused) > 0 {
		e.t.Helper()
		e.t.Errorf("flowtest: scripted in vain, the run ended at %s:\n  %s\nthe run, its last lines:\n%s",
			stamp(e.w.stage.elapsed()), strings.Join(unused, "\n  "), indent(e.run.last(shown)))
	}
}
