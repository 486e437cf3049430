package flow_test

import (
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/flow"
)

// A token in memory of another object under the same key does not make a
// resource Ready, and does not stand for its deletion.
func TestObjectMadeAgain(t *testing.T) {
	applying, deletingOld := &pool{name: "p", generation: 3}, &pool{name: "p", generation: 3, deleting: true}
	refused := place{flow.StateFailed, flow.PointPass, ""}
	cases := map[string]struct {
		reason string
		old    *pool // the object before, with an operation under way
		remove bool  // the engine removes its key
		again  *pool // the object that was made again
		want   place
		calls  []string
	}{
		"Older":         {"the generation shows that it is another object", applying, false, &pool{name: "p", generation: 1}, refused, []string{"owner"}},
		"OlderDeletion": {"the old deletion is not that of the new object", deletingOld, false, &pool{name: "p", generation: 1, deleting: true}, refused, []string{"owner"}},
		"Deletion":      {"a deletion replaces an Apply of either object", applying, false, &pool{name: "p", generation: 1, deleting: true}, place{State: flow.StateGone}, []string{"owner", "delete"}},
		"NotDeleted":    {"no user takes a deletion back, so it is another object", deletingOld, false, &pool{name: "p", generation: 1}, place{State: flow.StateReady}, []string{"owner", "get", "apply"}},
		"Removed":       {"no operation is under way", applying, true, &pool{name: "p", generation: 1}, place{State: flow.StateReady}, []string{"owner", "get", "apply"}},
		"Same":          {"the present spec: nothing shows that it is another object", applying, false, &pool{name: "p", generation: 3}, place{State: flow.StateReady}, []string{"owner", "apply a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
			r := flow.New("Pool", c.operations(), ext{})
			r.Reconcile(t.Context(), tc.old)
			if tc.remove {
				r.Remove("p")
			}
			c.take()
			out := r.Reconcile(t.Context(), tc.again)
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, tc.calls, c.take())
			if out.State() == flow.StateFailed && !strings.Contains(out.Message(), "UID in Operations.Key") {
				t.Errorf("%s: the message does not say what to change: %s", tc.reason, out.Message())
			}
			// An old copy of the resource looks the same, so the operation is not
			// lost.
			if tc.want == refused {
				c.answers = nil
				r.Reconcile(t.Context(), tc.old)
				if last := c.take(); !strings.HasSuffix(last[len(last)-1], " a") {
					t.Errorf("%s: the operation is lost: %q", tc.reason, last)
				}
			}
		})
	}
}

// Remove drops everything that the reconciler stores for a key.
func TestRemove(t *testing.T) {
	c := &cloud{answers: []answer{{err: errBoom}, {err: errBoom}, {err: errBoom}}}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithExplanations(9), flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0))))
	p := &pool{name: "p"}
	r.Reconcile(t.Context(), p)
	r.Remove("p")
	if _, ok := r.Explain("p"); ok {
		t.Error("the explanation is still there")
	}
	first, _ := r.Reconcile(t.Context(), p).Again()
	second, _ := r.Reconcile(t.Context(), p).Again()
	mustEqual(t, "the counts start again, for Remove only", []time.Duration{time.Second, 2 * time.Second}, []time.Duration{first, second})
	flow.New("Pool", c.operations(), ext{}, flow.WithoutBackoff()).Remove("p")
}
