package flowtest

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// start is the beginning of each run. It is fixed, so that equal runs are
// equal.
var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// never is later than the end of any run.
const never = time.Duration(math.MaxInt64)

// Engine reconciles any number of resources in virtual time. A pass takes no
// virtual time. A resource is reconciled when it is added, after the delay of
// its outcome, and earlier if [Engine.Wake] names an object that it waits for or
// follows, or if [Engine.Edit] names it. [World] runs one resource on an Engine.
//
// Call the methods of an Engine from events and passes, or between two calls of
// [Engine.RunUntil]. Only Now and Elapsed are safe for concurrent use. The zero
// Engine is ready for use, and begins at midnight of January 1, 2026, UTC. It
// must not be copied.
type Engine struct {
	// Resync is the delay of a resource that waits for objects, as in an engine
	// that watches these objects. Zero means the delay of the outcome.
	Resync time.Duration

	at     atomic.Int64 // the virtual time; fake servers read it from other goroutines
	run    Run
	events []event      // future events
	queue  []*resource  // resources that are due at the same time run in this order
	woken  []checks.Ref // the refs of Wake since the last pass began
	quiet  bool         // no event has happened since the last pass
}

// event is an event at a time of the run.
type event struct {
	at           time.Duration
	object, what string // a line of the timeline; an empty text means no line
	do           func() // may be nil
	passes       int    // the number of passes before it
}

// resource is a resource of an Engine.
type resource struct {
	due  time.Duration
	pass func(context.Context)
	last Pass
}

// Now returns the virtual time.
func (e *Engine) Now() time.Time { return start.Add(e.Elapsed()) }

// Elapsed returns the virtual time since the run began.
func (e *Engine) Elapsed() time.Duration { return time.Duration(e.at.Load()) }

// Run returns the passes and events so far. It grows during the run.
func (e *Engine) Run() *Run { return &e.run }

// At calls do at a time of the run, or at once if that time is over. The
// timeline shows object and what; an empty text has no line. object may be
// empty, and do may be nil.
func (e *Engine) At(at time.Duration, object, what string, do func()) {
	e.events = append(e.events, event{at: at, object: object, what: what, do: do})
}

// Add adds a resource, which is due at once. reconcile makes one pass. It
// returns the outcome and a note for the timeline, which may be empty.
func (e *Engine) Add(ref checks.Ref, reconcile func(context.Context) (outcome flow.Outcome, note string)) {
	r := &resource{due: e.Elapsed(), last: Pass{Resource: ref}}
	r.pass = func(ctx context.Context) {
		out, note := reconcile(ctx)
		e.passed(r, out, note, nil)
	}
	e.queue = append(e.queue, r)
}

// Edit makes a resource due at once, as a change of its spec does. An unknown
// ref has no effect.
func (e *Engine) Edit(ref checks.Ref) {
	e.dueNow(func(r *resource) bool { return r.last.Resource == ref })
}

// Wake makes the resources due at once that wait for one of refs or follow one. A
// resource that waits for its own status ([checks.WithWaitingForSelf]) waits for
// its own ref. Wake does not wake a resource whose last outcome was final
// ([flow.Outcome.Final]).
func (e *Engine) Wake(refs ...checks.Ref) {
	changed := func(ref checks.Ref) bool { return slices.Contains(refs, ref) }
	e.woken = append(e.woken, refs...)
	e.dueNow(func(r *resource) bool {
		return !r.last.Final() && (slices.ContainsFunc(r.last.WaitingFor(), changed) || slices.ContainsFunc(r.last.Following(), changed) ||
			r.last.WaitsForSelf() && changed(r.last.Resource))
	})
}

func (e *Engine) dueNow(chosen func(*resource) bool) {
	for _, r := range e.queue {
		if chosen(r) {
			r.due = min(r.due, e.Elapsed())
		}
	}
}

// Last returns the last pass of each resource, in the order of [Engine.Add].
// Before the first pass of a resource, only its Resource is set.
func (e *Engine) Last() []Pass {
	var last []Pass
	for _, r := range e.queue {
		last = append(last, r.last)
	}
	return last
}

// RunUntil advances time until done returns true, or until end. Passes and
// events that are due at end still happen. Events come before passes of the
// same time. Another call continues the run.
func (e *Engine) RunUntil(ctx context.Context, end time.Duration, done func() bool) *Run {
	for !done() {
		at, _, step := e.next()
		if at > end || step == nil {
			e.at.Store(int64(max(end, e.Elapsed())))
			break
		}
		e.at.Store(int64(at))
		step(ctx)
	}
	return &e.run
}

// next returns the step that is due first, with its time. step is nil if no
// step is due.
func (e *Engine) next() (at time.Duration, event bool, step func(context.Context)) {
	at = never
	for _, r := range e.queue {
		if r.due < at {
			at, step = r.due, func(ctx context.Context) {
				r.due, e.woken = never, nil // what happens during the pass causes another one
				r.pass(ctx)
			}
		}
	}
	for i, o := range e.events {
		if o.at < at || !event && o.at == at {
			at, event, step = o.at, true, func(context.Context) { e.happen(i) }
		}
	}
	return max(at, e.Elapsed()), event, step
}

func (e *Engine) happen(i int) {
	o := e.events[i]
	e.events = slices.Delete(e.events, i, i+1)
	e.addEvent(o.object, o.what)
	e.quiet = false
	if o.do != nil {
		o.do()
	}
}

// addEvent adds a line to the timeline.
func (e *Engine) addEvent(object, what string) {
	if what != "" {
		e.run.events = append(e.run.events, event{at: e.Elapsed(), object: object, what: what, passes: len(e.run.Passes)})
	}
}

// passed records a pass of r and sets the time of the next one.
func (e *Engine) passed(r *resource, out flow.Outcome, note string, requests []string) {
	now := e.Elapsed()
	p := Pass{Outcome: out, Resource: r.last.Resource, At: now, Note: note, Requests: requests}
	if delay, again := out.Again(); again {
		if e.Resync > 0 && len(p.WaitingFor()) > 0 {
			delay = e.Resync
		}
		p.Delay, r.due = delay, min(r.due, now+max(delay, 0))
	}
	if p.State() != flow.StateGone {
		p.Ready = r.last.Ready
		for _, c := range out.Conditions() {
			if c.Type == "Ready" {
				p.Ready = c
			}
		}
	}
	r.last, e.quiet = p, true
	if woken := e.woken; len(woken) > 0 { // the pass may wait for them now
		e.Wake(woken...)
	}
	e.run.Passes = append(e.run.Passes, p)
}
