package why_test

import (
	"strings"
	"testing"

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
		"Text":    {"the flowchart is optional", plain("Apply\n  x\n"), why.Flow{Name: "N", Text: "Apply\n  x\n"}},
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
