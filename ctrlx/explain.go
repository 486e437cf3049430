package ctrlx

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	obj := r.newObject()
	if err := r.client.Get(ctx, name, obj); err != nil {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	all := r.explanations(obj, name)
	if len(all) == 0 {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: no pass over %s is kept: give New the option WithFlow(flow.WithExplanations(n)), with an n that is large enough", r.name, client.ObjectKeyFromObject(obj))
	}
	return r.explained(ctx, r.id(name), all[0]), nil
}
