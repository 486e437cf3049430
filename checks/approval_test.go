package checks_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestApprovalPending(t *testing.T) {
	const (
		pending      = " must be approved by a person"
		rejected     = " was rejected: a person has to approve it or to remove it"
		disconnected = " was disconnected: a person has to connect it anew"
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
		"None":         {"where nothing has to be approved the work goes on", nil, nil, passes()},
		"Approved":     {"approved is approved", list(of("Approved")), nil, passes()},
		"OddCase":      {"in any case, with white space around", list(of("approved"), of(" APPROVED\n")), nil, passes()},
		"Pending":      {"a person has to act, which may be soon", list(of("Pending")), nil, blocks("ApprovalPending", classify.Slow, "Pending"+pending)},
		"PendingCase":  {"whatever the case is", list(of("pENDING ")), nil, blocks("ApprovalPending", classify.Slow, "pENDING "+pending)},
		"Rejected":     {"a no is not a not yet: no retry helps", list(of("Rejected")), nil, blocks("ApprovalRejected", classify.OnChange, "Rejected"+rejected)},
		"Disconnected": {"nor against what was taken apart again", list(of("Disconnected")), nil, blocks("ApprovalDisconnected", classify.OnChange, "Disconnected"+disconnected)},
		"Absent":       {"nothing said is not approved", list(checks.Approval{Name: "backup"}), nil, blocks("ApprovalAbsent", classify.Slow, "backup"+absent)},
		"Blank":        {"nor is white space", list(checks.Approval{Name: "backup", Status: " "}), nil, blocks("ApprovalAbsent", classify.Slow, "backup"+absent)},
		"Unknown":      {"nor is an unknown status", list(checks.Approval{Name: "backup", Status: "Approved?\n"}), nil, blocks("ApprovalUnknown", classify.Slow, `backup has an approval status that is not known: Approved?`)},
		"Described":    {"what was written about it is repeated", list(checks.Approval{Name: "backup", Status: "Rejected", Description: "not in my house"}), nil, blocks("ApprovalRejected", classify.OnChange, "backup"+rejected+" (not in my house)")},
		"Nameless":     {"one without a name is named by its place", list(of("Approved"), checks.Approval{Status: "Pending"}, of("Approved")), nil, blocks("ApprovalPending", classify.Slow, "connection 2 of 3"+pending)},

		"Some":         {"those that are approved are not told of", list(of("Approved"), of("Pending"), of("Approved")), nil, blocks("ApprovalPending", classify.Slow, "Pending"+pending)},
		"RejectedWins": {"of several the one that helps least to wait for is the reason, wherever it stands", list(of("Pending"), of("Rejected"), of("Disconnected")), nil, blocks("ApprovalRejected", classify.OnChange, "Pending"+pending+"; Rejected"+rejected+"; Disconnected"+disconnected)},
		"Disconnected2": {
			"then one that is disconnected", list(of("Pending"), checks.Approval{Name: "a"}, of("Disconnected")), nil,
			blocks("ApprovalDisconnected", classify.OnChange, "Pending"+pending+"; a"+absent+"; Disconnected"+disconnected),
		},
		"AbsentWins":  {"then one that nothing is said of", list(of("Pending"), checks.Approval{Name: "a"}), nil, blocks("ApprovalAbsent", classify.Slow, "Pending"+pending+"; a"+absent)},
		"PendingWins": {"last one that is in a state of its own", list(of("Odd"), of("Pending")), nil, blocks("ApprovalPending", classify.Slow, `Odd has an approval status that is not known: Odd; Pending`+pending)},
		"OddLast":     {"in both orders", list(of("Pending"), of("Odd")), nil, blocks("ApprovalPending", classify.Slow, "Pending"+pending+`; Odd has an approval status that is not known: Odd`)},
		"First":       {"of two alike the first", list(of("Odd"), of("Other")), nil, blocks("ApprovalUnknown", classify.Slow, `Odd has an approval status that is not known: Odd; Other has an approval status that is not known: Other`)},

		"AtLeast":         {"enough approvals let the work go on", list(of("Approved"), of("Approved")), []checks.Option{checks.WithMinimum(2)}, passes()},
		"TooFew":          {"too few do not", list(of("Approved")), []checks.Option{checks.WithMinimum(2)}, blocks("ApprovalAbsent", classify.Slow, "1 of at least 2 are there to be approved")},
		"AtLeastOfNone":   {"an empty list is too few", nil, []checks.Option{checks.WithMinimum(1)}, blocks("ApprovalAbsent", classify.Slow, "0 of at least 1 are there to be approved")},
		"TooFewRejected":  {"those that are there are told of, too", list(of("Rejected")), []checks.Option{checks.WithMinimum(2)}, blocks("ApprovalRejected", classify.OnChange, "Rejected"+rejected+"; 1 of at least 2 are there to be approved")},
		"TooFewPending":   {"there being too few weighs more than waiting", list(of("Pending")), []checks.Option{checks.WithMinimum(2)}, blocks("ApprovalAbsent", classify.Slow, "Pending"+pending+"; 1 of at least 2 are there to be approved")},
		"Replaced":        {"reason and wait can be replaced, for each block", list(of("Rejected")), []checks.Option{checks.WithReason("NotApproved"), checks.WithRetry(classify.VerySlow)}, blocks("NotApproved", classify.VerySlow, "Rejected"+rejected)},
		"NilInSelector":   {"a nil pointer met on the way to a status is nothing said", list(checks.Approval{Name: "nil"}), nil, noting(blocks("ApprovalAbsent", classify.Slow, "connection 1 of 1"+absent), nilHere("approval_test.go"))},
		"NilAmongOthers":  {"also among others", list(of("Approved"), checks.Approval{Name: "nil"}), nil, noting(blocks("ApprovalAbsent", classify.Slow, "connection 2 of 2"+absent), nilHere("approval_test.go"))},
		"DescribedAbsent": {"a description alone approves nothing", list(checks.Approval{Name: "a", Description: "Approved"}), nil, blocks("ApprovalAbsent", classify.Slow, "a"+absent+" (Approved)")},
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

// A list that is not reported is unknown. It is no empty list.
func TestApprovalPendingNotReported(t *testing.T) {
	nilList := nilHere("approval_test.go")
	unknown := noting(blocks("ApprovalAbsent", classify.Slow, "the list of approvals is not reported yet"), nilList)
	cases := map[string]struct {
		reason string
		req    checks.Request[*Database]
		opts   []checks.Option
		want   answer
	}{
		"Present":         {"a resource that is there may have approvals", checks.Request[*Database]{Presence: checks.Present}, nil, unknown},
		"Unknown":         {"so may one of unknown presence", checks.Request[*Database]{}, nil, unknown},
		"AtLeast":         {"a bound changes nothing", checks.Request[*Database]{}, []checks.Option{checks.WithMinimum(1)}, unknown},
		"Absent":          {"an absent resource has nothing to approve", checks.Request[*Database]{Presence: checks.Absent}, nil, passes(nilList)},
		"AbsentAtLeast":   {"unless there must be something", checks.Request[*Database]{Presence: checks.Absent}, []checks.Option{checks.WithMinimum(1)}, noting(blocks("ApprovalAbsent", classify.Slow, "0 of at least 1 are there to be approved"), nilList)},
		"AbsentApplied":   {"before Ready absence is no excuse", checks.Request[*Database]{Presence: checks.Absent, OwnerRequest: checks.OwnerRequest{Applied: true}}, nil, unknown},
		"UnknownProceeds": {"an option lets it proceed", checks.Request[*Database]{Presence: checks.Present}, []checks.Option{checks.WithUnknownAllowed()}, passes(nilList)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.req.Resource = &Database{}
			check := checks.ApprovalPending(connections, func(c Connection) checks.Approval { return checks.Approval{} }, tc.opts...)
			mustAnswer(t, tc.reason, tc.want, check, &tc.req)
		})
	}
}

// The message of many open approvals is bounded, and not slow to make.
func TestApprovalPendingMany(t *testing.T) {
	all := make([]checks.Approval, 8000)
	for i := range all {
		all[i] = checks.Approval{Status: "Pending", Description: strings.Repeat("ä", 4000)}
	}
	all[7999].Status = "Rejected"
	check := checks.ApprovalPending(func(a []checks.Approval) []checks.Approval { return a }, func(a checks.Approval) checks.Approval { return a })
	got, _ := ask(t, check, &checks.Request[[]checks.Approval]{Resource: all})
	message := got.Result.Message()
	if len(message) > 11_000 || !strings.HasSuffix(message, "... (7,075 bytes more); and 7,990 more") || !utf8.ValidString(message) {
		t.Errorf("a message of %d bytes that ends with %q, want a bounded one that counts the rest", len(message), message[max(0, len(message)-40):])
	}
	if got.Result.Reason() != checks.ReasonApprovalRejected {
		t.Errorf("the reason is %s, want that of the last one, which weighs most", got.Result.Reason())
	}
}

func connections(d *Database) []Connection {
	return d.Status.Connections
}

func TestApprovalPendingSetUp(t *testing.T) {
	list := func(*Database) []Connection { return nil }
	approval := func(Connection) checks.Approval { return checks.Approval{} }
	mustPanic(t, map[string]setUp{
		"NoList":     {"the list is needed", func() { checks.ApprovalPending[*Database](nil, approval) }, "checks: ApprovalPending: a function is nil"},
		"NoApproval": {"so is what reads it", func() { checks.ApprovalPending(list, nil) }, "checks: ApprovalPending: a function is nil"},
		"AtLeast0":   {"at least none is no condition", func() { checks.ApprovalPending(list, approval, checks.WithMinimum(0)) }, "checks: ApprovalPending: WithMinimum(0): give at least 1"},
		"Allow":      {"which states are approved is not to be chosen", func() { checks.ApprovalPending(list, approval, checks.WithAllowed("Fine")) }, "checks: ApprovalPending: the option WithAllowed is not for this check"},
	})
}
