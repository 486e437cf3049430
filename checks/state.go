package checks

import (
	"github.com/windlass-go/windlass/classify"
)

// named returns the states given to WithAllowed or WithDenied, or else those of
// the Vocabulary. If final is true, only the final good states of the
// Vocabulary count.
func (s *settings) named(req *OwnerRequest, final bool) []string {
	if s.states != nil {
		return s.states
	}
	return req.Vocabulary.states(final)
}

// allows reports whether the check proceeds in a state.
func (s *settings) allows(states []string, state string) bool {
	return listed(states, state, s.exact) != s.denies
}

// stateBlock returns a block whose message is before, the name of ref, after,
// the states, and end.
func (s *settings) stateBlock(reason string, ref *Ref, states []string, end, before string, after ...string) Result {
	var room [16]string // on the stack, so that only the message is allocated
	texts := append(room[:0], after...)
	if s.denies {
		texts = append(texts, ": it must not be ")
	} else {
		texts = append(texts, ": it must be ")
	}
	for i, state := range states {
		switch {
		case i == 0:
		case i == len(states)-1:
			texts = append(texts, " or ")
		default:
			texts = append(texts, ", ")
		}
		texts = append(texts, state)
	}
	return s.blocked(reason, classify.Slow, ref, before, append(texts, end)...)
}
