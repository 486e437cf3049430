package ctrlx

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// Explain explains the state of an object from its last pass: the deciding check, the
// awaited objects, and since when. The flow must keep explanations:
// WithFlow(flow.WithExplanations(n)). Explain returns an error if it does not, if no
// pass over the object is kept, or if the object cannot be read.
// client.IgnoreNotFound(err) is nil if the object is gone.
func (r *Reconciler[T]) Explain(ctx context.Context, name types.NamespacedName) (flow.Explanation, error) {
	if r.engine == nil {
		return flow.Explanation{}, r.notSetUp()
	}
	obj := r.newObject()
	if err := r.client.Get(ctx, name, obj); err != nil {
		return flow.Explanation{}, fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	e, ok := r.flow.Explain(r.key(obj))
	if !ok {
		return e, fmt.Errorf("ctrlx: %s: no pass over %s is kept: give New the option WithFlow(flow.WithExplanations(n)), with an n that is large enough", r.name, client.ObjectKeyFromObject(obj))
	}
	return e, nil
}
