package checks

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/classify"
)

// Approval is the state of one thing that a person has to approve, for instance
// a private endpoint connection.
type Approval struct {
	Name string // the name of the thing to approve, for the message
	// Status is the cloud's word for the state ([Vocabulary]). Azure's words
	// are Approved, Pending, Rejected and Disconnected, in any case. Empty
	// means not reported.
	Status string
	// Description is the text that the person or the cloud added, if any.
	Description string
}

// approvals lists the reason, message and retry of each status that is not
// approved, the most severe first. The most severe status of a list gives the
// reason and the retry.
var approvals = [...]struct {
	reason, text string
	retry        classify.Retry
	words        func(*Vocabulary) []string
}{
	{ReasonApprovalRejected, " was rejected: a person has to approve it or to remove it", classify.OnChange, (*Vocabulary).rejected},
	{ReasonApprovalDisconnected, " was disconnected: a person has to connect it again", classify.OnChange, (*Vocabulary).disconnected},
	notReported: {ReasonApprovalAbsent, " has no approval status yet", classify.Slow, func(*Vocabulary) []string { return empty }},
	{ReasonApprovalPending, " must be approved by a person", classify.Slow, (*Vocabulary).pending},
	unknownStatus: {ReasonApprovalUnknown, " has the unknown approval status \"", classify.Slow, nil},
}

var empty = []string{""}

// Indexes of approvals.
const (
	notReported   = 2
	unknownStatus = 4
)

// ApprovalPending proceeds if a person has approved each element of a list.
// Otherwise it blocks, and the message names each element that is not approved,
// up to a bound. A block is retried at [classify.Slow]. If a person rejected or
// disconnected an element, it is retried at [classify.OnChange], because only a
// person can help.
//
// An empty list proceeds ([WithMinimum]). If list dereferences nil, the list is
// not reported. The check then blocks, unless the resource is known to be
// absent and was not applied ([WithUnknownAllowed]). WithMinimum counts a list
// that is not reported as empty. If approval dereferences nil, the status of
// that element is not reported, and the check blocks. A nil function panics.
func ApprovalPending[T, C any](list func(resource T) []C, approval func(C) Approval, opts ...Option) Middleware[T] {
	s := configure("ApprovalPending", opts, "WithMinimum", "WithUnknownAllowed")
	s.must(list != nil && approval != nil, "a function is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		all, reported := optional(ctx, list, req.Resource)
		if !reported && (req.Presence != Absent || req.Applied) && !s.unknownProceeds {
			return s.blocked(ReasonApprovalAbsent, classify.Slow, nil, "the list of approvals is not reported yet"), nil
		}
		approved, open := req.Vocabulary.approved(), unapproved{worst: len(approvals)}
		for i := range all {
			var a Approval // set by the function below: another copy takes longer than the check
			ok, _ := optional(ctx, func(c C) bool { a = approval(c); return listed(approved, a.Status, false) }, all[i])
			if !ok {
				open.add(req.Vocabulary, a, i+1, len(all))
			}
		}
		if n := len(all); n < s.number {
			open.note(notReported, fmt.Sprintf("approvals found: %d, required: at least %d", n, s.number))
		}
		if open.worst == len(approvals) {
			return Proceed(), nil
		}
		worst := &approvals[open.worst]
		return s.blocked(worst.reason, worst.retry, nil, open.texts.String()), nil
	})
}

// unapproved collects the elements that are not approved.
type unapproved struct {
	worst int // the index in approvals of the most severe status
	texts listing
}

func (u *unapproved) add(words *Vocabulary, a Approval, i, n int) {
	if a.Name == "" {
		a.Name = fmt.Sprintf("connection %d of %d", i, n)
	}
	place, status, end := 0, "", ""
	for place < unknownStatus && !listed(approvals[place].words(words), a.Status, false) {
		place++
	}
	if place == unknownStatus {
		status, end = printable(a.Status), `": it must be approved`
	}
	var left, right string
	if a.Description != "" {
		left, right = " (", ")"
	}
	u.note(place, a.Name, approvals[place].text, status, end, left, a.Description, right)
}

func (u *unapproved) note(place int, texts ...string) {
	u.worst = min(u.worst, place)
	u.texts.add(texts...)
}
