package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// Resync is the delay after which a resource without an earlier requeue is
// reconciled.
const Resync = 5 * time.Minute

// Engine is the engine of flowtest with a store. Each pass reports to the store
// whether the resource is ready and wakes the waiters of the resource. Make it
// with [NewEngine].
type Engine struct {
	flowtest.Engine
	// Store holds the objects that resources refer to.
	Store *Store

	explain  map[checks.Ref]func(key string) (flow.Explanation, bool)
	outcomes []flow.Outcome // of the passes in Run
	notReady map[checks.Ref]bool
}

// NewEngine makes an engine with an empty store.
func NewEngine() *Engine {
	e := &Engine{Store: NewStore(), explain: map[checks.Ref]func(string) (flow.Explanation, bool){}, notReady: map[checks.Ref]bool{}}
	e.Resync = Resync
	return e
}

// Options returns the options of a reconciler in this engine: its resolver, its
// clock, a back-off in virtual time, and the last trace of n resources.
func (e *Engine) Options(n int) []flow.Option {
	return []flow.Option{
		flow.WithResolver(e.Store.Resolve),
		flow.WithClock(e.Now),
		// Without jitter, all runs are equal. Keep jitter where many resources
		// share one cloud.
		flow.WithBackoff(flow.NewBackoff(flow.WithBackoffResync(Resync), flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(e.Now))),
		flow.WithExplanations(n),
	}
}

// Resource is a resource for [Add]. Ref and Value are required. The name in Ref
// is the resource's key in its reconciler.
type Resource[T any] struct {
	Ref        checks.Ref
	Value      T
	Generation func() int64  // of the spec; nil: the spec never changes
	State      func() string // returns the state that the cloud reported last, or ""; nil: always ""
	Cloud      string        // the name of the cloud in the output; empty: Azure
}

// Reconciler reconciles resources and explains them, as a [flow.Reconciler]
// does.
type Reconciler[T any] interface {
	Reconcile(ctx context.Context, resource T) flow.Outcome
	Explain(key string) (flow.Explanation, bool)
}

// Add adds a resource to an engine and its store. Its first pass is due at
// once.
func Add[T any](e *Engine, by Reconciler[T], r Resource[T]) {
	type seen struct {
		readiness checks.State
		reason    string
		state     string
	}
	var last seen
	if r.Cloud == "" {
		r.Cloud = "Azure"
	}
	e.explain[r.Ref], e.notReady[r.Ref] = by.Explain, true
	e.Store.Add(r.Ref, r.Value)
	e.Engine.Add(r.Ref, func(ctx context.Context) (flow.Outcome, string) {
		out := by.Reconcile(ctx, r.Value)
		readiness := checks.Readiness{State: checks.NotReady, Reason: out.Reason(), Message: out.Message(), Generation: 1}
		if r.Generation != nil {
			readiness.Generation = r.Generation()
		}
		if delete(e.notReady, r.Ref); out.State() != flow.StateReady {
			e.notReady[r.Ref] = true
		} else {
			readiness.State, readiness.Observed = checks.Ready, readiness.Generation
		}
		e.outcomes = append(e.outcomes, out)
		e.Store.Report(r.Ref, readiness)
		now := seen{readiness.State, readiness.Reason, ""}
		if r.State != nil {
			now.state = r.State()
		}
		if now != last {
			e.Wake(r.Ref)
		}
		last = now
		if now.state == "" || out.State() != flow.StateReady {
			return out, ""
		}
		return out, r.Cloud + " says " + now.state
	})
}

// Explain explains the state of a resource. ok is false before its first pass.
func (e *Engine) Explain(ref checks.Ref) (x flow.Explanation, ok bool) {
	x, ok = e.explain[ref](ref.Name)
	for _, p := range e.Last() {
		if p.Resource == ref {
			x.Again = e.Now().Add(p.At + p.Again - e.Elapsed()) // the reconciler does not know Resync
		}
	}
	return x, ok
}

// Pass is a pass with its outcome.
type Pass struct {
	flowtest.Pass
	Outcome flow.Outcome
}

// Passes returns the passes of a resource, or all passes if ref is zero.
func (e *Engine) Passes(ref checks.Ref) (passes []Pass) {
	for i, p := range e.Run().Passes {
		if ref == (checks.Ref{}) || p.Resource == ref {
			passes = append(passes, Pass{p, e.outcomes[i]})
		}
	}
	return passes
}

// Outcome returns the outcome of a resource's last pass, or zero before its
// first pass.
func (e *Engine) Outcome(ref checks.Ref) (out flow.Outcome) {
	for _, p := range e.Passes(ref) {
		out = p.Outcome
	}
	return out
}

// AllReady reports whether each resource is ready.
func (e *Engine) AllReady() bool { return len(e.notReady) == 0 }

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

// Show runs until done, then prints the story of the run and end. If the run is
// not done after timeout, Show returns the error of late.
func (e *Engine) Show(ctx context.Context, out io.Writer, timeout time.Duration, done func() bool, late func(time.Duration) error, end string) error {
	fmt.Fprint(out, e.RunUntil(ctx, timeout, done).Story())
	if !done() {
		return late(timeout)
	}
	fmt.Fprintf(out, "%s  %s\n\n", flowtest.Stamp(e.Elapsed()), end)
	return nil
}

// ReadyAt returns the time at which a resource first became ready, as text.
func (e *Engine) ReadyAt(ref checks.Ref) string {
	for _, p := range e.Run().Passes {
		if p.Resource == ref && p.State == flow.StateReady {
			return flowtest.Stamp(p.At)
		}
	}
	return "not in time"
}

// End returns the time of the run as text, or "not in time" unless done.
func (e *Engine) End(done bool) string {
	if !done {
		return "not in time"
	}
	return flowtest.Stamp(e.Elapsed())
}
