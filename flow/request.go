package flow

import (
	"errors"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// Request is the argument of operations and of the links around them. It serves one pass. Links may
// pass copies to next.
type Request[T any] struct {
	checks.Request[T]
	// Token is the token of the operation under way. Empty: no operation is under way, so start one.
	Token string

	note *note
	own  note
}

// note holds the state of a running pass. It is part of the request, so that it costs no allocation.
// Copies of the request share it.
type note struct {
	onion.Note
	said said // the state that the operation reported in this pass
	seen bool // Get succeeded in this pass, or there is no Get

	op underWay // the operation under way, as last reported

	slots slot.Values // what checks and operations found in this pass

	wide any // the request with the resource as the engine's type, see narrow; nil: not made yet
}

// linkOnly reports whether the operation under way is one of a link, and no link has called the real one in this pass.
func (n *note) linkOnly() bool { return n.op.byLink && n.said == saidNothing }

// Observation reports the state that Get found in the cloud. The zero Observation has an unknown
// presence, so Apply runs.
type Observation struct {
	// Presence reports whether the resource is in the cloud. A Get that finds nothing returns
	// checks.Absent.
	Presence checks.Presence
	// InSync reports that the cloud matches the spec, so that the pass leaves Apply out. It counts only
	// with checks.Present.
	InSync bool

	// Skip is the reason why a link answers in place of Get, such as "read a minute ago". The trace
	// shows it. A link must set it to return InSync in a pass in which Operations.Get did not succeed
	// ([ErrNotSeen]). A nil Operations.Get needs no Skip.
	Skip string
}

// inSync reports whether the pass can leave Apply out.
func (o Observation) inSync() bool { return o.InSync && o.Presence == checks.Present }

// ErrNotSeen is the error of a link on Get that returned InSync although Get did not succeed in this
// pass. Test for it with errors.Is.
var ErrNotSeen = errors.New("a link said in sync, but Get did not answer in this pass: return what next returned, or say why in Observation.Skip")

// Describe returns the verdict for [chain.Exit.Verdict], which is skip or proceed. The reason is
// Unknown, Absent, Present or InSync.
func (o Observation) Describe() (verdict, reason string) {
	switch {
	case o.Skip != "":
		return chain.VerdictSkip, ""
	case o.inSync():
		return chain.VerdictProceed, "InSync"
	case o.Presence == checks.Present:
		return chain.VerdictProceed, "Present"
	case o.Presence == checks.Absent:
		return chain.VerdictProceed, "Absent"
	}
	return chain.VerdictProceed, "Unknown"
}
