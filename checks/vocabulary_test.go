package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// words is the Vocabulary of another cloud than Azure.
var words = checks.Vocabulary{
	Settled: []string{"READY", "BROKEN"}, Succeeded: []string{"READY"},
	Approved: []string{"ACCEPTED"}, Pending: []string{"REQUESTED", "WAITING"}, Rejected: []string{"DENIED"}, Disconnected: []string{"CLOSED"},
}

func TestVocabulary(t *testing.T) {
	approval := func(status string, words checks.Vocabulary) checks.Middleware[*Deep] {
		return checks.ApprovalPending(func(*Deep) []string { return []string{status} }, func(s string) checks.Approval { return checks.Approval{Name: "link", Status: s} },
			words)
	}
	state := checks.ProvisioningState(deepState, words)
	states := checks.Vocabulary{Settled: []string{"READY"}, Succeeded: []string{"READY"}}
	cases := map[string]struct {
		reason string
		link   checks.Middleware[*Deep]
		state  State
		after  bool
		want   answer
	}{
		"Settled":    {"a settled state proceeds", state, "broken", false, proceeding()},
		"Busy":       {"another state blocks, and the message has the cloud's words", state, "PATCHING", false, blocks("ResourceState", classify.Slow, `the resource is in state "PATCHING": it must be READY or BROKEN`)},
		"NotGood":    {"after Apply another settled state blocks", state, "BROKEN", true, blocks("ResourceState", classify.Slow, `the resource is in state "BROKEN": it must be READY`)},
		"Live":       {"LiveState uses these words", live(deep(new(State("BROKEN"))), words), "", false, proceeding()},
		"AzuresWord": {"Azure's word does not approve", approval("Approved", words), "", false, blocks("ApprovalUnknown", classify.Slow, `link has the unknown approval status "Approved": it must be approved`)},
		"Waiting":    {"each word of a list counts", approval("WAITING", words), "", false, blocks("ApprovalPending", classify.Slow, "link must be approved by a person")},
		"OddCase": {"case and white space make no difference, and the last words hold", checks.ProvisioningState(deepState, words, checks.Vocabulary{},
			checks.Vocabulary{Settled: []string{"Ready"}, Succeeded: []string{"READY "}}), "ready", false, proceeding()},
		"OnlyStates": {"approvals use Azure's words if only states are given", approval("Approved", states), "", false, proceeding()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := deep(&tc.state)
			req := &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}, Applied: tc.after}}
			mustAnswer(t, tc.reason, tc.want, tc.link, req)
		})
	}
}
