package ctrlx_test

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// A finished object is not reconciled until its spec changes or a user deletes it, also by a manager that knows nothing of
// it.
func TestFinished(t *testing.T) {
	rule := classify.Table{{Name: "broken", Message: classify.Contains("broken"), Retry: classify.Never}}.Chain()
	owner := clusterOfApp(anApp(AppSpec{Cluster: "c"}))
	// An App without a user is finished, and one with a user is not.
	cases := map[string]struct {
		reason string
		denied bool
		apply  func() (flow.Progress, error)
		says   string
	}{
		"Complete": {"the backup is complete", false, answer(flow.Finished("Complete", "42 rows"), nil), "True Complete"},
		"Denied":   {"a request that was denied is not retried, whatever becomes of its issuer", true, nil, "False Denied Stalled"},
		"Failed":   {"a terminal error of the cloud", false, answer(flow.Progress{}, errBroken), "False Broken Stalled"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, freshApp("uid"), aCluster())
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if req.Resource.Spec.User == "" {
					return tc.apply()
				}
				return flow.Done(), nil
			}
			ext := checking(flow.PointEntryCheck, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
				if tc.denied && req.Resource.Spec.User == "" && !req.Deleting {
					return checks.Block("Denied", "the approver denied it", checks.WithRetry(classify.Never), checks.WithWaitingFor(owner)), nil
				}
				return checks.Proceed(), nil
			})
			ext.Classify = rule
			d.use(d.reconciler(ext))
			d.pass()
			a := d.read()
			if d.says() != tc.says || !meta.IsStatusConditionTrue(a.Status.Conditions, "Finished") || len(a.Finalizers) != len(d.asked) {
				t.Errorf("%s: the object says %q, with the finalizers %q: %+v", tc.reason, d.says(), a.Finalizers, a.Status)
			}
			d.took()
			d.restart()
			d.use(d.reconciler(ext))
			annotate("example.com/touched", "1")(d)
			writes := d.writes
			if after := d.pass(); after != 0 || d.took() != "" || d.writes != writes {
				t.Errorf("%s: after a restart it is requeued after %s, or written", tc.reason, after)
			}
			d.change(func(a *App) { a.Spec.User = "x" })
			d.pass()
			if d.says() != "True Succeeded" || meta.FindStatusCondition(d.read().Status.Conditions, "Finished") != nil {
				t.Errorf("%s: a new spec is reconciled: %+v", tc.reason, d.read().Status)
			}
			d.change(func(a *App) { a.Spec.User = "" })
			d.pass()
			same(t, tc.reason, tc.says, d.says())
			d.took()
			deleted(d)
			d.pass()
			if d.took() != "delete" || d.saysOrGone() != "gone" {
				t.Errorf("%s: a finished object can be deleted", tc.reason)
			}
		})
	}
}

// A final outcome is never a time-out, and the gauge of blocked resources does not count it.
func TestFinishedHasNoClock(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
	d.use(d.reconciler(flow.Extensions[*App]{PostCheck: chain.New(checks.Check("decides", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
		if req.Resource.Spec.User == "denied" {
			return checks.Block("Denied", "", checks.WithRetry(classify.Never)), nil
		}
		return checks.Block("NotYet", ""), nil
	}))}))
	d.pass()
	d.now = d.now.Add(minutes(20).Duration)
	d.change(func(a *App) { a.Spec.User = "denied" })
	if after := d.pass(); after != 0 || d.says() != "False Denied Stalled" {
		t.Errorf("it is requeued after %s and says %q", after, d.says())
	}
	if c := meta.FindStatusCondition(d.read().Status.Conditions, "Finished"); c == nil || c.Reason != "Denied" {
		t.Errorf("the conditions are %+v", d.read().Status.Conditions)
	}
	d.took()
	if after := d.pass(); after != 0 || d.took() != "" {
		t.Errorf("it is reconciled again, and requeued after %s", after)
	}
}

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
