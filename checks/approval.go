package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
)

// Approval is the state of one thing that a person has to approve, a private endpoint connection for instance.
type Approval struct {
	Name string // what is to be approved, for the message
	// Status is what the cloud says, in any case: Approved, Pending, Rejected or Disconnected. Empty: nothing is said yet.
	Status string
	// Description is what the person or the cloud wrote about it; may be empty.
	Description string
}

// approvals says of each status what it comes to. The order is that of their weight: of several the first is the reason.
var approvals = []approvalRow{
	{"Rejected", ReasonApprovalRejected, " was rejected: a person has to approve it or to remove it", classify.OnChange},
	{"Disconnected", ReasonApprovalDisconnected, " was disconnected: a person has to connect it anew", classify.OnChange},
	{"", ReasonApprovalAbsent, " has nothing said of its approval yet", classify.Slow},
	{"Pending", ReasonApprovalPending, " waits for a person to approve it", classify.Slow},
}

type approvalRow struct {
	status, reason, text string
	retry                classify.Retry
}

// ApprovalPending lets the work go on if all of a list have been approved by a person. If not it says of each what it
// waits for. It is looked at again at [classify.Slow], but if one was rejected or disconnected at [classify.OnChange]:
// no retry helps until a person acts.
//
// An empty list goes on ([AtLeast]). A nil pointer met in list means an empty one, in approval that nothing is said. A
// nil function panics.
func ApprovalPending[T, C any](list func(resource T) []C, approval func(C) Approval, opts ...Option) Middleware[T] {
	if list == nil || approval == nil {
		panic("checks: ApprovalPending: a function is nil")
	}
	s := configure("ApprovalPending", forApproval, opts)
	return Check(s.check, func(_ context.Context, req *Request[T]) (Result, error) {
		all := read(list, req.Resource)
		var open unapproved
		for i, c := range all {
			a := read(approval, c)
			if approved(a.Status) {
				continue
			}
			if a.Name == "" {
				a.Name = fmt.Sprintf("connection %d of %d", i+1, len(all))
			}
			open.add(a)
		}
		if n := len(all); n < s.atLeast {
			open.note(approvalRow{"", ReasonApprovalAbsent, fmt.Sprintf("%d of at least %d are there to be approved", n, s.atLeast), classify.Slow}, "", "", "")
		}
		if open.text == "" {
			return Proceed(), nil
		}
		return s.blocked(open.worst.reason, open.worst.retry, Ref{}, open.text), nil
	})
}

func approved(status string) bool {
	return status == "Approved" || strings.EqualFold(strings.TrimSpace(status), "Approved")
}

// unapproved gathers what is not approved. The worst of it gives reason and retry.
type unapproved struct {
	worst approvalRow
	text  string
}

func (u *unapproved) add(a Approval) {
	status := strings.TrimSpace(a.Status)
	i := slices.IndexFunc(approvals, func(r approvalRow) bool { return strings.EqualFold(r.status, status) })
	if i >= 0 {
		u.note(approvals[i], a.Name, "", a.Description)
		return
	}
	u.note(approvalRow{"", ReasonApprovalUnknown, ` is in a state that is none of an approval: `, classify.Slow}, a.Name, printable(a.Status), a.Description)
}

func (u *unapproved) note(row approvalRow, name, status, description string) {
	if u.text == "" || weight(row) < weight(u.worst) {
		u.worst = row
	}
	var between, left, right string
	if u.text != "" {
		between = "; "
	}
	if description != "" {
		left, right = " (", ")"
	}
	u.text += between + name + row.text + status + left + description + right
}

// weight is where a row stands in the order of approvals; an unknown status is the lightest.
func weight(row approvalRow) int {
	if i := slices.IndexFunc(approvals, func(r approvalRow) bool { return r.reason == row.reason }); i >= 0 {
		return i
	}
	return len(approvals)
}
