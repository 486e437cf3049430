package flow

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/checks"
)

// Operations are the default actions of a reconciler for resources of type T.
// Key and Apply are required. Several goroutines call the functions at once,
// for different resources.
type Operations[T any] struct {
	// Key returns the identity of the resource, for back-off, traces and
	// tokens. With an empty key the flow applies and deletes nothing
	// ([ErrNoKey]).
	Key func(resource T) string

	// Apply makes the cloud match the spec. With an empty Token it starts the
	// operation. With a Token it polls the operation under way, once. The flow
	// calls it once a pass until it returns [Done].
	//
	// An error while polling means that the state of the operation is unknown.
	// The flow keeps the token and polls again under the back-off. Return
	// [Failed] if the operation ended without success: the next pass then
	// starts it again. An error that ends the operation according to an error
	// reader has the same effect ([WithErrors]).
	Apply func(ctx context.Context, req *Request[T]) (Progress, error)

	// Get reads the resource from the cloud, reports whether it matches the
	// spec, and may refresh the status in req.Resource. If it finds nothing, it
	// returns checks.Absent without an error. It then also clears a state that
	// the status reports, because checks evaluate every reported state. Nil:
	// the presence is unknown, and Apply runs every time.
	Get func(ctx context.Context, req *Request[T]) (Observation, error)

	// Delete removes the resource from the cloud. The flow treats its tokens
	// and errors like those of Apply. It returns Done if the resource does not
	// exist. Nil: there is nothing to remove.
	Delete func(ctx context.Context, req *Request[T]) (Progress, error)

	// Owner finds the owner. For an owner that does not exist it returns an
	// [checks.Object] with Ref and without Value. The zero Object means that the
	// resource is a root resource, without an owner. If no reference names the
	// owner yet, the Ref has only a Kind, and the owner checks block. Nil:
	// resources of this kind have no owner.
	Owner func(ctx context.Context, resource T) (checks.Object, error)

	// Deleting reports whether the user asked for the deletion of the resource.
	// Nil: never.
	Deleting func(resource T) bool

	// Generation returns the number of changes of the spec. The flow compares
	// it with the generation of an operation under way, to see whether the
	// operation is for the present spec. Nil: every operation is.
	Generation func(resource T) int64

	// APIVersion returns the API version of the resource, for checks,
	// classification and traces. Nil or empty: the version of [WithAPIVersion].
	APIVersion func(resource T) string

	// Token returns the token stored with the resource, and the generation that
	// it is for; empty: none. Nil: the flow keeps tokens in memory by Key, and
	// a restart loses them. Token and SetToken go together.
	Token func(resource T) (token string, generation int64)

	// SetToken stores a token with the resource; an empty token removes it. The
	// flow calls it before the pass ends, also when the pass is canceled. Only
	// Token may read the stored value. A token may hold the address of a poll,
	// which gets the credentials of the client. So store it where users of the
	// resource cannot write, with the identity of the resource, or sign it. If SetToken fails, the pass fails and
	// the flow keeps the token in memory. The next pass tries again to store it
	// with the resource. After a failed removal the next pass reads the stored
	// token again and polls with it.
	SetToken func(ctx context.Context, resource T, token string, generation int64) error
}

// checked returns o with a Generation. It panics if o cannot work.
func (o Operations[T]) checked(name string) Operations[T] {
	switch {
	case o.Key == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Key is nil: give a function that identifies the resource", name))
	case o.Apply == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Apply is nil: give the function that creates and updates the resource", name))
	case (o.Token == nil) != (o.SetToken == nil):
		panic(fmt.Sprintf("flow: New: %s: of Operations.Token and Operations.SetToken one is nil: give both, or none to keep tokens in memory", name))
	case o.Delete != nil && o.Deleting == nil:
		panic(fmt.Sprintf("flow: New: %s: Operations.Delete is given and Operations.Deleting is nil, so that it would never be called", name))
	case o.Generation == nil:
		o.Generation = func(T) int64 { return 0 }
	}
	return o
}
