package checks

import (
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
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

// listed reports whether a word is in a list. Case and white space around the
// words make no difference unless exact.
func listed(words []string, word string, exact bool) bool {
	return slices.Contains(words, word) || !exact && folded(words, word)
}

func folded(words []string, word string) bool {
	word = strings.TrimSpace(word)
	return slices.ContainsFunc(words, func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), word) })
}

// blank reports whether a state is empty or white space, and so not reported.
func blank(state string) bool {
	return strings.TrimSpace(state) == ""
}

// printable shortens and escapes a state for a message.
func printable(state string) string {
	return strings.ReplaceAll(text.Line(state, text.Word), `"`, `\"`)
}
