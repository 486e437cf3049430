package main

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// resync is how often a resource is looked at when there is no reason to.
const resync = 5 * time.Minute

// never is later than any run ends.
const never = time.Duration(math.MaxInt64)

// Engine decides when each resource is reconciled: when it is due, and when something that it waits for has changed. It
// has one goroutine, so nothing can change between a resource's look at another one and its waiting for it.
type Engine struct {
	clock *Clock
	store *Store
	watch func(Pass) // told of each pass
	items []*item    // those that are due at the same time run in this order
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
	Outcome flow.Outcome
	// Again is when the next one is due, unless Outcome.WaitingFor changes before.
	Again time.Duration
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

// Reconcile adds a resource, which is due at once. state is the provisioning state that Azure reported last.
func (e *Engine) Reconcile(ref checks.Ref, generation int64, pass func(context.Context) flow.Outcome, state func() *string) {
	it := &item{last: Pass{Ref: ref}}
	it.run = func(ctx context.Context) {
		outcome := pass(ctx)
		seen := e.seen(ref, it.last.State)
		it.last = Pass{Ref: ref, At: e.clock.elapsed, Try: it.last.Try + 1, Outcome: outcome}
		if s := state(); s != nil {
			it.last.State = *s
		}
		it.due = e.next(outcome)
		it.last.Again = it.due
		e.store.Report(ref, readiness(outcome, generation))
		e.watch(it.last)
		if e.seen(ref, it.last.State) != seen {
			e.Wake(ref)
		}
	}
	e.items = append(e.items, it)
}

// Wake makes those due that wait for ref.
func (e *Engine) Wake(ref checks.Ref) {
	for _, it := range e.items {
		if slices.Contains(it.last.Outcome.WaitingFor(), ref) {
			it.due = min(it.due, e.clock.elapsed)
		}
	}
}

// Run lets time pass until there is nothing to do before end, or done says that this is enough.
func (e *Engine) Run(ctx context.Context, end time.Duration, done func() bool) {
	for !done() {
		// With a handful of items, looking at all of them is the simplest queue.
		first := slices.MinFunc(e.items, func(a, b *item) int { return cmp.Compare(a.due, b.due) })
		if first.due > end {
			e.clock.elapsed = end
			return
		}
		e.clock.elapsed = first.due
		first.run(ctx)
	}
}

// Passes lists the last pass over each resource.
func (e *Engine) Passes() []Pass {
	var passes []Pass
	for _, it := range e.items {
		if it.last.Ref != (checks.Ref{}) {
			passes = append(passes, it.last)
		}
	}
	return passes
}

// due is when a resource is reconciled next, if nothing wakes it before.
func (e *Engine) due(ref checks.Ref) time.Duration {
	for _, it := range e.items {
		if it.last.Ref == ref {
			return it.due
		}
	}
	return never
}

// AllReady tells whether each resource is ready.
func (e *Engine) AllReady() bool {
	return !slices.ContainsFunc(e.Passes(), func(p Pass) bool { return p.Try == 0 || p.Outcome.State() != flow.StateReady })
}

// next is when to come back after an outcome. Whoever waits for an object is woken by it, so that coming back by itself
// is only a precaution.
func (e *Engine) next(o flow.Outcome) time.Duration {
	if len(o.WaitingFor()) > 0 {
		return e.clock.elapsed + resync
	}
	if after, ok := o.Again(); ok {
		return e.clock.elapsed + after
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
	r := e.store.objects[ref].Readiness
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
