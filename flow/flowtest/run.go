package flowtest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/patience"
)

const (
	month = 30 * 24 * time.Hour // Run fails after this time
	shown = 12                  // the number of lines of the timeline in a failure
)

// Run advances time until all scripted events have happened and a later pass is
// ready, finished or ignored, or until the resource is gone. It fails the test
// after MaxPasses or 30 days. A World can be run once.
func (w *World[T]) Run(t rapid.TB) *Run {
	t.Helper()
	return w.run(t, ending{at: never, settled: true})
}

// RunUntil advances time until end, or until the resource is gone. Passes and
// events that are due at end still happen. A negative end fails the test.
func (w *World[T]) RunUntil(t rapid.TB, end time.Duration) *Run {
	t.Helper()
	return w.run(t, ending{at: end})
}

// RunPasses advances time for n passes, or until the resource is gone. An n
// below 1 fails the test.
func (w *World[T]) RunPasses(t rapid.TB, n int) *Run {
	t.Helper()
	return w.run(t, ending{at: never, passes: &n})
}

// ending is the condition for the end of a run.
type ending struct {
	at      time.Duration
	passes  *int // nil: any number
	settled bool
}

// runner runs a World.
type runner[T any] struct {
	w      *World[T]
	t      rapid.TB
	engine *Engine
	queued *resource // the resource of the World
	flow   flow.Runner[T]
	events []*event
	ops    operations
	fault  string          // why the run cannot continue
	latest bool            // no event has happened since the last pass
	broken map[string]bool // the invariants whose failure was reported
}

func (w *World[T]) run(t rapid.TB, end ending) *Run {
	t.Helper()
	e := &runner[T]{w: w, t: t, engine: &w.stage.engine, queued: &resource{}, ops: operations{}, broken: map[string]bool{}}
	scripts := w.wire()
	e.fault = w.mistake(scripts)
	switch {
	case w.ran:
		e.fault = "this World was run before: make a new one, because its scripts are used up"
	case end.at < 0:
		e.fault = fmt.Sprintf("RunUntil(%s): the time is negative", end.at)
	case end.passes != nil && *end.passes < 1:
		e.fault = fmt.Sprintf("RunPasses(%d): give at least 1", *end.passes)
	}
	w.ran = true
	if e.fault == "" {
		e.flow, e.fault = w.begin()
	}
	run := e.engine.Run()
	if e.fault == "" {
		e.queue()
		e.until(end)
	}
	if e.fault != "" {
		if lines := run.last(shown); lines != "" {
			e.fault += "\nthe last lines of the timeline:\n" + indent(lines)
		}
		t.Fatalf("flowtest: %s", e.fault)
		return run
	}
	e.unused(scripts)
	return run
}

// queue adds the resource and the events to the engine.
func (e *runner[T]) queue() {
	e.queued.pass = func(context.Context) { e.pass() }
	e.engine.queue = []*resource{e.queued}
	e.events = e.w.allEvents()
	for _, ev := range e.events {
		e.engine.At(ev.at, "", ev.what, func() { e.happens(ev) })
	}
}

// until advances time until the run ends, or until there is a fault.
func (e *runner[T]) until(end ending) {
	most := e.w.MaxPasses
	if most == 0 {
		most = 1000
	}
	for e.fault == "" {
		if e.restart(); e.fault != "" {
			return
		}
		at, event, step := e.engine.next()
		passes := len(e.engine.run.Passes)
		switch {
		case e.over(end):
			return
		case step == nil:
			e.fault = fmt.Sprintf("nothing requeues the resource after %s", e.queued.out.State())
		case at > end.at:
			e.engine.set(end.at)
			return
		case at > month && end.settled:
			e.fault = fmt.Sprintf("the resource is not ready after 30 days and %d passes: use RunUntil or RunPasses if that is intended", passes)
		case !event && end.passes == nil && passes >= most:
			e.fault = fmt.Sprintf("the run is not over after %d passes (World.MaxPasses)", most)
		default:
			e.engine.set(at)
			step(context.Background())
		}
	}
}

// over reports whether the run has ended.
func (e *runner[T]) over(end ending) bool {
	state := e.queued.out.State()
	return state == flow.StateGone ||
		end.passes != nil && len(e.engine.run.Passes) >= *end.passes ||
		end.settled && len(e.engine.events) == 0 && (state == flow.StateReady && e.latest || e.ended())
}

// ended reports whether no other pass is due after a final or ignored outcome.
func (e *runner[T]) ended() bool {
	out := e.queued.out
	return e.queued.due == never && (out.Final() || out.State() == flow.StateIgnored)
}

func (e *runner[T]) happens(ev *event) {
	defer func() {
		if v := recover(); v != nil {
			e.fault = fmt.Sprintf("%s at %s panics: %v", ev.named(), Stamp(ev.at), v)
		}
	}()
	ev.happened, e.latest = true, false
	if ev.do != nil {
		ev.do()
	}
	switch {
	case ev.wakes:
		e.engine.Edit(checks.Ref{})
	case ev.status:
		e.engine.EditStatus(checks.Ref{})
	}
	e.engine.Wake(ev.refs...)
}

// restart makes the flow again if a restart was requested.
func (e *runner[T]) restart() {
	restarts, tokenLost := e.w.stage.restarted()
	if !restarts {
		return
	}
	e.latest = false
	if !e.queued.out.Final() { // the engine stores a final outcome
		e.engine.Edit(checks.Ref{})
	}
	e.engine.addEvent("", "the process restarts")
	if e.w.Operations.Token == nil || tokenLost {
		clear(e.ops)
	}
	e.flow, e.fault = e.w.begin()
}

// pass reconciles the resource once.
func (e *runner[T]) pass() {
	deleting, fault := e.deleting()
	if e.fault = fault; fault != "" {
		return
	}
	out, fault := e.reconcile(deleting)
	if e.fault = fault; fault != "" {
		return
	}
	rec, fault, watched := e.w.stage.end()
	p := e.engine.passed(e.queued, out, "", rec.requests)
	e.latest = true
	switch {
	case fault != "":
		e.fault = fault
	case out.IsZero():
		e.fault = "the pass returned the zero Outcome"
	case !watched:
		e.fault = "the flow has neither the clock nor the back-off of the World: pass the options of World.New to flow.New"
	}
	if e.fault != "" {
		return
	}
	_, again := out.Again()
	for _, inv := range invariants {
		e.check(inv.name, inv.broken(p, &rec, again), p)
	}
	e.check(oneOperation, e.ops.follow(&rec), p)
}

// check fails the test if an invariant is broken. It reports each invariant
// once.
func (e *runner[T]) check(name, broken string, p *Pass) {
	if broken == "" || e.broken[name] {
		return
	}
	e.broken[name] = true
	e.t.Helper()
	e.t.Errorf("flowtest: %s: %s:\n  %s", name, broken, p)
}

func (e *runner[T]) deleting() (deleting bool, fault string) {
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

// reconcile makes the pass in a new goroutine, so that a pass that is stuck
// does not block the test.
func (e *runner[T]) reconcile(deleting bool) (out flow.Outcome, fault string) {
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
	}(ctx, e.flow, e.w.Resource)

	now := Stamp(e.engine.Elapsed())
	switch {
	case !patience.Wait(done, limit, nil):
		return out, fmt.Sprintf("the pass at %s is stuck at %s: it has not returned within %s (World.Patience, by the real clock)",
			now, e.w.stage.place(), limit)
	case r.panics != nil:
		return out, fmt.Sprintf("the reconciler panics at %s of the run: %v", now, r.panics)
	case !r.returned:
		return out, fmt.Sprintf("the pass at %s ended its goroutine at %s, as FailNow does: let links return errors",
			now, e.w.stage.place())
	}
	return r.out, ""
}

// unused fails the test for scripted answers and events that the run did not
// use.
func (e *runner[T]) unused(scripts []scripted) {
	var unused []string
	for _, s := range scripts {
		unused = append(unused, s.unused()...)
	}
	for _, ev := range e.events {
		if ev.scripted && !ev.happened {
			unused = append(unused, fmt.Sprintf("%s at %s did not happen", ev.named(), Stamp(ev.at)))
		}
	}
	if len(unused) > 0 {
		e.t.Helper()
		e.t.Errorf("flowtest: parts of the script were not used; the run ended at %s:\n  %s\nthe last lines of the timeline:\n%s",
			Stamp(e.engine.Elapsed()), strings.Join(unused, "\n  "), indent(e.engine.run.last(shown)))
	}
}
