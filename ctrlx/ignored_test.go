package ctrlx_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

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
