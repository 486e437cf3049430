package flow

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Request is what operations, and links around them, are given. It serves one pass; links may hand on copies.
type Request[T any] struct {
	checks.Request[T]
	// Token is the resume token of the operation under way; empty: there is none, start one.
	Token string

	note *note
	own  note
}

// note is what is kept of the pass while it runs, in the request so that it costs no allocation. Copies share it.
type note struct {
	at int32    // the link that has control, see guard; 0: none
	op underWay // the operation that goes on, as it was last heard of

	outcome *outcome // what the pass came to, for links on Pass
	wide    any      // the request with the resource as the engine knows it, see narrow; nil: there is none yet
}

// Observation is what a GET saw. The zero Observation is unknown, so that Apply runs.
type Observation struct {
	Exists bool // it is there
	InSync bool // it is there and as the spec says, so that Apply is left out; means nothing without Exists

	at *chain.Link // where an error came from
}

// Describe implements [chain.Described]. The reason is Absent, Exists or InSync.
func (o Observation) Describe(link *chain.Link) (verdict, reason string) {
	switch {
	case o.at != nil && (o.at == link || link.Kind != chain.LinkKind):
		return chain.VerdictError, ""
	case link.Kind == chain.LinkKind:
		return chain.VerdictProceed, ""
	case o.Exists && o.InSync:
		return chain.VerdictProceed, "InSync"
	case o.Exists:
		return chain.VerdictProceed, "Exists"
	}
	return chain.VerdictProceed, "Absent"
}
