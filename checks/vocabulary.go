package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

// Vocabulary is an Option of the checks of states and of ApprovalPending: the
// words that their cloud uses. Without it, and for an empty list, the words are
// Azure's. Case and white space around a word make no difference. Do not change a
// list that is in use. A Vocabulary panics if it contradicts itself or lacks words:
//
//   - A word is empty.
//   - Settled is given without Succeeded, or Succeeded without Settled.
//   - A word of Succeeded is not in Settled.
//   - A word for approvals has two meanings.
type Vocabulary struct {
	// Settled lists the states without an operation under way, in which the
	// resource may be changed. Azure's states are Succeeded, Failed and Canceled.
	Settled []string
	// Succeeded lists the settled states of a resource that matches its spec.
	// Azure's state is Succeeded.
	Succeeded []string

	// Approved, Pending, Rejected and Disconnected list the statuses of an
	// approval. Azure's statuses have the names of these fields.
	Approved, Pending, Rejected, Disconnected []string
}

// set implements [Option].
func (v Vocabulary) set(s *settings) {
	s.must(slices.Contains(s.takes, "Vocabulary"), "a Vocabulary is not for this check")
	err := v.check()
	s.must(err == nil, "Vocabulary: %v", err)
	s.words = v
}

// azure holds the words of a check without a Vocabulary.
var azure = Vocabulary{
	Settled:      []string{"Succeeded", "Failed", "Canceled"},
	Succeeded:    []string{"Succeeded"},
	Approved:     []string{"Approved"},
	Pending:      []string{"Pending"},
	Rejected:     []string{"Rejected"},
	Disconnected: []string{"Disconnected"},
}

// check fills empty lists with Azure's words. It returns an error for a Vocabulary
// that a check refuses.
func (v *Vocabulary) check() error {
	if (len(v.Settled) == 0) != (len(v.Succeeded) == 0) {
		return errors.New("one of Settled and Succeeded is empty: give both, or neither for Azure's words")
	}
	for words, azures := range map[*[]string][]string{&v.Settled: azure.Settled, &v.Succeeded: azure.Succeeded, &v.Approved: azure.Approved,
		&v.Pending: azure.Pending, &v.Rejected: azure.Rejected, &v.Disconnected: azure.Disconnected} {
		if len(*words) == 0 {
			*words = azures
		}
	}
	for _, word := range slices.Concat(v.Settled, v.Succeeded, v.Approved, v.Pending, v.Rejected, v.Disconnected) {
		if strings.TrimSpace(word) == "" {
			return errors.New("a word is empty: give the check checks.WithUnknownAllowed if a state may be unreported")
		}
	}
	for _, word := range v.Succeeded {
		if !listed(v.Settled, word) {
			return fmt.Errorf("%q is in Succeeded but not in Settled: add it to Settled", word)
		}
	}
	meanings := [][]string{v.Approved, v.Pending, v.Rejected, v.Disconnected}
	for i, words := range meanings {
		for _, word := range words {
			if listed(slices.Concat(meanings[i+1:]...), word) {
				return fmt.Errorf("the approval status %q has two meanings: give it one", word)
			}
		}
	}
	return nil
}

// listed reports whether a word is in a list. Case and white space around the
// words make no difference.
func listed(words []string, word string) bool {
	if slices.Contains(words, word) { // the usual case
		return true
	}
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

// named returns the states given to WithAllowed or WithDenied, or else those of
// the Vocabulary. If final is true, only the final good states of the
// Vocabulary count.
func (s *settings) named(final bool) []string {
	switch {
	case s.states != nil:
		return s.states
	case final:
		return s.words.Succeeded
	}
	return s.words.Settled
}

// allows reports whether the check proceeds in a state.
func (s *settings) allows(states []string, state string) bool {
	return listed(states, state) != s.denies
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
