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

	pass *state[T] // of the pass; nil: a link made the request
}

// state is the request of a pass, with all that the pass knows of its operation
// and that a link must not change. A link that restores or copies the request
// changes nothing of it. It is the only allocation of a pass. Up to 512 bytes are
// cheaper than more.
type state[T any] struct {
	req Request[T]
	onion.Note
	report  report // the state that the operation reported in this pass
	seen    bool   // Get succeeded in this pass, or there is no Get
	started bool   // a link last reported that it runs an operation
	early   bool   // the token was stored before the links returned
	tried   bool   // SetToken failed before the links returned; the error is in slots
	renews  bool   // the stored token is in memory only, or of another operation
	byLink  bool   // of stored

	op       operation // the operation under way, as last reported
	stored   string    // the token under way, as stored
	resource T         // as the point got it, to store a token

	slots slot.Values // what checks and operations found in this pass

	engineRequest any // the *Request of the engine type O, see adapt.go; nil: not made yet
}

// linkOnly reports whether a link runs the operation under way, and no link has
// called the real operation in this pass.
func (s *state[T]) linkOnly() bool { return s.op.byLink && s.report == reportedNothing }

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
