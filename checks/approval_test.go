package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestApprovalPending(t *testing.T) {
	const (
		pending      = " must be approved by a person"
		rejected     = " was rejected: a person has to approve it or to remove it"
		disconnected = " was disconnected: a person has to connect it again"
		absent       = " has no approval status yet"
	)
	of := func(status string) checks.Approval { return checks.Approval{Name: status, Status: status} }
	list := func(a ...checks.Approval) []checks.Approval { return a }
	cases := map[string]struct {
		reason string
		list   []checks.Approval
		opts   []checks.Option
		want   answer
	}{
		"OddCase":   {"case and white space make no difference", list(of("approved"), of(" APPROVED\n")), nil, proceeding()},
		"Rejected":  {"no retry helps against a rejection", list(of("Rejected")), nil, blocks("ApprovalRejected", classify.OnChange, "Rejected"+rejected)},
		"Absent":    {"an unreported status is not approved", list(checks.Approval{Name: "backup"}), nil, blocks("ApprovalAbsent", classify.Slow, "backup"+absent)},
		"Unknown":   {"an unknown status is not approved", list(checks.Approval{Name: "backup", Status: "Approved?\n"}), nil, blocks("ApprovalUnknown", classify.Slow, `backup has the unknown approval status "Approved?": it must be approved`)},
		"Described": {"the message includes the description", list(checks.Approval{Name: "backup", Status: "Rejected", Description: "not in this network"}), nil, blocks("ApprovalRejected", classify.OnChange, "backup"+rejected+" (not in this network)")},
		"Nameless":  {"the index replaces a missing name", list(of("Approved"), checks.Approval{Status: "Pending"}, of("Approved")), nil, blocks("ApprovalPending", classify.Slow, "connection 2 of 3"+pending)},
		"Disconnected2": {
			"disconnected is more severe than unreported", list(of("Pending"), checks.Approval{Name: "a"}, of("Disconnected")), nil,
			blocks("ApprovalDisconnected", classify.OnChange, "Pending"+pending+"; a"+absent+"; Disconnected"+disconnected),
		},
		"Minimum":       {"enough approvals proceed", list(of("Approved"), of("Approved")), []checks.Option{checks.WithMinimum(2)}, proceeding()},
		"TooFew":        {"too few approvals block", list(of("Approved")), []checks.Option{checks.WithMinimum(2)}, blocks("ApprovalAbsent", classify.Slow, "approvals found: 1, required: at least 2")},
		"Replaced":      {"options replace the reason and the retry", list(of("Rejected")), []checks.Option{checks.WithReason("NotApproved"), checks.WithRetry(classify.VerySlow)}, blocks("NotApproved", classify.VerySlow, "Rejected"+rejected)},
		"NilInSelector": {"a nil dereference is an unreported status", list(checks.Approval{Name: "nil"}), nil, noting(blocks("ApprovalAbsent", classify.Slow, "connection 1 of 1"+absent), nilHere("approval_test.go"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			check := checks.ApprovalPending(func(a []checks.Approval) []checks.Approval { return a }, func(a checks.Approval) checks.Approval {
				if a.Name == "nil" {
					return *(*checks.Approval)(nil)
				}
				return a
			}, tc.opts...)
			mustAnswer(t, tc.reason, tc.want, check, &checks.Request[[]checks.Approval]{Resource: tc.list})
		})
	}
}

// An unreported list is unknown, not empty.
func TestApprovalPendingNotReported(t *testing.T) {
	nilList := nilHere("approval_test.go")
	unknown := noting(blocks("ApprovalAbsent", classify.Slow, "the list of approvals is not reported yet"), nilList)
	cases := map[string]struct {
		reason string
		req    checks.Request[*Database]
		opts   []checks.Option
		want   answer
	}{
		"Present":        {"a present resource may have approvals", checks.Request[*Database]{Presence: checks.Present}, nil, unknown},
		"Absent":         {"an absent resource has nothing to approve", checks.Request[*Database]{Presence: checks.Absent}, nil, proceeding(nilList)},
		"AbsentMinimum":  {"an absent resource has fewer approvals than the minimum", checks.Request[*Database]{Presence: checks.Absent}, []checks.Option{checks.WithMinimum(1)}, noting(blocks("ApprovalAbsent", classify.Slow, "approvals found: 0, required: at least 1"), nilList)},
		"AbsentApplied":  {"an absent resource blocks after Apply", checks.Request[*Database]{Presence: checks.Absent, OwnerRequest: checks.OwnerRequest{Applied: true}}, nil, unknown},
		"UnknownAllowed": {"WithUnknownAllowed proceeds", checks.Request[*Database]{Presence: checks.Present}, []checks.Option{checks.WithUnknownAllowed()}, proceeding(nilList)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.req.Resource = &Database{}
			check := checks.ApprovalPending(connections, func(c Connection) checks.Approval { return checks.Approval{} }, tc.opts...)
			mustAnswer(t, tc.reason, tc.want, check, &tc.req)
		})
	}
}

func connections(d *Database) []Connection {
	return d.Status.Connections
}

func TestApprovalPendingSetUp(t *testing.T) {
	list := func(*Database) []Connection { return nil }
	approval := func(Connection) checks.Approval { return checks.Approval{} }
	mustPanic(t, map[string]setUp{
		"NoList":     {"the list function is required", func() { checks.ApprovalPending[*Database](nil, approval) }, "checks: ApprovalPending: a function is nil"},
		"NoApproval": {"the approval function is required", func() { checks.ApprovalPending(list, nil) }, "checks: ApprovalPending: a function is nil"},
		"Minimum0":   {"a minimum of zero is useless", func() { checks.ApprovalPending(list, approval, checks.WithMinimum(0)) }, "checks: ApprovalPending: WithMinimum(0): give at least 1"},
	})
}
