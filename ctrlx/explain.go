package ctrlx

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// Explain says why an object is where it is, from its last pass: which check stopped it, what it waits for, since when.
// The flow has to keep that, WithFlow(flow.WithExplanations(n)). An error says that it does not, that no pass over the
// object is kept, or that the object cannot be read; client.IgnoreNotFound(err) is nil if the object is gone.
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
