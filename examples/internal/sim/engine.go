// Package sim runs the examples: an engine in virtual time, a cloud in memory,
// and a command line that prints a run and compares it with a second one.
package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"github.com/windlass-go/windlass/flow/why"
)

// Resync is the delay after which a resource without an earlier requeue is
// reconciled.
const Resync = 5 * time.Minute

// Engine is the engine of flowtest with the objects that resources refer to. Each
// pass sets the readiness of its resource, and wakes the waiters of the resource.
// Make it with [NewEngine].
type Engine struct {
	flowtest.Engine
	Service string // the name of the cloud in the output
	Tally   Tally  // the requests to the cloud

	objects  map[checks.Ref]*checks.Object
	explain  map[checks.Ref]func(key string) (flow.Explanation, bool)
	flows    []why.Flow
	notReady map[checks.Ref]bool
	script   time.Duration // the time of the last event
}

// NewEngine returns an engine without resources, whose cloud is Azure.
func NewEngine() *Engine {
	e := &Engine{Service: "Azure", objects: map[checks.Ref]*checks.Object{}, explain: map[checks.Ref]func(string) (flow.Explanation, bool){}, notReady: map[checks.Ref]bool{}}
	e.Resync = Resync
	return e
}

// Options returns the options of a reconciler in this engine: its resolver, its
// clock, a back-off in virtual time, and the last trace of n resources.
func (e *Engine) Options(n int, backoff ...flow.BackoffOption) []flow.Option {
	// Without jitter, all runs are equal. Keep jitter where many resources share
	// one cloud.
	backoff = append(backoff, flow.WithBackoffResync(Resync), flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(e.Now))
	return []flow.Option{flow.WithResolver(e.Resolve), flow.WithClock(e.Now), flow.WithBackoff(flow.NewBackoff(backoff...)), flow.WithExplanations(n)}
}

// Resolve is a [checks.Resolver]. It returns an object without a value for a ref
// that was not added.
func (e *Engine) Resolve(_ context.Context, ref checks.Ref) (checks.Object, error) {
	if o := e.objects[ref]; o != nil {
		return *o, nil
	}
	return checks.Object{Ref: ref}, nil
}

// At calls do at a time of the run. The run does not end before.
func (e *Engine) At(at time.Duration, object, what string, do func()) {
	e.script = max(e.script, at)
	e.Engine.At(at, object, what, do)
}

// AddReady adds an object that no reconciler reconciles, and wakes its waiters.
func (e *Engine) AddReady(ref checks.Ref, value any) {
	e.objects[ref] = &checks.Object{Ref: ref, Value: value, Readiness: checks.Readiness{State: checks.Ready}}
	e.Wake(ref)
}

// Resource is a resource of an example. The name in Ref is its key.
type Resource interface {
	Ref() checks.Ref
	Shown() string // the state that the cloud reported last; empty: none
}

// Add adds a resource. Its first pass is due at once.
func Add[T Resource](e *Engine, by *flow.Reconciler[T], r T) {
	ref, last := r.Ref(), ""
	object := &checks.Object{Ref: ref, Value: r}
	e.objects[ref], e.explain[ref], e.notReady[ref] = object, by.Explain, true
	name, _, _ := strings.Cut(by.String(), "\n")
	if !slices.ContainsFunc(e.flows, func(f why.Flow) bool { return f.Name == name }) {
		e.flows = append(e.flows, why.FlowOf(name, by))
	}
	e.Engine.Add(ref, func(ctx context.Context) (flow.Outcome, string) {
		out := by.Reconcile(ctx, r)
		object.Readiness = checks.Readiness{State: checks.NotReady, Reason: out.Reason(), Message: out.Message(), Generation: 1}
		if delete(e.notReady, ref); out.State() != flow.StateReady {
			e.notReady[ref] = true
		} else {
			object.Readiness.State, object.Readiness.Observed = checks.Ready, 1
		}
		shown := r.Shown()
		if now := fmt.Sprint(object.Readiness.State, out.Reason(), shown); now != last {
			last = now
			e.Wake(ref)
		}
		if shown == "" || out.State() != flow.StateReady {
			return out, ""
		}
		return out, e.Service + " says " + shown
	})
}

// AllReady reports whether the last event has happened, and each resource is
// ready.
func (e *Engine) AllReady() bool { return len(e.notReady) == 0 && e.Elapsed() >= e.script }

// NotReady returns the error of a run in which resources are not ready after
// timeout. It names them.
func (e *Engine) NotReady(timeout time.Duration) error {
	var late flowtest.Run
	for _, p := range e.Last() {
		if e.notReady[p.Resource] {
			late.Passes = append(late.Passes, p)
		}
	}
	return errors.New(strings.TrimRight(fmt.Sprintf("not all is ready after %s:\n%s", timeout, late.Story()), "\n"))
}

// ReadyAt returns the time at which a resource first became ready, as text.
func (e *Engine) ReadyAt(ref checks.Ref) string {
	for _, p := range e.Run().Passes {
		if p.Resource == ref && p.State() == flow.StateReady {
			return flowtest.Stamp(p.At)
		}
	}
	return "not in time"
}

// Explain explains the state of a resource. ok is false before its first pass.
func (e *Engine) Explain(ref checks.Ref) (x flow.Explanation, ok bool) {
	x, ok = e.explain[ref](ref.Name)
	for _, p := range e.Last() {
		if p.Resource == ref {
			x.Again = e.Now().Add(p.At + p.Delay - e.Elapsed()) // the reconciler does not know Resync
		}
	}
	return x, ok
}

// Why returns the document that says which resources wait, for what, and the root
// causes.
func (e *Engine) Why() why.Document {
	var awaited, all []why.Object
	for _, p := range e.Last() {
		x, ok := e.Explain(p.Resource)
		if !ok {
			continue
		}
		all = append(all, why.Of(p.Resource, x))
		for _, ref := range x.WaitingFor {
			state := why.Missing
			if e.objects[ref] != nil {
				state = why.Ready
			}
			awaited = append(awaited, why.Object{Ref: ref, State: state})
		}
	}
	return why.New(append(awaited, all...)).Document(e.Now(), e.flows...) // of two objects with one ref, the last one counts
}

// WithoutChecks returns e without its checks, for a run to compare with.
func WithoutChecks[T any](e flow.Extensions[T]) flow.Extensions[T] {
	var none flow.Extensions[T]
	e.OwnerCheck, e.PreCheck, e.PostCheck, e.DeleteCheck = none.OwnerCheck, none.PreCheck, none.PostCheck, none.DeleteCheck
	return e
}
