package ctrlx

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/flow"
)

// ErrReplaced is the error of an operation that put another object into its request: what is written to the API server is the
// one that was there. Test for it with errors.Is.
var ErrReplaced = errors.New("ctrlx: the operation replaced req.Resource, and what it has found out would be lost: change the object that is there, as in *req.Resource = *other")

// inPlace sees to it that an operation does not replace the object that it is to change.
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
