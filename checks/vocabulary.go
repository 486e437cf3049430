package checks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Vocabulary holds the words that a cloud uses for states and approvals. With it the checks of
// states and [ApprovalPending] need no option for these words. A nil Vocabulary holds Azure's
// words, and so does each empty list in it. Case and white space around a word make no difference,
// unless [Exact] is given. Do not change a Vocabulary that is in use.
type Vocabulary struct {
	// Settled lists the states without an operation under way: the resource may be changed. The
	// function [Settled] returns Azure's states.
	Settled []string
	// Succeeded lists the settled states of a resource that matches its spec. Azure's state is
	// Succeeded.
	Succeeded []string

	// Approved, Pending, Rejected and Disconnected list the statuses of an approval. Azure's
	// statuses have the names of these fields.
	Approved, Pending, Rejected, Disconnected []string
}

var (
	azureSettled      = []string{"Succeeded", "Failed", "Canceled"}
	azureSucceeded    = []string{"Succeeded"}
	azureApproved     = []string{"Approved"}
	azurePending      = []string{"Pending"}
	azureRejected     = []string{"Rejected"}
	azureDisconnected = []string{"Disconnected"}
)

// Check returns an error for a Vocabulary that contradicts itself or lacks words:
//
//   - A word is empty.
//   - Settled is given without Succeeded, or Succeeded without Settled.
//   - A word of Succeeded is not in Settled.
//   - A word for approvals has two meanings.
func (v *Vocabulary) Check() error {
	if v == nil {
		return nil
	}
	if (len(v.Settled) == 0) != (len(v.Succeeded) == 0) {
		return errors.New("of Settled and Succeeded one is empty: give both, or none for Azure's words")
	}
	for _, word := range slices.Concat(v.Settled, v.Succeeded, v.Approved, v.Pending, v.Rejected, v.Disconnected) {
		if strings.TrimSpace(word) == "" {
			return errors.New("a word is empty: give the check checks.UnknownProceeds if a state may be unreported")
		}
	}
	for _, word := range v.Succeeded {
		if !says(v.Settled, word) {
			return fmt.Errorf("%q is in Succeeded and not in Settled: add it to Settled", word)
		}
	}
	meanings := [][]string{v.approved(), v.pending(), v.rejected(), v.disconnected()}
	for i, words := range meanings {
		for _, word := range words {
			for _, others := range meanings[i+1:] {
				if says(others, word) {
					return fmt.Errorf("the approval status %q has two meanings: give it one", word)
				}
			}
		}
	}
	return nil
}

// states returns the states in which a check of states proceeds. If final is true, these are only
// the final good states.
func (v *Vocabulary) states(final bool) []string {
	switch {
	case v != nil && final && len(v.Succeeded) > 0:
		return v.Succeeded
	case v != nil && !final && len(v.Settled) > 0:
		return v.Settled
	case final:
		return azureSucceeded
	}
	return azureSettled
}

func (v *Vocabulary) approved() []string {
	if v != nil && len(v.Approved) > 0 {
		return v.Approved
	}
	return azureApproved
}

func (v *Vocabulary) pending() []string {
	if v != nil && len(v.Pending) > 0 {
		return v.Pending
	}
	return azurePending
}

func (v *Vocabulary) rejected() []string {
	if v != nil && len(v.Rejected) > 0 {
		return v.Rejected
	}
	return azureRejected
}

func (v *Vocabulary) disconnected() []string {
	if v != nil && len(v.Disconnected) > 0 {
		return v.Disconnected
	}
	return azureDisconnected
}

// says reports whether a word is in a list. Case and white space around the words make no
// difference.
func says(words []string, word string) bool {
	if slices.Contains(words, word) {
		return true
	}
	word = strings.TrimSpace(word)
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(strings.TrimSpace(w), word) })
}
