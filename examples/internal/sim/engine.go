package sim

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Resync is how often a resource is looked at when there is no reason to.
const Resync = 5 * time.Minute

// never is later than any run ends.
const never = time.Duration(math.MaxInt64)

// Engine decides when each resource is reconciled: when it is due, and when something that it waits for has changed. It
// has one goroutine, so nothing can change between a resource's look at another one and its waiting for it. It is made
// by [NewEngine].
type Engine struct {
	// Clock is the virtual time, which the engine sets.
	Clock *Clock
	// Store holds what is known of each object.
	Store *Store
	watch Watcher
	items []*item // those that are due at the same time run in this order
}

// Resource describes a resource to an engine. All fields but Cloud are required.
type Resource struct {
	Ref        checks.Ref
	Generation func() int64                       // counts the changes of the spec
	Pass       func(context.Context) flow.Outcome // reconciles it once
	State      func() string                      // what the cloud reported last, for people and for those who wait; may be empty
	Cloud      string                             // the name of the cloud that reports the state, as in a sentence; empty: Azure
}

// item is something that happens when it is due: an event, or a pass over a resource.
type item struct {
	due time.Duration
	run func(context.Context)
	// The rest is of resources only.
	last Pass
}

// Pass is what came of reconciling a resource once.
type Pass struct {
	Ref     checks.Ref
	At      time.Duration
	Try     int // counts the passes over this resource
	State   string
	Cloud   string // that of the Resource
	Outcome flow.Outcome
	// Again is when the next one is due, unless Outcome.WaitingFor changes before.
	Again time.Duration
}

// NewEngine makes an engine with a clock and a store of its own. w is told of all that happens; [Silent] tells nobody.
func NewEngine(w Watcher) *Engine {
	return &Engine{Clock: &Clock{}, Store: NewStore(), watch: w}
}

// Options are those that a reconciler in this engine needs: its resolver, its clock, a back-off in virtual time, and the
// last trace of n resources.
func (e *Engine) Options(n int) []flow.Option {
	return []flow.Option{
		flow.WithResolver(e.Store.Resolve),
		flow.WithClock(e.Clock.Now),
		// Without jitter, so that each run is the same. Leave it on where many resources share one cloud.
		flow.WithBackoff(flow.NewBackoff(flow.BackoffResync(Resync), flow.BackoffJitter(0, 0), flow.BackoffClock(e.Clock.Now))),
		flow.KeepLast(n),
	}
}

// At makes something happen at a time.
func (e *Engine) At(due time.Duration, happens func()) {
	it := &item{due: due}
	it.run = func(context.Context) {
		it.due = never
		happens()
	}
	e.items = append(e.items, it)
}

// Happened tells the watcher of something that was no pass.
func (e *Engine) Happened(object, what string) { e.watch.Happened(e.Clock.elapsed, object, what) }

// Reconcile adds a resource, which is due at once.
func (e *Engine) Reconcile(r Resource) {
	it := &item{due: e.Clock.elapsed, last: Pass{Ref: r.Ref}}
	it.run = func(ctx context.Context) {
		outcome := r.Pass(ctx)
		seen := e.seen(r.Ref, it.last.State)
		it.last = Pass{Ref: r.Ref, At: e.Clock.elapsed, Try: it.last.Try + 1, State: r.State(), Cloud: r.Cloud, Outcome: outcome}
		it.due = e.next(outcome)
		it.last.Again = it.due
		e.Store.Report(r.Ref, readiness(outcome, r.Generation()))
		e.watch.Passed(it.last)
		if e.seen(r.Ref, it.last.State) != seen {
			e.Wake(r.Ref)
		}
	}
	e.items = append(e.items, it)
}

// Wake makes those due that wait for ref.
func (e *Engine) Wake(ref checks.Ref) {
	for _, it := range e.items {
		if slices.Contains(it.last.Outcome.WaitingFor(), ref) {
			it.due = min(it.due, e.Clock.elapsed)
		}
	}
}

// Changed makes a resource due whose spec was changed.
func (e *Engine) Changed(ref checks.Ref) {
	for _, it := range e.items {
		if it.last.Ref == ref {
			it.due = min(it.due, e.Clock.elapsed)
		}
	}
}

// Run lets time pass until there is nothing to do before end, or done says that this is enough.
func (e *Engine) Run(ctx context.Context, end time.Duration, done func() bool) {
	for !done() {
		// With as few items as an example has, looking at all of them is the simplest queue.
		first := slices.MinFunc(e.items, func(a, b *item) int { return cmp.Compare(a.due, b.due) })
		if first.due > end {
			e.Clock.elapsed = end
			return
		}
		e.Clock.elapsed = max(first.due, e.Clock.elapsed)
		first.run(ctx)
	}
}

// Passes lists the last pass over each resource, in the order in which they were added.
func (e *Engine) Passes() []Pass {
	var passes []Pass
	for _, it := range e.items {
		if it.last.Ref != (checks.Ref{}) {
			passes = append(passes, it.last)
		}
	}
	return passes
}

// Due is the time at which a resource is reconciled next, if nothing wakes it before.
func (e *Engine) Due(ref checks.Ref) time.Time {
	for _, it := range e.items {
		if it.last.Ref == ref {
			return Start.Add(it.due)
		}
	}
	return Start.Add(never)
}

// AllReady tells whether each resource is ready.
func (e *Engine) AllReady() bool {
	return !slices.ContainsFunc(e.Passes(), func(p Pass) bool { return p.Try == 0 || p.Outcome.State() != flow.StateReady })
}

// next is when to come back after an outcome. Whoever waits for an object is woken by it, so that coming back by itself
// is only a precaution.
func (e *Engine) next(o flow.Outcome) time.Duration {
	if len(o.WaitingFor()) > 0 {
		return e.Clock.elapsed + Resync
	}
	if after, ok := o.Again(); ok {
		return e.Clock.elapsed + after
	}
	return never
}

// seen is what others can see of an object and may wait for.
type seen struct {
	readiness checks.State
	reason    string
	state     string
}

func (e *Engine) seen(ref checks.Ref, state string) seen {
	r := e.Store.readiness(ref)
	return seen{r.State, r.Reason, state}
}

// readiness is what an outcome means for those who wait for the object.
func readiness(o flow.Outcome, generation int64) checks.Readiness {
	r := checks.Readiness{State: checks.NotReady, Reason: o.Reason(), Message: o.Message(), Generation: generation}
	if o.State() == flow.StateReady {
		r.State, r.Observed = checks.Ready, generation
	}
	return r
}
