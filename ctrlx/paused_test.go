package ctrlx_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// paused is the condition Paused of the App "a", without its time.
func (d *harness) paused() metav1.Condition {
	d.t.Helper()
	c := meta.FindStatusCondition(d.read().Status.Conditions, ctrlx.ConditionPaused)
	if c == nil {
		return metav1.Condition{}
	}
	c.LastTransitionTime = metav1.Time{}
	return *c
}

// The condition Paused tells people that a user holds the object, and how it
// continues.
func TestPaused(t *testing.T) {
	const byUser, byCheck = "the object is suspended; resume it to continue", "the resource is paused; resume it to continue"
	yes := func(reason, message string, generation int64) metav1.Condition {
		return metav1.Condition{Type: ctrlx.ConditionPaused, Status: "True", Reason: reason, Message: message, ObservedGeneration: generation}
	}
	no := func(generation int64) metav1.Condition {
		return metav1.Condition{Type: ctrlx.ConditionPaused, Status: "False", Reason: ctrlx.ReasonNotPaused, ObservedGeneration: generation}
	}
	suspended, pausing := AppSpec{Suspended: true}, AppSpec{Cluster: "pauses"}
	edit := func(do func(*AppSpec)) func(*harness) {
		return func(d *harness) { d.change(func(a *App) { do(&a.Spec) }) }
	}
	cases := map[string]struct {
		reason string
		spec   AppSpec
		do     []func(*harness) // before each further pass
		want   metav1.Condition
		says   string
	}{
		"Never":     {"no user paused it", AppSpec{}, nil, metav1.Condition{}, "True Succeeded"},
		"Suspended": {"the message says how to continue", suspended, nil, yes("Suspended", byUser, 1), "False Suspended Paused"},
		"Resumed":   {"the time of the resumption stays visible", suspended, []func(*harness){suspend(false)}, no(2), "True Succeeded"},
		"Edited":    {"the condition is that of the present spec", suspended, []func(*harness){suspend(false), edit(func(s *AppSpec) { s.User = "x" })}, no(3), "True Succeeded"},
		"Again":     {"a user pauses it once more", suspended, []func(*harness){suspend(false), suspend(true)}, yes("Suspended", byUser, 3), "False Suspended Paused"},
		"Check":     {"a check for pauses", pausing, nil, yes("Paused", byCheck, 1), "False Paused Paused"},
		"CheckGone": {"the check lets it continue", pausing, []func(*harness){edit(func(s *AppSpec) { s.Cluster = "" })}, no(2), "True Succeeded"},
		"Both":      {"the outer one blocks", AppSpec{Suspended: true, Cluster: "pauses"}, nil, yes("Suspended", byUser, 1), "False Suspended Paused"},
		"LinkFails": {"a link of the user on Pass fails, and the object is still suspended", suspended, []func(*harness){func(d *harness) { d.fails = "link" }}, yes("Suspended", byUser, 1), "False Unknown Reconciling Paused"},
		"Deleted":   {"the deletion of a suspended object continues", suspended, []func(*harness){func(d *harness) { d.remove = inProgress(d); d.delete(d.read()) }}, no(1), "False Deleting Reconciling"},
		"Panics":    {"the pass reports the panic", AppSpec{User: "panics"}, nil, metav1.Condition{}, "False Panic Reconciling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(tc.spec))
			d.use(d.reconciler(flow.Extensions[*App]{
				Pass: chain.New(chain.Before[*App, flow.Outcome](func(ctxt, *App) error {
					if d.fails == "link" {
						return errBroken
					}
					return nil
				})),
				EntryCheck: chain.New(checks.Paused(func(a *App) bool { return a.Spec.Cluster == "pauses" })),
			}))
			d.pass()
			for _, do := range tc.do {
				do(d)
				d.pass()
			}
			if diff := cmp.Diff(tc.want, d.paused()); diff != "" || d.says() != tc.says {
				t.Errorf("%s: it says %q, not %q: -want, +got:\n%s", tc.reason, d.says(), tc.says, diff)
			}
			writes := d.writes
			if d.pass(); d.writes != writes {
				t.Errorf("%s: a second pass writes it again", tc.reason)
			}
		})
	}
}

// A type that does not say whether it is suspended has no link for it.
func TestNotSuspendable(t *testing.T) {
	r := ctrlx.New("Database", databases{Apply: put}, extensions{})
	if links := r.Flow().Extensions().Pass.Links(); len(links) > 0 {
		t.Errorf("there are links on Pass: %v", links)
	}
}

// noting is a link on Pass that notes that it was entered.
func (d *harness) noting(what string) flow.PassMiddleware[*App] {
	return chain.Before[*App, flow.Outcome](func(ctxt, *App) error { d.note("%s", what); return nil })
}
