package checkstest

import "github.com/windlass-go/windlass/checks"

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

// OwnedBy sets the owner: [Ready], [NotReady], [Stale], [Unknown], [NotFound],
// [NotSet], [ByID] or any other object.
func OwnedBy(owner checks.Object) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Owner = owner }
}

// ResolvedBy sets the resolver of other objects, such as [ResolverOf].
func ResolvedBy(resolver checks.Resolver) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Resolver = resolver }
}

// ListedBy sets the lister of sets of objects, such as [ListerOf].
func ListedBy(lister checks.Lister) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Lister = lister }
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
