package checkstest

import (
	"context"

	"github.com/windlass-go/windlass/checks"
)

// Ready returns an object that exists and is ready for its current generation.
func Ready(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}}
}

// NotReady returns an object that exists and reports, with a reason, that it is
// not ready.
func NotReady(ref checks.Ref, value any, reason string) checks.Object {
	readiness := checks.Readiness{State: checks.NotReady, Reason: reason, Generation: 2, Observed: 2}
	return checks.Object{Ref: ref, Value: value, Readiness: readiness}
}

// Stale returns an object that exists and was ready for an older generation.
func Stale(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 1}}
}

// Unknown returns an object that exists and does not report its readiness.
func Unknown(ref checks.Ref, value any) checks.Object {
	return checks.Object{Ref: ref, Value: value}
}

// NotFound returns an object that does not exist.
func NotFound(ref checks.Ref) checks.Object { return checks.Object{Ref: ref} }

// NotSet returns an owner that no reference names yet. kind is the kind that
// the reference must name.
func NotSet(kind string) checks.Object { return checks.Object{Ref: checks.Ref{Kind: kind}} }

// ByID returns an object known only by its ID in the cloud.
func ByID(id string) checks.Object { return checks.Object{Ref: checks.Ref{ID: id}} }

// Self returns the object as the resource of the request, for [ListerOf].
func Self(object checks.Object) checks.Object {
	object.Self = true
	return object
}

// ListerOf returns a lister of these objects, from the oldest to the newest. A
// set consists of the objects of its kind in its namespace. A query without a
// namespace selects the objects of every namespace. The lister does not
// evaluate [checks.Query.Selector] and Field: all objects match them. Like a
// lister that makes a request, it fails if the context is done.
func ListerOf(objects ...checks.Object) checks.Lister {
	return func(ctx context.Context, q checks.Query) (set []checks.Object, err error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, o := range objects {
			if o.Ref.Group == q.Group && o.Ref.Kind == q.Kind && (q.Namespace == "" || q.Namespace == checks.AllNamespaces || q.Namespace == o.Ref.Namespace) {
				set = append(set, o)
			}
		}
		return set, nil
	}
}

// ResolverOf returns a resolver that finds exactly these objects: by their Ref,
// or by an ID if the Ref has nothing else. Like a resolver that makes a
// request, it fails if the context is done.
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
