package checks

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// Approval is the state of one thing that a person has to approve, for instance a private endpoint
// connection.
type Approval struct {
	Name string // the name of the thing to approve, for the message
	// Status is the cloud's word for the state ([Vocabulary]). Azure's words are Approved, Pending,
	// Rejected and Disconnected, in any case. An empty Status is not reported.
	Status string
	// Description is the text that the person or the cloud added. It may be empty.
	Description string
}

// approvals lists the reason, message and retry of each status that is not approved. The most
// severe comes first: if several are open, the first in this order gives the reason and the retry.
var approvals = [...]approvalRow{
	{ReasonApprovalRejected, " was rejected: a person has to approve it or to remove it", classify.OnChange, (*Vocabulary).rejected},
	{ReasonApprovalDisconnected, " was disconnected: a person has to connect it anew", classify.OnChange, (*Vocabulary).disconnected},
	{ReasonApprovalAbsent, " has no approval status yet", classify.Slow, nil},
	{ReasonApprovalPending, " must be approved by a person", classify.Slow, (*Vocabulary).pending},
	{ReasonApprovalUnknown, ` has an approval status that is not known: `, classify.Slow, nil},
}

// notReported and notInTheList are the indexes of the rows of approvals without words.
const (
	notReported  = 2
	notInTheList = len(approvals) - 1
)

type approvalRow struct {
	reason, text string
	retry        classify.Retry
	words        func(*Vocabulary) []string
}

// ApprovalPending proceeds if a person has approved each element of a list. Otherwise it blocks,
// and the message names each element that is not approved, up to a bound. A block is retried at
// [classify.Slow]. If a person rejected or disconnected an element, it is retried at
// [classify.OnChange], because only a person can help.
//
// An empty list proceeds ([AtLeast]). If list dereferences nil, the list is not reported. The check
// then blocks, unless the resource is known to be absent and was not applied ([UnknownProceeds]).
// AtLeast counts a list that is not reported as empty. If approval dereferences nil, the status of
// that element is not reported, and the check blocks. A nil function panics.
func ApprovalPending[T, C any](list func(resource T) []C, approval func(C) Approval, opts ...Option) Middleware[T] {
	if list == nil || approval == nil {
		panic("checks: ApprovalPending: a function is nil")
	}
	s := configure("ApprovalPending", forApproval, opts)
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		all, reported := reads(ctx, list, req.Resource)
		if !reported && (req.Presence != Absent || req.Applied) && !s.unknownProceeds {
			return s.blocked(ReasonApprovalAbsent, classify.Slow, Ref{}, "the list of approvals is not reported yet"), nil
		}
		approved := req.Vocabulary.approved()
		i, first := firstOpen(ctx, all, 0, approval, approved)
		if i == len(all) && i >= s.atLeast {
			return Proceed(), nil
		}
		open := unapproved{worst: len(approvals)}
		for a := first; i < len(all); i, a = firstOpen(ctx, all, i+1, approval, approved) {
			if a.Name == "" {
				a.Name = fmt.Sprintf("connection %d of %d", i+1, len(all))
			}
			open.add(req.Vocabulary, a)
		}
		if n := len(all); n < s.atLeast {
			open.note(notReported, fmt.Sprintf("%d of at least %d are there to be approved", n, s.atLeast))
		}
		worst := &approvals[open.worst]
		return s.blocked(worst.reason, worst.retry, Ref{}, open.texts.String()), nil
	})
}

// firstOpen returns the index and the approval of the first element from i on that is not approved.
// The index is len(all) if there is none. If approval dereferences nil, the status of the element
// is not reported.
func firstOpen[C any](ctx context.Context, all []C, i int, approval func(C) Approval, approved []string) (at int, a Approval) {
	returned := false
	defer func() {
		if !returned {
			a = Approval{}
			if nilMet(recover()) {
				chain.NoteFunc(ctx, nilPlace)
			}
		}
	}()
	for at = i; at < len(all); at++ {
		if a = approval(all[at]); !says(approved, a.Status) {
			break
		}
	}
	returned = true
	return at, a
}

// unapproved collects the elements that are not approved.
type unapproved struct {
	worst int // the index in approvals of the most severe status
	texts listing
}

func (u *unapproved) add(words *Vocabulary, a Approval) {
	place, status := notReported, ""
	if !blank(a.Status) {
		place = slices.IndexFunc(approvals[:], func(r approvalRow) bool { return r.words != nil && says(r.words(words), a.Status) })
		if place < 0 {
			place, status = notInTheList, printable(a.Status)
		}
	}
	if u.texts.full() {
		u.note(place, "")
		return
	}
	var left, right string
	if a.Description != "" {
		left, right = " (", ")"
	}
	u.note(place, a.Name+approvals[place].text+status+left+a.Description+right)
}

func (u *unapproved) note(place int, text string) {
	u.worst = min(u.worst, place)
	u.texts.add(text)
}
