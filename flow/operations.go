package flow

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/checks"
)

// Operations is what a reconciler does with a resource of type T when nothing is customised. Key and Apply are required.
// All are called by several goroutines at once, for different resources.
type Operations[T any] struct {
	// Key is the resource's identity, for back-off, traces and tokens. With an empty one nothing is applied or deleted
	// ([ErrNoKey]).
	Key func(resource T) string

	// Apply makes the cloud like the spec. With an empty Token it starts the operation; with one it polls the operation
	// under way, once. It is called until it is [Done].
	//
	// An error while polling ends the operation, and the next pass starts anew, unless it says nothing of the operation
	// (no connection, a time-out, throttling, a 5xx, no credentials or permission) or [InProgress] is returned beside it.
	Apply func(ctx context.Context, req *Request[T]) (Progress, error)

	// Get looks whether the resource is there and as the spec says, and may refresh the status in req.Resource. Not being
	// there is no error. Nil: nothing is known, and Apply runs every time.
	Get func(ctx context.Context, req *Request[T]) (Observation, error)

	// Delete removes the resource from the cloud, in the manner of Apply. Not being there is Done. Nil: there is nothing to
	// remove.
	Delete func(ctx context.Context, req *Request[T]) (Progress, error)

	// Owner finds the owner; not being there is an [checks.Object] with Ref and without Value. Nil: resources of this kind
	// have no owner.
	Owner func(ctx context.Context, resource T) (checks.Object, error)

	// Deleting tells whether the resource's deletion was asked for. Nil: it never is.
	Deleting func(resource T) bool

	// Generation counts the changes of the spec. It tells whether an operation under way is for the present spec. Nil: all
	// are.
	Generation func(resource T) int64

	// Token gives the token that was kept with the resource, and the generation it is for; empty: none. Nil: tokens are kept
	// in memory by Key, and a restart loses them. It goes together with SetToken.
	Token func(resource T) (token string, generation int64)

	// SetToken keeps a token with the resource; empty removes it. It is called before the pass ends, also when the pass is
	// canceled; what it is given is for Token to give back and for nobody else to read. If it fails the pass has failed,
	// the token is kept in memory, and the next pass tries again to keep it with the resource.
	SetToken func(ctx context.Context, resource T, token string, generation int64) error
}

// check panics on operations that could not work.
func (o *Operations[T]) check(name string) {
	switch {
	case o.Key == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Key is nil: give a function that identifies the resource", name))
	case o.Apply == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Apply is nil: give the function that creates and updates the resource", name))
	case (o.Token == nil) != (o.SetToken == nil):
		panic(fmt.Sprintf("flow: New: %s: of Operations.Token and Operations.SetToken one is nil: give both, or none to keep tokens in memory", name))
	case o.Delete != nil && o.Deleting == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Delete is given and Operations.Deleting is nil, so that it would never be called", name))
	}
}
