package ctrlx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

var theirs = metav1.Condition{
	Type: "BackedUp", Status: metav1.ConditionTrue, Reason: "Daily", Message: "by others", ObservedGeneration: 1,
	LastTransitionTime: metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
}

// others writes the status of a database as another controller that does not know the
// operator.
func (o *operator) others(name string) {
	d := &testv1.Database{}
	if err := api.Get(o.t.Context(), keyOf(o.namespace, name), d); err != nil {
		o.t.Error(err)
	}
	patch := client.MergeFrom(d.DeepCopyObject().(client.Object))
	meta.SetStatusCondition(&d.Status.Conditions, theirs)
	if err := api.Status().Patch(o.t.Context(), d, patch); err != nil {
		o.t.Error(err)
	}
}

func (o *operator) checkOthers(d *testv1.Database) {
	o.t.Helper()
	got := meta.FindStatusCondition(d.Status.Conditions, theirs.Type)
	if got == nil || !got.LastTransitionTime.Equal(&theirs.LastTransitionTime) || got.Message != theirs.Message {
		o.t.Errorf("the condition of others is lost: %+v", d.Status.Conditions)
	}
}

// called waits until the cloud was asked n times.
func (o *operator) called(n int) {
	o.t.Helper()
	if err := apiserver.Until(o.t.Context(), func(ctxt) (bool, error) {
		return len(o.asked()) >= n, nil
	}); err != nil {
		o.t.Fatalf("the cloud should be asked %d times: %q", n, o.asked())
	}
}

// The condition reports once that the definition does not allow a status, and the old
// status stays. An object that is suspended is still paused.
func TestInvalidStatus(t *testing.T) {
	for name, bad := range map[string]string{"Applied": notAllowed, "TooLarge": tooLarge, "Suspended": notAllowed} {
		suspended := name == "Suspended"
		d, size := newHarness(t, anApp(AppSpec{Suspended: suspended})), "1"
		d.use(d.reconciler(flow.Extensions[*App]{Pass: chain.New(chain.Named("size", func(next flow.PassHandler[*App]) flow.PassHandler[*App] {
			return func(ctx context.Context, a *App) (flow.Outcome, error) {
				a.Status.LastHandled = size
				return next(ctx, a)
			}
		}))}))
		d.pass()
		was := d.says()
		size = bad
		d.change(func(*App) {})
		want := "False StatusInvalid Stalled"
		if suspended {
			want += " Paused"
		}
		var version string
		for range 2 { // it is tried again, and nothing is written for that
			err := d.try()
			if !apierrors.IsInvalid(err) && !apierrors.IsRequestEntityTooLargeError(err) {
				t.Fatalf("%s: the error is %v", name, err)
			}
			a := d.read()
			stalled := meta.FindStatusCondition(a.Status.Conditions, "Stalled")
			if d.says() != want || a.Status.LastHandled != "1" || !strings.Contains(stalled.Message, map[string]string{notAllowed: "is invalid", tooLarge: "is exceeded"}[bad]) || stalled.ObservedGeneration != 2 {
				t.Errorf("%s: the object says %q: %+v", name, d.says(), a.Status)
			}
			if version != "" && version != a.ResourceVersion {
				t.Errorf("%s: it is written in each pass", name)
			}
			version = a.ResourceVersion
		}
		size = "allowed by now"
		if d.pass(); d.says() != was || d.read().Status.LastHandled != size {
			t.Errorf("%s: the object says %q: %+v", name, d.says(), d.read().Status)
		}
	}
}

// A status that the API server drops is one error of the log, because no condition
// can say so.
func TestDroppedStatus(t *testing.T) {
	for name, drops := range map[string]bool{"Dropped": true, "Kept": false} {
		d := newHarness(t, anApp(AppSpec{}), aCluster()).with(flow.Extensions[*App]{})
		d.drops = drops
		lines := 0
		log := funcr.New(func(_, args string) {
			if strings.Contains(args, "drops a part of the status") {
				lines++
			}
		}, funcr.Options{})
		for range 3 {
			d.passIn(logr.NewContext(t.Context(), log))
		}
		if want := map[bool]int{true: 1}[drops]; lines != want {
			t.Errorf("%s: %d lines, want %d", name, lines, want)
		}
	}
}

// The object of another controller stays as it is: no finalizer, no condition, no event, and no write at all.
func TestIgnored(t *testing.T) {
	cases := map[string]struct {
		reason     string
		point      string
		opts       []checks.BlockOption
		finalizers []string
		deleting   bool
		took       string
		after      time.Duration
	}{
		"EntryCheck": {reason: "nothing is read for it", point: flow.PointEntryCheck, took: "check"},
		"PreCheck":   {reason: "what Get has found out is not written", point: flow.PointPreCheck, took: "get, check"},
		"NotNow": {reason: "another instance is responsible for now", point: flow.PointEntryCheck,
			opts: []checks.BlockOption{checks.WithAfter(40 * time.Minute)}, took: "check", after: 40 * time.Minute},
		"NoEvent": {reason: "no event wakes an object that waits for an object outside of the cluster", point: flow.PointEntryCheck,
			opts: []checks.BlockOption{checks.WithWaitingFor(checks.Ref{ID: "/subscriptions/s"})}, took: "check", after: time.Hour},
		"Deleted": {reason: "the rightful controller deletes it", point: flow.PointEntryCheck, finalizers: []string{theirFinalizer}, deleting: true},
		"DeletedWithOurs": {reason: "another instance of this controller deletes it, and needs the finalizer",
			point: flow.PointEntryCheck, finalizers: []string{theirFinalizer, ctrlx.Finalizer}, deleting: true, took: "check"},
		"DeleteCheck": {reason: "the deletion is left to another instance",
			point: flow.PointDeleteCheck, finalizers: []string{ctrlx.Finalizer}, deleting: true, took: "get, check"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = tc.finalizers
			a.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Theirs"}}
			d := newHarness(t, a)
			if tc.deleting {
				deleted(d)
			}
			ext := checking(tc.point, func(context.Context, *checks.Request[*App]) (checks.Result, error) {
				d.note("check")
				return checks.Ignore("the class is of another controller", tc.opts...), nil
			})
			ext.Get = chain.New(chain.Before[*flow.Request[*App], flow.Observation](func(_ context.Context, req *flow.Request[*App]) error {
				d.note("get")
				req.Resource.Status.LastHandled = "found"
				return nil
			}))
			d.use(d.reconciler(ext))
			version := d.read().ResourceVersion
			for range 2 {
				if after := d.pass(); after != tc.after || d.took() != tc.took {
					t.Errorf("%s: it is requeued after %s", tc.reason, after)
				}
			}
			if d.read().ResourceVersion != version || d.writes+d.patches > 0 || len(d.reported()) > 0 {
				t.Errorf("%s: it was written: %+v", tc.reason, d.read())
			}
		})
	}
}

// The label that chooses the operator changes while a pass still ignores the object. Its event comes before the end of the
// pass, which is followed by another one.
func TestRelabeledDuringPass(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.with(checking(flow.PointEntryCheck, func(context.Context, *checks.Request[*App]) (checks.Result, error) {
		d.change(func(a *App) { a.Labels = map[string]string{"shard": "ours"} })
		return checks.Ignore("another shard has it"), nil
	}))
	if first, then := d.pass(), d.pass(); first == 0 || first > time.Second || then != 0 {
		t.Errorf("passes follow after %s and %s", first, then)
	}
}

// A block that keeps the status writes nothing and makes no event, and is retried.
func TestStatusKept(t *testing.T) {
	cases := map[string]struct {
		reason string
		res    checks.Result
		rule   classify.Chain
		after  time.Duration
	}{
		"Block": {"it ends within moments", checks.Block("Locked", "another write runs", checks.WithStatusKept(), checks.WithRetry(classify.Fast)), classify.Chain{}, time.Second},
		"Error": {"a rule asks for it", checks.Result{}, classify.Table{{Name: "busy", Message: classify.Contains("broken"), Retry: classify.Fast, KeepStatus: true}}.Chain(), time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}))
			locked := false
			lock := checks.Check("lock", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
				switch {
				case !locked:
					return checks.Proceed(), nil
				case tc.res.IsZero():
					return tc.res, errBroken
				}
				return tc.res, nil
			})
			d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(lock), Classify: tc.rule}))
			d.pass()
			d.reported()
			locked = true
			d.change(func(a *App) { a.Spec.User = "x" })
			before := d.read()
			if after := d.pass(); after != tc.after {
				t.Errorf("%s: it is requeued after %s", tc.reason, after)
			}
			if got := d.read(); got.ResourceVersion != before.ResourceVersion || len(d.reported()) > 0 {
				t.Errorf("%s: it is written: %+v", tc.reason, got.Status)
			}
			locked = false
			d.pass()
			if got := d.read().Status.Conditions; len(got) != 2 || got[0].ObservedGeneration != 2 {
				t.Errorf("%s: the next pass writes again: %+v", tc.reason, got)
			}
		})
	}
}

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
