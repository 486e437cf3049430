package ctrlx

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/flow"
)

// Explain explains the state of an object from its last pass: the deciding check, the
// awaited objects, since when, and the root cause. The verdicts of all links are
// there if the flow keeps explanations: WithFlow(flow.WithExplanations(n)). Without
// them, Explain has the verdict of an object that is not ready. Explain returns an
// error if no pass over the object is kept, or if the object cannot be read.
// client.IgnoreNotFound(err) is nil if the object is gone.
func (r *Reconciler[T]) Explain(ctx context.Context, name types.NamespacedName) (flow.Explanation, error) {
	if r.engine == nil {
		return flow.Explanation{}, r.notSetUp()
	}
	obj := r.kind.New().(T)
	if err := r.client.Get(ctx, name, obj); err != nil {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	all := r.explanations(obj, name)
	if len(all) == 0 {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: no pass over %s is kept: give New the option WithFlow(flow.WithExplanations(n)), with an n that is large enough", r.name, client.ObjectKeyFromObject(obj))
	}
	return r.explained(ctx, r.id(name), all[0]), nil
}

// explanations returns the last passes over an object, the latest first. The first
// one has the steps of the pass if the flow keeps explanations.
func (r *Reconciler[T]) explanations(obj T, name types.NamespacedName) (all []flow.Explanation) {
	traced, ok := r.flow.Explain(r.ops.Key(obj))
	if ok {
		all = append(all, traced)
	}
	for _, p := range r.memory.Passes(name) {
		if ok && !p.At.Add(p.Took).Before(traced.At) {
			continue // the same pass
		}
		state := p.State.String()
		if p.Verdict == (memory.Verdict{}) {
			state = flow.StateReady.String()
		}
		all = append(all, flow.Explanation{
			Name: r.name, Key: r.ops.Key(obj), At: p.At, Since: p.At, Elapsed: p.Took, State: state, Point: p.Point, Link: p.Link, Reason: p.Reason,
		})
	}
	return all
}

// explained returns e with the root cause of the wait of an object.
func (r *Reconciler[T]) explained(ctx context.Context, id index.ID, e flow.Explanation) flow.Explanation {
	if root, others := r.engine.Root(ctx, id); root != nil {
		e.RootCause, e.Others = root.Text, others
	}
	return e
}
