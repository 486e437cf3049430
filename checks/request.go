package checks

import "github.com/windlass-go/windlass/chain"

// OwnerRequest is all that an owner check can see: the owner, and nothing of the resource, so that it can be asked
// before anything is known of the resource.
//
// A request, like an http.Request, serves one call at a time. It may be copied, and the copy be handed on.
type OwnerRequest struct {
	// Kind is what the resource's kind is called, for texts; empty if that is of no concern.
	Kind string
	// Owner is the resource's owner. The zero Object: it has none, it is a root resource.
	Owner Object
	// APIVersion is the version of the API that the resource is written for; empty if that is of no concern.
	APIVersion string
	// Deleting says that the resource is about to be deleted. An owner that is gone or going itself then does not block.
	Deleting bool
	// Resolver finds other objects; nil if there is none to be had.
	Resolver Resolver

	mark *mark // set while Compose runs a chain; copies share it
	own  mark  // where mark points to, so that it costs no allocation

	origin any // the request of which Convert made this one
}

// mark is what Compose notes of the call under way: the link that has control, see guards, 0 for none; and what that
// link's last call of the links behind it came to.
type mark uint32

const (
	reached mark = 1 << 31 // all of them proceeded, up to the end
	decided mark = 1 << 30 // one of them decided otherwise
)

// Request is what a check of a resource sees.
type Request[T any] struct {
	OwnerRequest
	// Resource is the resource as the engine read it. Checks do not change it.
	Resource T
	// Exists says that the resource was seen in the cloud.
	Exists bool
}

// Handler decides about a resource.
type Handler[T any] = chain.Handler[*Request[T], Result]

// Middleware is a link of a chain of checks about a resource.
type Middleware[T any] = chain.Middleware[*Request[T], Result]

// Chain is a chain of checks about a resource. It is run by [Compose].
type Chain[T any] = chain.Chain[*Request[T], Result]

// OwnerHandler decides about an owner.
type OwnerHandler = chain.Handler[*OwnerRequest, Result]

// OwnerMiddleware is a link of a chain of owner checks.
type OwnerMiddleware = chain.Middleware[*OwnerRequest, Result]

// OwnerChain is a chain of owner checks. It is run by [Compose].
type OwnerChain = chain.Chain[*OwnerRequest, Result]
