package checkstest

import "github.com/windlass-go/windlass/checks"

// Request is a request about a resource that is in the cloud and has no owner, unless the parts say otherwise.
func Request[T any](resource T, parts ...Part) *checks.Request[T] {
	req := &checks.Request[T]{Resource: resource, Presence: checks.Present}
	for _, p := range parts {
		p(&req.OwnerRequest, &req.Presence)
	}
	return req
}

// OwnerRequest is a request about an owner. Without parts there is none.
func OwnerRequest(parts ...Part) *checks.OwnerRequest {
	req := &checks.OwnerRequest{}
	for _, p := range parts {
		p(req, nil)
	}
	return req
}

// Part is a part of a request that is made by [Request] or [OwnerRequest].
type Part func(owner *checks.OwnerRequest, presence *checks.Presence)

// OwnedBy says what the owner is: [Ready], [NotReady], [Stale], [Unknown], [NotFound], [ByID], or any other object.
func OwnedBy(owner checks.Object) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Owner = owner }
}

// ResolvedBy says how other objects are found, by [ResolverOf] for instance.
func ResolvedBy(resolver checks.Resolver) Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Resolver = resolver }
}

// Deleting says that the resource is about to be deleted.
func Deleting() Part {
	return func(req *checks.OwnerRequest, _ *checks.Presence) { req.Deleting = true }
}

// NotInCloud says that the resource was looked for and is not in the cloud. It panics in an [OwnerRequest], which does not tell.
func NotInCloud() Part {
	return func(_ *checks.OwnerRequest, presence *checks.Presence) {
		if presence == nil {
			panic("checkstest: OwnerRequest: NotInCloud is for Request: an owner check does not see whether the resource is in the cloud")
		}
		*presence = checks.Absent
	}
}
