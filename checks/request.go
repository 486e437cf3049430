package checks

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// OwnerRequest is the request of an owner check. It holds the owner and nothing
// of the resource, so that owner checks can run before the resource is read.
//
// Like an http.Request, a request serves one call at a time. A link may copy it
// and call next with the copy.
type OwnerRequest struct {
	// Kind is the name of the resource's kind, for messages. It may be empty.
	Kind string
	// Owner is the resource's owner. It is the zero Object for a root resource,
	// which has no owner.
	Owner Object
	// APIVersion is the version of the API in which the resource is written. It
	// may be empty.
	APIVersion string
	// Deleting reports that the resource is about to be deleted. An owner that
	// is missing or being deleted then does not block.
	Deleting bool
	// Applied reports that Apply has succeeded: the check guards Ready. Checks
	// of the resource's state then block if the resource is missing. They
	// proceed only in a final good state, unless [WithAllowed] or [WithDenied]
	// is given.
	Applied bool
	// Resolver finds other objects. It is nil if there is none.
	Resolver Resolver
	// Lister lists sets of objects. It is nil if there is none.
	Lister Lister
	// Errors classifies the errors of the cloud, for [LiveState]. The zero
	// Errors knows no service.
	Errors classify.Errors
	// Vocabulary holds the cloud's words for states and approvals. Nil means
	// Azure's words.
	Vocabulary *Vocabulary

	call onion.Call // the call of Compose that runs; copies share it

	origin any // the request that Convert converted into this one

	slots *slot.Values // copies share it; nil: no slot is set yet
}

// Request is the request of a check of a resource.
type Request[T any] struct {
	OwnerRequest
	// Resource is the resource as the engine read it. Checks do not change it.
	Resource T
	// Presence says whether the resource is in the cloud. The zero Presence is
	// unknown.
	Presence Presence
}

// Handler decides about a resource.
type Handler[T any] = chain.Handler[*Request[T], Result]

// Middleware is a link of a chain of checks about a resource.
type Middleware[T any] = chain.Middleware[*Request[T], Result]

// Chain is a chain of checks about a resource. [Compose] runs it.
type Chain[T any] = chain.Chain[*Request[T], Result]

// OwnerHandler decides about an owner.
type OwnerHandler = chain.Handler[*OwnerRequest, Result]

// OwnerMiddleware is a link of a chain of owner checks.
type OwnerMiddleware = chain.Middleware[*OwnerRequest, Result]

// OwnerChain is a chain of owner checks. [Compose] runs it.
type OwnerChain = chain.Chain[*OwnerRequest, Result]

// PassRequest is a request of a pass: an [*OwnerRequest], a [*Request], or a
// *flow.Request.
type PassRequest interface {
	base() *OwnerRequest // nil: the request is nil
}

func (r *OwnerRequest) base() *OwnerRequest { return r }
