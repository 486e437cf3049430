package checkstest

import (
	"context"

	"github.com/windlass-go/windlass/checks"
)

// Ready is an object that is there, and ready for its own generation.
func Ready(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}}
}

// NotReady is an object that is there, and says for the reason given that it is not ready.
func NotReady(ref checks.Ref, value any, reason string) checks.Object {
	readiness := checks.Readiness{State: checks.NotReady, Reason: reason, Generation: 2, Observed: 2}
	return checks.Object{Ref: ref, Value: value, Readiness: readiness}
}

// Stale is an object that is there, and was ready for an older generation than its own.
func Stale(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 1}}
}

// Unknown is an object that is there, and has not said whether it is ready.
func Unknown(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value}
}

// NotFound is an object that was looked for and is not there.
func NotFound(ref checks.Ref) checks.Object { return checks.Object{Ref: ref} }

// ByID is an object of which nothing but the ID in the cloud is known.
func ByID(id string) checks.Object { return checks.Object{Ref: checks.Ref{ID: id}} }

// ResolverOf is a resolver that knows these objects and no others. It finds an object by its Ref, and by its ID if that is all
// that it is asked for; any other is not found. Like one that has to ask somebody, it fails if the context is done.
func ResolverOf(objects ...checks.Object) checks.Resolver {
	return func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		if err := ctx.Err(); err != nil {
			return checks.Object{}, err
		}
		for _, o := range objects {
			if o.Ref == ref || ref.ByIDOnly() && o.Ref.ID == ref.ID {
				return o, nil
			}
		}
		return NotFound(ref), nil
	}
}
