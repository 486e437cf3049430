package ctrlx_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// The object of another controller stays as it is: no finalizer, no condition, no event, and no write at all.
func TestIgnored(t *testing.T) {
	t.Parallel()
	const theirs = "example.com/theirs"
	cases := map[string]struct {
		reason     string
		point      string
		opts       []checks.BlockOption
		finalizers []string
		deleting   bool
		passes     []string // what each pass asks
		after      time.Duration
	}{
		"EntryCheck": {reason: "nothing is read for it", point: flow.PointEntryCheck, passes: []string{"check"}},
		"PreCheck": {reason: "what Get has found out is not written", point: flow.PointPreCheck,
			passes: []string{"get", "check"}},
		"NotNow": {reason: "another instance is responsible for now", point: flow.PointEntryCheck,
			opts: []checks.BlockOption{checks.WithAfter(40 * time.Minute)}, passes: []string{"check"}, after: 40 * time.Minute},
		"Deleted": {reason: "the rightful controller deletes it", point: flow.PointEntryCheck, finalizers: []string{theirs}, deleting: true},
		"DeletedWithOurs": {reason: "another instance of this controller deletes it, and needs the finalizer",
			point: flow.PointEntryCheck, finalizers: []string{theirs, ctrlx.Finalizer}, deleting: true, passes: []string{"check"}},
		"DeleteCheck": {reason: "the deletion is left to another instance",
			point: flow.PointDeleteCheck, finalizers: []string{ctrlx.Finalizer}, deleting: true, passes: []string{"get", "check"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			ignores := chain.New(checks.Check("mine", func(ctxt, *checks.Request[*testv1.Database]) (checks.Result, error) {
				return checks.Ignore("the class is of another controller", tc.opts...), o.note("check")
			}))
			ext := map[string]extensions{
				flow.PointEntryCheck: {EntryCheck: ignores}, flow.PointPreCheck: {PreCheck: ignores}, flow.PointDeleteCheck: {DeleteCheck: ignores},
			}[tc.point]
			ops := o.operations()
			ops.Get = func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Observation, error) {
				req.Resource.Status.Size = 9
				return flow.Observation{Presence: checks.Present}, o.note("get")
			}
			ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Theirs", LastTransitionTime: metav1.Now()}
			d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "db", Finalizers: tc.finalizers}}
			if err := api.Create(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			meta.SetStatusCondition(&d.Status.Conditions, ready)
			if err := api.Status().Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if tc.deleting {
				o.remove(d)
			}
			d = o.when("db", func(*testv1.Database) bool { return true })
			r := ctrlx.New("Database", ops, ext)
			result, err := o.settle(o.start(r), r, "db")
			if err != nil || result.RequeueAfter != tc.after {
				t.Errorf("%s: it is requeued after %s: %v", tc.reason, result.RequeueAfter, err)
			}
			if diff := cmp.Diff(map[string]int{}, writes(o.traffic.take(t))); diff != "" {
				t.Errorf("%s: writes: -want, +got:\n%s", tc.reason, diff)
			}
			if got := o.when("db", func(*testv1.Database) bool { return true }); got.ResourceVersion != d.ResourceVersion {
				t.Errorf("%s: it was written: %+v", tc.reason, got)
			}
			want, got := slices.Repeat(tc.passes, 2), o.asked() // the manager has made a pass, too
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An instance that may become responsible is woken by the awaited object. If no event can come, it is requeued.
func TestIgnoredWaits(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	c := o.cluster("prod", "Stopped")
	ref := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "prod"}
	unwatched := checks.Ref{ID: "/subscriptions/s/clusters/prod"}
	mine := checks.Check("mine", func(ctx ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
		now := &testv1.Cluster{}
		switch err := api.Get(ctx, keyOf(o.namespace, "prod"), now); {
		case err != nil:
			return checks.Result{}, err
		case now.Status.State == "Running":
			return checks.Proceed(), nil
		case req.Resource.Name == "unwatched":
			return checks.Ignore("the cluster is a replica", checks.WithWaitingFor(unwatched)), nil
		}
		return checks.Ignore("the cluster is a replica", checks.WithWaitingFor(ref)), o.note("ignored")
	})
	r := ctrlx.New("Database", o.operations(), extensions{EntryCheck: chain.New(mine)})
	o.database("db", "")
	o.database("unwatched", "")
	mgr := o.start(r)
	if result, err := o.settle(mgr, r, "unwatched"); err != nil || result.RequeueAfter < 45*time.Minute {
		t.Errorf("no event wakes an object that waits for an object outside of the cluster: %+v, %v", result, err)
	}
	if result, err := o.settle(mgr, r, "db"); err != nil || !result.IsZero() {
		t.Errorf("an event wakes it: %+v, %v", result, err)
	}
	if diff := cmp.Diff(map[string]int{}, writes(o.traffic.take(t))); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}
	o.report(c, "Running")
	o.until("db", "True Succeeded")
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
