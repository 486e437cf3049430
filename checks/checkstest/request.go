package checkstest

import (
	"context"

	"github.com/windlass-go/windlass/checks"
)

// Request returns a request of a check of a resource. Unless the parts set it
// otherwise, the resource is in the cloud and has no owner.
func Request[T any](resource T, parts ...Part) *checks.Request[T] {
	req := &checks.Request[T]{Resource: resource, Presence: checks.Present}
	for _, p := range parts {
		p(&req.OwnerRequest, &req.Presence)
	}
	return req
}

// OwnerRequest returns a request of an owner check. Without parts there is no
// owner.
func OwnerRequest(parts ...Part) *checks.OwnerRequest {
	req := &checks.OwnerRequest{}
	for _, p := range parts {
		p(req, nil)
	}
	return req
}

// Part sets a part of a request that [Request] or [OwnerRequest] makes.
type Part func(owner *checks.OwnerRequest, presence *checks.Presence)

// OwnedBy sets the owner: [Ready], [NotReady], [Stale], [NotFound] or any other
// object.
func OwnedBy(owner checks.Object) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Owner = owner }
}

// Resolving sets a resolver that finds exactly these objects: by their Ref, or by
// an ID if the Ref has nothing else. Like a resolver that makes a request, it
// fails if the context is done.
func Resolving(objects ...checks.Object) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Resolver = resolverOf(objects) }
}

func resolverOf(objects []checks.Object) checks.Resolver {
	return func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		for _, o := range objects {
			if o.Ref == ref || ref.ByIDOnly() && o.Ref.ID == ref.ID {
				return o, ctx.Err()
			}
		}
		return NotFound(ref), ctx.Err()
	}
}

// Listing sets a lister of these objects, from the oldest to the newest. A set
// consists of the objects of its kind in its namespace. A query without a
// namespace selects the objects of every namespace. The lister does not
// evaluate [checks.Query.Selector] and Field: all objects match them. Like a
// lister that makes a request, it fails if the context is done.
func Listing(objects ...checks.Object) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) {
		req.Lister = func(ctx context.Context, q checks.Query) (set []checks.Object, err error) {
			for _, o := range objects {
				if o.Ref.Group == q.Group && o.Ref.Kind == q.Kind && (q.Namespace == "" || q.Namespace == checks.AllNamespaces || q.Namespace == o.Ref.Namespace) {
					set = append(set, o)
				}
			}
			return set, ctx.Err()
		}
	}
}

// Deleting marks the resource as about to be deleted.
func Deleting() Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Deleting = true }
}

// NotInCloud sets the presence of the resource to checks.Absent. It panics in
// an [OwnerRequest], which has no presence.
func NotInCloud() Part {
	return func(_ *checks.OwnerRequest, presence *checks.Presence) {
		if presence == nil {
			panic("checkstest: OwnerRequest: NotInCloud is for Request: an OwnerRequest has no presence")
		}
		*presence = checks.Absent
	}
}

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

// NotFound returns an object that does not exist. With a ref of only a cloud ID,
// the object is known by its ID only. With a ref of only a Kind, no reference
// names it yet.
func NotFound(ref checks.Ref) checks.Object { return checks.Object{Ref: ref} }
