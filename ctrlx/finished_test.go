package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// A finished object is not reconciled until its spec changes or a user deletes it, also by a manager that knows nothing of
// it. Its awaited objects and its annotations cause no pass.
func TestFinished(t *testing.T) {
	t.Parallel()
	prod := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "prod"}
	// A database of size 1 is finished, and one of size 2 is not.
	cases := map[string]struct {
		reason string
		check  func() (checks.Result, error) // at EntryCheck
		apply  flow.Progress
		fails  error
		says   string
		types  []string // conditions that are True
		calls  []string
	}{
		"Complete": {reason: "the backup is complete", apply: flow.Finished("Complete", "42 rows"),
			says: "True Complete", types: []string{"Ready", "Finished"}, calls: []string{"check", "put"}},
		"Denied": {reason: "a request that was denied is not retried, whatever becomes of its issuer",
			check: func() (checks.Result, error) {
				return checks.Block("Denied", "the approver denied it", checks.WithRetry(classify.Never), checks.WithWaitingFor(prod)), nil
			},
			says: "False Denied", types: []string{"Stalled", "Finished"}, calls: []string{"check"}},
		"Failed": {reason: "a terminal error of the cloud", fails: errBroken,
			says: "False Broken", types: []string{"Stalled", "Finished"}, calls: []string{"check", "put"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			databases := func() *ctrlx.Reconciler[*testv1.Database] {
				ops := o.operations()
				ops.Apply = func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
					_ = o.note("put")
					switch {
					case req.Resource.Spec.Size > 1:
						return flow.Done(), nil
					case tc.fails != nil:
						return flow.Progress{}, tc.fails
					}
					return tc.apply, nil
				}
				return ctrlx.New("Database", ops, extensions{
					EntryCheck: chain.New(checks.Check("entry", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
						_ = o.note("check")
						if tc.check != nil && req.Resource.Spec.Size == 1 && !req.Deleting {
							return tc.check()
						}
						return checks.Proceed(), nil
					})),
					Classify: classify.Table{{Name: "broken", Message: classify.Contains("broken"), Retry: classify.Never}}.Chain(),
				})
			}
			c := o.cluster("prod", "Stopped")
			o.database("db", "")
			o.start(databases())
			d := o.until("db", tc.says)
			o.traffic.take(t)
			if diff := cmp.Diff(tc.types, isTrue(d)); diff != "" {
				t.Errorf("%s: conditions: -want, +got:\n%s", tc.reason, diff)
			}
			if len(d.Finalizers) != strings.Count(strings.Join(tc.calls, " "), "put") {
				t.Errorf("%s: the finalizer is added before a PUT only: %q", tc.reason, d.Finalizers)
			}

			o.stop()
			r := databases()
			mgr := o.start(r)
			if result, err := o.settle(mgr, r, "db"); err != nil || !result.IsZero() {
				t.Errorf("%s: after a restart it is requeued: %+v, %v", tc.reason, result, err)
			}
			o.report(c, "Running")
			o.touch(d)
			if diff := cmp.Diff(map[string]int{}, writes(o.traffic.take(t))); diff != "" {
				t.Errorf("%s: writes after a restart: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.calls, o.asked()); diff != "" {
				t.Errorf("%s: calls: -want, +got:\n%s", tc.reason, diff)
			}

			d.Spec.Size = 2
			if err := api.Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			d = o.until("db", "True Succeeded")
			if diff := cmp.Diff([]string{"Ready", ctrlx.ConditionRecord}, isTrue(d)); diff != "" {
				t.Errorf("%s: a new spec is reconciled: -want, +got:\n%s", tc.reason, diff)
			}
			d.Spec.Size = 1
			if err := api.Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			o.until("db", tc.says)
			o.remove(d)
			o.until("db", "gone")
			if got := o.asked(); got[len(got)-1] != "delete db" {
				t.Errorf("%s: a finished object can be deleted: %q", tc.reason, got)
			}
		})
	}
}

// isTrue lists the conditions of a database that are True for its present generation.
func isTrue(d *testv1.Database) (types []string) {
	for _, c := range d.Status.Conditions {
		if c.Status == metav1.ConditionTrue && c.ObservedGeneration == d.Generation {
			types = append(types, c.Type)
		}
	}
	return types
}

// touch asks for a pass as people do.
func (o *operator) touch(d *testv1.Database) {
	o.t.Helper()
	base := client.MergeFrom(d.DeepCopyObject().(client.Object))
	d.Annotations = map[string]string{"example.com/touched": d.ResourceVersion}
	if err := api.Patch(o.t.Context(), d, base); err != nil {
		o.t.Fatal(err)
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

// A user releases a database with a cluster that is gone: the finalizer goes, and the cloud is not asked to delete it.
func TestReleased(t *testing.T) {
	t.Parallel()
	for _, point := range []string{flow.PointEntryCheck, flow.PointDeleteCheck} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			retained := chain.New(checks.Check("retained", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
				if req.Deleting {
					return checks.Release("the reclaim policy is Retain"), nil
				}
				return checks.Proceed(), nil
			}))
			ext := map[string]extensions{flow.PointEntryCheck: {EntryCheck: retained}, flow.PointDeleteCheck: {DeleteCheck: retained}}[point]
			o.start(ctrlx.New("Database", o.operations(), ext))
			o.database("db", "")
			d := o.until("db", "True Succeeded")
			o.remove(d)
			o.until("db", "gone")
			asked := writes(o.traffic.take(t))
			if diff := cmp.Diff(map[string]int{"PATCH databases": 2, "PATCH databases/status": 1, "POST events": 2}, asked); diff != "" {
				t.Errorf("to add and to remove the finalizer, Succeeded and Released: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{"put db 1"}, o.asked()); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{DeleteCheck: chain.New(checks.Check("retained", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
		return checks.Release("the reclaim policy is Retain"), nil
	}))}))
	deleted(d)
	d.pass()
	if diff := cmp.Diff([]string{fmt.Sprintf("Normal %s retained: the reclaim policy is Retain", ctrlx.ReasonReleased)}, d.reported()); diff != "" {
		t.Errorf("the events: -want, +got:\n%s", diff)
	}
}
