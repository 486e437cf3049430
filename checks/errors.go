package checks

import (
	"errors"
)

// Errors of checks and of [Compose]. Test for them with errors.Is. The text names
// the link or the slot.
var (
	// ErrNoDecision: a link returned the zero Result and no error.
	ErrNoDecision = errors.New("the zero Result is no decision: return checks.Proceed, Skip or Block")
	// ErrEndNotReached: a link returned Proceed, but it did not call next, or
	// the inner links did not proceed in its last call of next.
	ErrEndNotReached = errors.New("it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip")
	// ErrNilRequest: a link called next with a nil request, or the chain was
	// called with one.
	ErrNilRequest = errors.New("the request is nil")
	// ErrForeignRequest: a link called next with a request that it made itself.
	ErrForeignRequest = errors.New("the request is not the one that this call began with: call next with the request that the link received, or with a copy of it")
	// ErrNotComposed: a link made by [Check] or [Gate] received a request that
	// no Compose opened.
	ErrNotComposed = errors.New("the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then")
	// ErrNoLister: a check has to list objects, and the request has no Lister.
	ErrNoLister = errors.New("the request has no lister: give the reconciler one with flow.WithLister")
	// ErrNoResolver: a check has to look up an object, and the request has no
	// Resolver.
	ErrNoResolver = errors.New("the request has no resolver: give the reconciler one with flow.WithResolver")
	// ErrSlotUnset: [Slot.Get] found no value in this pass.
	ErrSlotUnset = errors.New("it is not set in this pass: a check before the reader must run and call Set; " +
		"a check that Cached remembers, a check that is left out, and a poll of an operation under way set nothing")
)
