package flowtest

import (
	"cmp"
	"context"
	"fmt"
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
	return w.run(t, month, true)
}

// RunUntil advances time until end, or until the resource is gone. Passes and
// events that are due at end still happen. It fails the test after 1,000 passes.
func (w *World[T]) RunUntil(t rapid.TB, end time.Duration) *Run {
	t.Helper()
	return w.run(t, end, false)
}

func (w *World[T]) run(t rapid.TB, end time.Duration, settled bool) *Run {
	t.Helper()
	e, scripts := &w.stage.engine, w.wire()
	run, r := e.Run(), &resource{}
	w.stage.from("RunUntil", end)
	switch fault := w.stage.failed; {
	case fault("") != "": // a time is negative
	case w.Operations.Apply == nil && !w.Apply.given():
		fault("Apply is missing: script World.Apply, or set Operations.Apply")
	case w.ran:
		fault("this World was run before: make a new one, because its scripts are used up")
	default:
		reconciler := w.begin()
		r.pass = func(context.Context) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			w.stage.swap(cancel)
			out := reconciler.Reconcile(ctx, w.Resource)
			e.passed(r, out, "", w.stage.swap(nil))
		}
		e.queue = []*resource{r}
		e.RunUntil(context.Background(), end, func() bool {
			if w.stage.restarted() {
				e.quiet = false
				if !r.last.Final() { // the engine stores a final outcome
					e.Edit(checks.Ref{})
				}
				e.addEvent("", "the process restarts")
				reconciler = w.begin()
			}
			state := r.last.State() // a pass that is due never was final, ignored, canceled or gone
			done := state == flow.StateGone || settled && len(e.events) == 0 && (r.due == never || state == flow.StateReady && e.quiet)
			switch at, event, _ := e.next(); {
			case done, at > end && !settled:
			case at > end:
				fault(fmt.Sprintf("the resource is not ready after 30 days and %d passes: use RunUntil if that is intended", len(run.Passes)))
			case !event && len(run.Passes) >= most:
				last := &run.Passes[len(run.Passes)-1]
				fault(fmt.Sprintf("the run is not over after %d passes: script an event or another answer, or end it with RunUntil; the last pass: %s: %s", most, last.what(), last.Ready.Message))
			}
			return fault("") != "" || done
		})
	}
	w.ran = true
	if fault := w.stage.failed(""); fault != "" {
		t.Fatalf("flowtest: %s%s", fault, run.tail())
		return run
	}
	var unused []string
	for _, s := range scripts {
		unused = append(unused, s.unused()...)
	}
	for _, o := range e.events {
		unused = append(unused, fmt.Sprintf("an event (%s) at %s did not happen", o.what, Stamp(o.at)))
	}
	if len(unused) > 0 {
		t.Errorf("flowtest: parts of the script were not used; the run ended at %s:\n  %s%s",
			Stamp(e.Elapsed()), strings.Join(unused, "\n  "), run.tail())
	}
	return run
}

// tail returns the end of the timeline for a failure, or "".
func (r *Run) tail() string {
	lines := r.last(shown)
	if lines == "" {
		return ""
	}
	return "\nthe last lines of the timeline:\n" + indent(lines)
}

// stage is the part of a World that does not depend on the type of the
// resource. Links may use other goroutines, so a lock protects it.
type stage struct {
	engine   Engine // locks its clock itself
	mu       sync.Mutex
	pass     []string           // the requests of the running pass
	fault    string             // why the run cannot continue, such as a call without an answer
	cancel   context.CancelFunc // of the running pass
	restarts bool
}

// failed records the first fault, and returns it.
func (st *stage) failed(fault string) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.fault = cmp.Or(st.fault, fault)
	return st.fault
}

// from requires that a time of the test is not before the run.
func (st *stage) from(what string, at time.Duration) {
	if at < 0 {
		st.failed(fmt.Sprintf("%s: the time %s is negative: a run begins at zero", what, at))
	}
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

// swap begins a pass, or ends it with nil. It returns the requests so far.
func (st *stage) swap(cancel context.CancelFunc) (requests []string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	requests, st.pass, st.cancel = st.pass, nil, cancel
	return requests
}
