package checks_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// words is the Vocabulary of another cloud than Azure.
var words = &checks.Vocabulary{
	Settled: []string{"READY", "BROKEN"}, Succeeded: []string{"READY"},
	Approved: []string{"ACCEPTED"}, Pending: []string{"REQUESTED", "WAITING"}, Rejected: []string{"DENIED"}, Disconnected: []string{"CLOSED"},
}

func TestVocabulary(t *testing.T) {
	approval := func(status string) checks.Middleware[*Deep] {
		return checks.ApprovalPending(func(*Deep) []string { return []string{status} }, func(s string) checks.Approval { return checks.Approval{Name: "link", Status: s} })
	}
	state := func(opts ...checks.Option) checks.Middleware[*Deep] {
		return checks.ProvisioningState(deepState, opts...)
	}
	cases := map[string]struct {
		reason string
		link   checks.Middleware[*Deep]
		state  State
		words  *checks.Vocabulary
		after  bool
		want   answer
	}{
		"Settled":    {"a settled state proceeds", state(), "broken", words, false, proceeding()},
		"Busy":       {"another state blocks, and the message has the cloud's words", state(), "PATCHING", words, false, blocks("ResourceState", classify.Slow, `the resource is in state "PATCHING": it must be READY or BROKEN`)},
		"NotGood":    {"after Apply another settled state blocks", state(), "BROKEN", words, true, blocks("ResourceState", classify.Slow, `the resource is in state "BROKEN": it must be READY`)},
		"Live":       {"LiveState uses these words", live(deep(ptr(State("BROKEN")))), "", words, false, proceeding()},
		"AzuresWord": {"Azure's word does not approve", approval("Approved"), "", words, false, blocks("ApprovalUnknown", classify.Slow, `link has the unknown approval status "Approved": it must be approved`)},
		"Waiting":    {"each word of a list counts", approval("WAITING"), "", words, false, blocks("ApprovalPending", classify.Slow, "link must be approved by a person")},
		"OnlyStates": {"approvals use Azure's words if only states are given", approval("Approved"), "", &checks.Vocabulary{Settled: []string{"READY"}, Succeeded: []string{"READY"}}, false, proceeding()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := deep(&tc.state)
			req := &checks.Request[*Deep]{Resource: d, Presence: checks.Present, OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: d}, Vocabulary: tc.words, Applied: tc.after}}
			mustAnswer(t, tc.reason, tc.want, tc.link, req)
		})
	}
}

func TestVocabularyCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		words  *checks.Vocabulary
		want   string // what the error contains; empty: there is none
	}{
		"Nil":    {"nil means Azure's words", nil, ""},
		"Whole":  {"words of another cloud", words, ""},
		"NoGood": {"without a good state no resource becomes Ready", &checks.Vocabulary{Settled: []string{"READY"}}, "one of Settled and Succeeded is empty"},
		"NotIn":  {"a good state must be settled", &checks.Vocabulary{Settled: []string{"BROKEN"}, Succeeded: []string{"READY"}}, `"READY" is in Succeeded but not in Settled`},
		"Folded": {"case makes no difference", &checks.Vocabulary{Settled: []string{"Ready"}, Succeeded: []string{"READY "}}, ""},
		"Blank":  {"white space is no word", &checks.Vocabulary{Pending: []string{" "}}, "a word is empty"},
		"Twice":  {"a status must have one meaning", &checks.Vocabulary{Approved: []string{"pending"}}, `"pending" has two meanings`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.words.Check()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}
