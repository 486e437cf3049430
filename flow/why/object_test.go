package why_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/why"
)

// An object has the fields of its explanation. The error replaces an empty message.
func TestOf(t *testing.T) {
	e := flow.Explanation{Name: "N", State: "failed", Reason: "Quota", Point: "Apply", Link: "x", Since: noon, Again: noon, WaitingFor: []checks.Ref{name(2)}, WaitsForSelf: true, Error: "no cores"}
	want := why.Object{Ref: name(1), Reconciler: "N", State: why.Failed, Reason: "Quota", Message: "no cores", Point: "Apply", Link: "x", Since: noon, Again: noon, WaitingFor: []checks.Ref{name(2)}, WaitsForSelf: true, Passes: []flow.Explanation{e}}
	if diff := cmp.Diff(want, why.Of(name(1), e), cmpopts.IgnoreUnexported(flow.Explanation{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	e.Message = "the quota is used up"
	if got := why.Of(name(1), e).Message; got != e.Message {
		t.Errorf("the message is %q", got)
	}
}

// A time that users write into a condition is known if it has a JSON form in UTC.
func TestTimes(t *testing.T) {
	for reason, tc := range map[string]struct{ at, want time.Time }{
		"JSON has no such zone": {time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 24*3600)), time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)},
		"too late":              {time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}}, // 9999-12-31T23:59:59-12:00
		"too early":             {time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)), time.Time{}},
	} {
		d := why.New([]why.Object{{Ref: name(1), Since: tc.at, Again: tc.at}}).Document(noon)
		_, err := json.Marshal(d)
		if diff := cmp.Diff([]time.Time{tc.want, tc.want, tc.want}, []time.Time{d.Causes[0].Since, d.Objects[0].Since, d.Objects[0].Again}); diff != "" || err != nil {
			t.Errorf("%s: error %v, -want, +got:\n%s", reason, err, diff)
		}
	}
}

// drawing is a flow with a text and a Mermaid flowchart.
type drawing struct{ plain }

func (drawing) Mermaid() string { return "flowchart LR" }

type plain string

func (p plain) String() string { return string(p) }

// A flow has the lines of its reconciler, up to a hundred, and its flowchart if there is
// one.
func TestFlowOf(t *testing.T) {
	lines := strings.Repeat("  x\n", 99)
	cases := map[string]struct {
		reason string
		of     interface{ String() string }
		want   why.Flow
	}{
		"Mermaid": {"a reconciler has one", drawing{"Apply"}, why.Flow{Name: "N", Text: "Apply", Mermaid: "flowchart LR"}},
		"Hundred": {"they are shown", plain(lines + "last"), why.Flow{Name: "N", Text: lines + "last"}},
		"More":    {"the rest is left out", plain(lines + "last\nlost"), why.Flow{Name: "N", Text: lines + "last\nand more"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, why.FlowOf("N", tc.of)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
