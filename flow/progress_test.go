package flow_test

import (
	"errors"
	"testing"
	"time"

	"github.com/windlass-go/windlass/flow"
)

func TestProgress(t *testing.T) {
	cases := map[string]struct {
		reason string
		p      flow.Progress
		want   []any // done, token, after, verdict and reason
	}{
		"Done":       {"a Done has no token", flow.Done(), []any{true, "", time.Duration(0), "proceed", ""}},
		"InProgress": {"an operation under way has a token and a delay", flow.InProgress("a", time.Minute), []any{false, "a", time.Minute, "wait", "InProgress"}},
		"Negative":   {"a negative delay counts as zero", flow.InProgress("a", -time.Minute), []any{false, "a", time.Duration(0), "wait", "InProgress"}},
		"Finished":   {"a Finished is done", flow.Finished("Denied", "closed"), []any{true, "", time.Duration(0), "finish", "Denied"}},
		"NoToken":    {"without a token it is not done", flow.InProgress("", 0), []any{false, "", time.Duration(0), "wait", "InProgress"}},
		"Zero":       {"the zero Progress is not done", flow.Progress{}, []any{false, "", time.Duration(0), "proceed", ""}},
	}
	for name, err := range map[string]error{"Failed": flow.Failed(nil), "Literal": &flow.FailedError{}, "Nil": (*flow.FailedError)(nil),
		"Wait": &flow.WaitError{}, "NilWait": (*flow.WaitError)(nil)} {
		mustBe(t, name+": a failure without a cause has a default cause", flow.ErrOperationFailed, err)
		mustEqual(t, name+": the text is the text of the cause", flow.ErrOperationFailed.Error(), err.Error())
	}
	var failed *flow.FailedError
	if errors.As(flow.Failed(nil), &failed); failed.Err == nil {
		t.Error("Failed leaves the cause nil")
	}
	for name, tc := range cases {
		verdict, reason := tc.p.Describe()
		mustEqual(t, name+": "+tc.reason, tc.want, []any{tc.p.IsDone(), tc.p.Token(), tc.p.After(), verdict, reason})
	}
}

// An operation without a valid result fails the pass.
func TestFaultyProgress(t *testing.T) {
	cases := map[error]struct {
		reason   string
		progress flow.Progress
		text     string
	}{
		flow.ErrNoProgress: {"the progress is unknown", flow.Progress{}, "the zero Progress is not a result: return flow.Done or flow.InProgress"},
		flow.ErrNoToken: {"the next pass could not poll the operation", flow.InProgress("", time.Minute),
			"InProgress without a token: return the poller's resume token; without it, the next pass would start the operation again"},
	}
	for want, tc := range cases {
		c := &cloud{answers: []answer{{progress: tc.progress}}}
		out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
		mustBe(t, tc.reason, want, out.Err())
		mustEqual(t, tc.reason, []any{flow.StateFailed, "applying failed: flow: the operation: " + tc.text}, []any{out.State(), out.Message()})
	}
}

// The condition of an operation under way has its message.
func TestProgressMessage(t *testing.T) {
	cases := map[string]struct {
		reason   string
		p        flow.Progress
		deleting bool
		want     string
	}{
		"Apply":   {"the message says what is not done", flow.InProgress("a", 0).WithMessage("2 of 3 nodes are ready"), false, "2 of 3 nodes are ready"},
		"Empty":   {"an empty message changes nothing", flow.InProgress("a", 0).WithMessage("x").WithMessage(""), true, "x"},
		"None":    {"without a message there is a default", flow.InProgress("a", 0), true, "the deletion is under way in the cloud"},
		"Hostile": {"foreign text is one line", flow.InProgress("a", 0).WithMessage("a\nb\x1b"), false, `a; b\x1b`},
	}
	for name, tc := range cases {
		c := &cloud{answers: []answer{{progress: tc.p}}}
		out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{deleting: tc.deleting})
		mustEqual(t, name+": "+tc.reason, tc.want, out.Message())
	}
	for _, p := range []flow.Progress{flow.Done(), {}, flow.Skip("x"), flow.Finished("Denied", "closed")} {
		if got := p.WithMessage("x"); got != p || got.Message() != "" {
			t.Errorf("%v has a message", p)
		}
	}
}
