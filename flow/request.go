package flow

import (
	"errors"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// Request is the argument of operations and of the links around them. It is
// valid for one pass: a link that passes a request of an earlier pass to next
// fails with [ErrForeignRequest]. Links may pass copies to next, and may restore
// the request from a copy after next. Neither loses the operation under way.
type Request[T any] struct {
	checks.Request[T]
	// Token is the token of the operation under way. Empty: start an operation.
	Token string

	pass *sequence[T] // the pass of the request; nil: a link made the request
}

// note holds the state of a running pass. It is outside of the request, so that
// a link that restores or copies a request changes nothing in it.
type note struct {
	onion.Note            // of Get, Apply and Delete
	checked    onion.Note // of the checks
	report     report     // the state that the operation reported in this pass
	seen       bool       // Get succeeded in this pass, or there is no Get

	op        operation // the operation under way, as last reported
	linkToken string    // the token of an operation that a link last returned in its place

	slots slot.Values // what checks and operations found in this pass

	engineRequest any // the *Request of the engine type O, see adapt.go; nil: not made yet
}

// linkOnly reports whether a link runs the operation under way, and no link has
// called the real operation in this pass.
func (n *note) linkOnly() bool { return n.op.byLink && n.report == reportedNothing }

// Observation reports the state that Get found in the cloud. The zero
// Observation has an unknown presence, so Apply runs.
type Observation struct {
	// Presence reports whether the resource is in the cloud. A Get that finds
	// nothing returns checks.Absent.
	Presence checks.Presence
	// InSync reports that the cloud matches the spec, so that the pass leaves
	// out Apply. It counts only with checks.Present, and not after Apply.
	InSync bool

	// Skip is the reason why a link replaces Get, such as "read a minute ago".
	// The trace shows it. A link that returns InSync must set Skip if
	// Operations.Get did not succeed in this pass ([ErrNotSeen]). A nil
	// Operations.Get needs no Skip.
	Skip string
}

func (o Observation) inSync() bool { return o.InSync && o.Presence == checks.Present }

// ErrNotSeen is the error of a link on Get that returned InSync although Get
// did not succeed in this pass. Test for it with errors.Is.
var ErrNotSeen = errors.New("the link returned InSync, but Get did not succeed in this pass: return the result of next, or set Observation.Skip to the reason")

// Describe returns the verdict for [chain.Exit.Verdict]: skip or proceed. The
// reason is Unknown, Absent, Present or InSync.
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
