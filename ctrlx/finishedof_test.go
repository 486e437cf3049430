package ctrlx_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/flow"
)

// A backup restores the status of a finished object under another object. That one
// is not finished: nothing made it.
func TestFinishedOfAnotherObject(t *testing.T) {
	cases := map[string]struct {
		reason string
		uid    types.UID // of the object that has the status
		took   string    // the calls of its pass
	}{
		"Same":   {"the object that was finished", "uid", ""},
		"Other":  {"an object that was restored with the status", "other", "apply"},
		"Longer": {"a UID that ends as the other one does", "x-uid", "apply"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.apply = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
				return flow.Finished("Complete", "42 rows"), nil
			}
			d.use(d.reconciler(flow.Extensions[*App]{}))
			d.pass()
			if a := d.read(); !meta.IsStatusConditionTrue(a.Status.Conditions, "Finished") || d.message() != "42 rows" {
				t.Fatalf("the object is not finished: %+v", a.Status)
			}
			restored := anApp(AppSpec{})
			restored.UID, restored.Status = tc.uid, d.read().Status
			d = newHarness(t, restored)
			d.use(d.reconciler(flow.Extensions[*App]{}))
			d.pass()
			if got := d.took(); got != tc.took {
				t.Errorf("%s: the pass calls %q, want %q", tc.reason, got, tc.took)
			}
			if tc.took != "" && (d.says() != "True Succeeded" || meta.FindStatusCondition(d.read().Status.Conditions, "Finished") != nil) {
				t.Errorf("%s: the object says %q: %+v", tc.reason, d.says(), d.read().Status)
			}
		})
	}
}
