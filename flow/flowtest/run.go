package flowtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

const (
	month = 30 * 24 * time.Hour // Run fails after this time
	most  = 1000                // and after as many passes
	shown = 12                  // the number of lines of the timeline in a failure
)

// Run advances time until all scripted events have happened and a later pass is
// ready, finished or ignored, or until the resource is gone. It fails the test
// after 1,000 passes or 30 days. A World can be run once.
func (w *World[T]) Run(t rapid.TB) *Run {
	t.Helper()
	return w.run(t, never, true)
}

// RunUntil advances time until end, or until the resource is gone. Passes and
// events that are due at end still happen. A negative end fails the test.
func (w *World[T]) RunUntil(t rapid.TB, end time.Duration) *Run {
	t.Helper()
	return w.run(t, end, false)
}

// runner runs a World.
type runner[T any] struct {
	w      *World[T]
	t      rapid.TB
	engine *Engine
	queued *resource // the resource of the World
	flow   *flow.Reconciler[T]
	fault  string // why the run cannot continue
}

func (w *World[T]) run(t rapid.TB, end time.Duration, settled bool) *Run {
	t.Helper()
	e := &runner[T]{w: w, t: t, engine: &w.stage.engine, queued: &resource{}}
	scripts := w.wire()
	switch {
	case w.Operations.Apply == nil && !w.Apply.given():
		e.fault = "Apply is missing: script World.Apply, or set Operations.Apply"
	case w.ran:
		e.fault = "this World was run before: make a new one, because its scripts are used up"
	case end < 0:
		e.fault = fmt.Sprintf("RunUntil(%s): the time is negative", end)
	}
	w.ran = true
	run := e.engine.Run()
	if e.fault == "" {
		e.flow = w.begin()
		e.queued.pass = func(context.Context) { e.pass() }
		e.engine.queue = []*resource{e.queued}
		e.until(end, settled)
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

// until advances time until the run ends, or until there is a fault. A settled
// run ends when the resource needs nothing more.
func (e *runner[T]) until(end time.Duration, settled bool) {
	for e.fault == "" {
		e.restart()
		at, event, step := e.engine.next()
		passes, state := len(e.engine.run.Passes), e.queued.last.State()
		switch {
		case state == flow.StateGone, settled && len(e.engine.events) == 0 && (state == flow.StateReady && e.engine.quiet || e.ended()):
			return
		case step == nil:
			e.fault = fmt.Sprintf("nothing requeues the resource after %s", state)
		case at > end:
			e.engine.set(end)
			return
		case at > month && settled:
			e.fault = fmt.Sprintf("the resource is not ready after 30 days and %d passes: use RunUntil if that is intended", passes)
		case !event && passes >= most:
			e.fault = fmt.Sprintf("the run is not over after %d passes", most)
		default:
			e.engine.set(at)
			step(context.Background())
		}
	}
}

// ended reports whether no other pass is due after a final or ignored outcome.
func (e *runner[T]) ended() bool {
	out := e.queued.last
	return e.queued.due == never && (out.Final() || out.State() == flow.StateIgnored)
}

// restart makes the flow again if a restart was requested.
func (e *runner[T]) restart() {
	if !e.w.stage.restarted() {
		return
	}
	e.engine.quiet = false
	if !e.queued.last.Final() { // the engine stores a final outcome
		e.engine.Edit(checks.Ref{})
	}
	e.engine.addEvent("", "the process restarts")
	e.flow = e.w.begin()
}

// pass reconciles the resource once.
func (e *runner[T]) pass() {
	ctx, cancel := e.w.stage.begin()
	defer cancel()
	out := e.flow.Reconcile(ctx, e.w.Resource)
	requests, fault := e.w.stage.end()
	e.engine.passed(e.queued, out, "", requests)
	e.fault = fault
}

// unused fails the test for scripted answers and events that the run did not
// use.
func (e *runner[T]) unused(scripts []scripted) {
	var unused []string
	for _, s := range scripts {
		unused = append(unused, s.unused()...)
	}
	for _, o := range e.engine.events {
		unused = append(unused, fmt.Sprintf("an event (%s) at %s did not happen", o.what, Stamp(o.at)))
	}
	if len(unused) > 0 {
		e.t.Helper()
		e.t.Errorf("flowtest: parts of the script were not used; the run ended at %s:\n  %s\nthe last lines of the timeline:\n%s",
			Stamp(e.engine.Elapsed()), strings.Join(unused, "\n  "), indent(e.engine.run.last(shown)))
	}
}

// stage is the part of a World that does not depend on the type of the
// resource. Links may use other goroutines, so a lock protects it.
type stage struct {
	engine   Engine // locks its clock itself
	mu       sync.Mutex
	all      []string           // all requests so far
	pass     []string           // those of the running pass
	fault    string             // the first call without an answer
	cancel   context.CancelFunc // of the running pass
	restarts bool
}

func (st *stage) requests() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Clone(st.all)
}

// requested records a request. The stage is locked.
func (st *stage) requested(request string) {
	st.all, st.pass = append(st.all, request), append(st.pass, request)
}

// unscripted records the first call without an answer. The stage is locked.
func (st *stage) unscripted(fault string) error {
	if st.fault == "" {
		st.fault = fault
	}
	return errors.New("flowtest: " + fault)
}

func (st *stage) restart() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.restarts = true
	if st.cancel != nil {
		st.cancel()
	}
}

// restarted reports whether Restart was called since the last call of
// restarted.
func (st *stage) restarted() (restarts bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	restarts, st.restarts = st.restarts, false
	return restarts
}

// begin begins a pass and returns its context.
func (st *stage) begin() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	st.mu.Lock()
	defer st.mu.Unlock()
	st.pass, st.cancel = nil, cancel
	return ctx, cancel
}

// end ends a pass and returns its requests.
func (st *stage) end() (requests []string, fault string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.cancel = nil
	return st.pass, st.fault
}
