package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// thing names a resource of the tests.
func thing(name string) checks.Ref { return checks.Ref{Kind: "Thing", Name: name} }

// things is an engine with resources that come to what a test says, and what it told its watcher.
type things struct {
	*sim.Engine
	watch watcher
}

// watcher remembers what it was told: "1:00 a blocked" of a pass, "1:00 a moved" of all else.
type watcher struct{ told []string }

func newThings() *things {
	ts := &things{}
	ts.Engine = sim.NewEngine(&ts.watch)
	return ts
}

func (w *watcher) Passed(p sim.Pass) { w.Happened(p.At, p.Ref.Name, p.Outcome.State().String()) }

func (w *watcher) Happened(at time.Duration, object, what string) {
	w.told = append(w.told, fmt.Sprintf("%s %s %s", sim.Stamp(at), object, what))
}

// add adds a resource whose only check says what says says. Azure says the same of all of them.
func (ts *things) add(name string, says func() checks.Result) {
	ts.addInState(name, says, func() string { return "Succeeded" })
}

func (ts *things) addInState(name string, says func() checks.Result, state func() string) {
	operations := flow.Operations[string]{Key: strings.Clone, Apply: done}
	r := flow.New("Thing", operations, checking(says), ts.Options(1)...)
	ts.Store.Add(thing(name), name)
	ts.Reconcile(sim.Resource{
		Ref: thing(name), Generation: func() int64 { return 1 }, State: state,
		Pass: func(ctx context.Context) flow.Outcome { return r.Reconcile(ctx, name) },
	})
}

func done(context.Context, *flow.Request[string]) (flow.Progress, error) { return flow.Done(), nil }

// checking is a check called Sure that says what says says.
func checking(says func() checks.Result) flow.Extensions[string] {
	return flow.Extensions[string]{PreCheck: chain.New(checks.Check("Sure",
		func(context.Context, *checks.Request[string]) (checks.Result, error) { return says(), nil }))}
}

// blocks says no, whenever it is asked.
func blocks(opts ...checks.BlockOption) func() checks.Result {
	return func() checks.Result { return checks.Block("No", "it is not", opts...) }
}

// until says no up to a time, and looks again each minute.
func (ts *things) until(at time.Duration) func() checks.Result {
	return func() checks.Result {
		if ts.Clock.Elapsed() < at {
			return checks.Block("No", "it is not", checks.RetryIn(time.Minute))
		}
		return checks.Proceed()
	}
}

// blocked is the outcome of a pass that is stopped by the check Sure.
func blocked(t *testing.T, reason, message string, opts ...checks.BlockOption) flow.Outcome {
	t.Helper()
	no := func() checks.Result { return checks.Block(reason, message, opts...) }
	return outcome(t, flow.Operations[string]{Key: strings.Clone, Apply: done}, checking(no))
}

// applied is the outcome of a pass in which the operation comes to that.
func applied(t *testing.T, p flow.Progress, err error) flow.Outcome {
	t.Helper()
	apply := func(context.Context, *flow.Request[string]) (flow.Progress, error) { return p, err }
	return outcome(t, flow.Operations[string]{Key: strings.Clone, Apply: apply}, flow.Extensions[string]{})
}

// deleted is the outcome of a pass that deletes.
func deleted(t *testing.T) flow.Outcome {
	t.Helper()
	operations := flow.Operations[string]{Key: strings.Clone, Apply: done, Delete: done, Deleting: func(string) bool { return true }}
	return outcome(t, operations, flow.Extensions[string]{})
}

func outcome(t *testing.T, operations flow.Operations[string], ext flow.Extensions[string]) flow.Outcome {
	t.Helper()
	return flow.New("Thing", operations, ext, flow.WithErrors(azure.Errors())).Reconcile(t.Context(), "a")
}
