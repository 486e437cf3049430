package sim_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// first and second are passes over a, at 1:00 and at 2:00.
func first(o flow.Outcome) sim.Pass {
	return sim.Pass{Ref: thing("a"), At: time.Minute, Try: 1, Outcome: o, Again: 2 * time.Minute}
}

func second(o flow.Outcome) sim.Pass {
	return sim.Pass{Ref: thing("a"), At: 2 * time.Minute, Try: 2, Outcome: o, Again: time.Hour + 3*time.Minute}
}

func TestTimeline(t *testing.T) {
	conflict := &azcore.ResponseError{StatusCode: http.StatusConflict, ErrorCode: "Conflict"}
	no := blocked(t, "No", "it is not", checks.Retry(classify.Slow))
	never := blocked(t, "Never", "it is not", checks.Retry(classify.Slow))
	gone := blocked(t, "No", "it is gone", checks.Retry(classify.Slow))
	ready := applied(t, flow.Done(), nil)
	const noAt1 = "    1:00  Thing a               blocked at PreCheck by Sure: No\n" +
		"                                  it is not\n" +
		"                                  tries again at 2:00 (slow)"
	other := first(no)
	other.Ref = thing("b")
	running := first(ready)
	running.State = "Running"
	elsewhere := running
	elsewhere.Cloud = "the service"
	cases := map[string]struct {
		reason string
		passes []sim.Pass
		want   []string
	}{
		"Blocked": {"where, why, and when again", []sim.Pass{first(no)}, []string{noAt1}},
		"AsBefore": {"the same is one line", []sim.Pass{first(no), second(no)}, []string{
			noAt1,
			"    2:00  Thing a               as before, try 2; tries again at 1:03:00 (slow)",
		}},
		"Reason": {"another reason is not the same", []sim.Pass{first(no), second(never)}, []string{
			noAt1,
			"    2:00  Thing a               blocked at PreCheck by Sure: Never",
			"                                  it is not",
			"                                  tries again at 1:03:00 (slow)",
		}},
		"Message": {"nor is another message", []sim.Pass{first(no), second(gone)}, []string{
			noAt1,
			"    2:00  Thing a               blocked at PreCheck by Sure: No",
			"                                  it is gone",
			"                                  tries again at 1:03:00 (slow)",
		}},
		"Other": {"nor is another resource", []sim.Pass{first(no), other}, []string{
			noAt1,
			"    1:00  Thing b               blocked at PreCheck by Sure: No",
			"                                  it is not",
			"                                  tries again at 2:00 (slow)",
		}},
		"Between": {"nor is what was something else meanwhile", []sim.Pass{first(no), first(ready), second(no)}, []string{
			noAt1,
			"    1:00  Thing a               ready",
			"    2:00  Thing a               blocked at PreCheck by Sure: No",
			"                                  it is not",
			"                                  tries again at 1:03:00 (slow)",
		}},
		"Cloud": {"the state names its cloud", []sim.Pass{elsewhere}, []string{
			"    1:00  Thing a               ready; the service says Running",
		}},
		"Ready": {"what is ready is one line anyway", []sim.Pass{first(ready), second(ready), running}, []string{
			"    1:00  Thing a               ready",
			"    2:00  Thing a               ready",
			"    1:00  Thing a               ready; Azure says Running",
		}},
		"InProgress": {"so is an operation", []sim.Pass{first(applied(t, flow.InProgress("token", time.Minute), nil))}, []string{
			"    1:00  Thing a               in progress at Apply; polled again at 2:00",
		}},
		"Failed": {"the rule is named", []sim.Pass{first(applied(t, flow.Progress{}, conflict))}, []string{
			"    1:00  Thing a               failed at Apply: Conflict",
			"                                  the service gave no message (HTTP 409 Conflict)",
			"                                  tries again at 2:00 (slow, rule Conflict)",
		}},
		"Gone": {"the end", []sim.Pass{first(deleted(t))}, []string{"    1:00  Thing a               gone"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			line := sim.NewTimeline(&out)
			for _, p := range tc.passes {
				line.Passed(p)
			}
			if diff := cmp.Diff(strings.Join(tc.want, "\n")+"\n", out.String()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestComeback(t *testing.T) {
	conflict := &azcore.ResponseError{StatusCode: http.StatusConflict, ErrorCode: "Conflict"}
	cases := map[string]struct {
		reason string
		o      flow.Outcome
		want   string
	}{
		"Retry": {"how soon", blocked(t, "No", "", checks.Retry(classify.VerySlow)), "tries again at 2:00 (very slow)"},
		"Told": {"a delay is what it was told", blocked(t, "No", "", checks.RetryIn(time.Minute)),
			"tries again at 2:00 (when it was told to)"},
		"OnChange": {"no delay helps where a change does", blocked(t, "No", "", checks.Retry(classify.OnChange), checks.RetryIn(time.Minute)),
			"tries again at 2:00 (on change)"},
		"Rule": {"by which rule", applied(t, flow.Progress{}, conflict), "tries again at 2:00 (slow, rule Conflict)"},
		"Waits": {"for what", blocked(t, "No", "", checks.RetryIn(time.Minute), checks.WaitingFor(thing("b"), thing("c"))),
			"waits for Thing b and Thing c, looks again at 2:00 in any case"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, first(tc.o).Comeback()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestStamp(t *testing.T) {
	cases := map[string]struct {
		reason string
		d      time.Duration
		want   string
	}{
		"Start":    {"zero", 0, "0:00"},
		"Seconds":  {"two digits", 9 * time.Second, "0:09"},
		"Fraction": {"what is less than a second is left out", 1999 * time.Millisecond, "0:01"},
		"Minutes":  {"one digit or two", 59*time.Minute + 59*time.Second, "59:59"},
		"Hour":     {"from the first one on", time.Hour, "1:00:00"},
		"Hours":    {"hours, if there are any", 25*time.Hour + 2*time.Minute + 3*time.Second, "25:02:03"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, sim.Stamp(tc.d)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
