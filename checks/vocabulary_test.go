package checks_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// words are those of a cloud that is not Azure's.
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
	owner := checks.OnOwner[*Deep](checks.OwnerProvisioningState(deepState))
	cases := map[string]struct {
		reason string
		link   checks.Middleware[*Deep]
		state  State
		words  *checks.Vocabulary
		after  bool
		want   answer
	}{
		"Settled":      {"a settled state proceeds", state(), "broken", words, false, passes()},
		"Busy":         {"any other blocks, and the message has the cloud's words", state(), "PATCHING", words, false, blocks("ResourceState", classify.Slow, `the resource is in state "PATCHING": it must be READY or BROKEN`)},
		"Azure":        {"Azure's words mean nothing to this cloud", state(), "Succeeded", words, false, blocks("ResourceState", classify.Slow, `the resource is in state "Succeeded": it must be READY or BROKEN`)},
		"Good":         {"before Ready a good state is needed", state(), "READY", words, true, passes()},
		"NotGood":      {"which not each settled one is", state(), "BROKEN", words, true, blocks("ResourceState", classify.Slow, `the resource is in state "BROKEN": it must be READY`)},
		"Allow":        {"WithAllowed wins over the vocabulary", state(checks.WithAllowed("PATCHING")), "PATCHING", words, false, passes()},
		"Padded":       {"white space around a word is no part of it", state(), "broken", &checks.Vocabulary{Settled: []string{" READY ", " BROKEN"}, Succeeded: []string{"READY"}}, false, passes()},
		"Exact":        {"Exact is about these words, too", state(checks.WithExactStates()), "ready", words, false, blocks("ResourceState", classify.Slow, `the resource is in state "ready": it must be READY or BROKEN`)},
		"Live":         {"LiveState knows them", live(deep(ptr(State("BROKEN")))), "", words, false, passes()},
		"Owner":        {"so does OwnerProvisioningState", owner, "BROKEN", words, false, passes()},
		"OwnerBusy":    {"in its message as well", owner, "Succeeded", words, false, blocks("OwnerState", classify.Slow, `owner Cluster prod is in state "Succeeded": it must be READY or BROKEN`, prod)},
		"Empty":        {"without words of its own Azure's hold", state(), "Succeeded", &checks.Vocabulary{}, false, passes()},
		"Approved":     {"an approval in the cloud's words", approval(" accepted"), "", words, false, passes()},
		"AzuresWord":   {"Azure's Approved approves nothing there", approval("Approved"), "", words, false, blocks("ApprovalUnknown", classify.Slow, "link has an approval status that is not known: Approved")},
		"Waiting":      {"a word may have synonyms", approval("WAITING"), "", words, false, blocks("ApprovalPending", classify.Slow, "link must be approved by a person")},
		"Rejected":     {"a no", approval("DENIED"), "", words, false, blocks("ApprovalRejected", classify.OnChange, "link was rejected: a person has to approve it or to remove it")},
		"Disconnected": {"a connection that was taken apart", approval("CLOSED"), "", words, false, blocks("ApprovalDisconnected", classify.OnChange, "link was disconnected: a person has to connect it anew")},
		"OnlyStates":   {"approvals keep Azure's words if only states are given", approval("Approved"), "", &checks.Vocabulary{Settled: []string{"READY"}, Succeeded: []string{"READY"}}, false, passes()},
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
		"Nil":       {"nil is Azure's", nil, ""},
		"Zero":      {"so is the zero Vocabulary", &checks.Vocabulary{}, ""},
		"Whole":     {"words of another cloud", words, ""},
		"NoGood":    {"without a good state nothing becomes Ready", &checks.Vocabulary{Settled: []string{"READY"}}, "of Settled and Succeeded one is empty"},
		"NoSettled": {"without settled states nothing is changed", &checks.Vocabulary{Succeeded: []string{"READY"}}, "of Settled and Succeeded one is empty"},
		"NotIn":     {"a good state is settled", &checks.Vocabulary{Settled: []string{"BROKEN"}, Succeeded: []string{"READY"}}, `"READY" is in Succeeded and not in Settled`},
		"Folded":    {"in any case", &checks.Vocabulary{Settled: []string{"Ready"}, Succeeded: []string{"READY "}}, ""},
		"Blank":     {"an unreported state is no word", &checks.Vocabulary{Pending: []string{" "}}, "a word is empty"},
		"Twice":     {"a status has one meaning", &checks.Vocabulary{Approved: []string{"pending"}}, `"pending" has two meanings`},
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
