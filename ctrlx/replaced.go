package ctrlx

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// ErrReplaced is the error of an operation that put another object into its request.
// ctrlx writes the first object to the API server, so the changes of the other one
// would be lost. Test for it with errors.Is.
var ErrReplaced = errors.New("ctrlx: the operation replaced req.Resource, so its results would be lost: change the object in place, as in *req.Resource = *other")

// inPlace returns an operation that fails if it replaces the object of its request.
func inPlace[T client.Object, Res any](op func(context.Context, *flow.Request[T]) (Res, error)) func(context.Context, *flow.Request[T]) (Res, error) {
	if op == nil {
		return nil
	}
	return func(ctx context.Context, req *flow.Request[T]) (Res, error) {
		obj := req.Resource
		res, err := op(ctx, req)
		if client.Object(req.Resource) != client.Object(obj) {
			req.Resource = obj
			err = errors.Join(err, ErrReplaced)
		}
		return res, err
	}
}
