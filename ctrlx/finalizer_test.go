package ctrlx_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// settle runs a pass over a database by hand, once the manager reads from its cache.
func (o *operator) settle(mgr manager.Manager, r reconcile.Reconciler, name string) (reconcile.Result, error) {
	o.t.Helper()
	if !mgr.GetCache().WaitForCacheSync(o.t.Context()) {
		o.t.Fatal("the cache does not start")
	}
	return r.Reconcile(o.t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, name)})
}

// writes returns the writes among the requests to the API server.
func writes(asked map[string]int) map[string]int {
	all := map[string]int{}
	for what, n := range asked {
		if what[:3] != "GET" && what[:5] != "WATCH" {
			all[what] = n
		}
	}
	return all
}

// An object gets its finalizer when a deletion gets something to delete. The write takes nothing from the status that the
// pass has found out.
func TestFinalizerMoment(t *testing.T) {
	t.Parallel()
	type req = *flow.Request[*testv1.Database]
	cases := map[string]struct {
		reason  string
		get     func(req) flow.Observation
		ready   string
		asked   []string
		size    int
		patches map[string]int
	}{
		"Adopted": {
			reason: "the object exists in the cloud already, so a deletion has something to delete", ready: "True Succeeded",
			get: func(r req) flow.Observation {
				r.Resource.Status.Size = 9
				return flow.Observation{Presence: checks.Present, InSync: true}
			},
			size: 9, patches: map[string]int{"PATCH databases": 1, "PATCH databases/status": 1, "POST events": 1},
		},
		"Applied": {
			reason: "a PUT follows", ready: "True Succeeded", asked: []string{"put db 1"}, size: 10,
			get: func(r req) flow.Observation {
				r.Resource.Status.Size = 9
				return flow.Observation{Presence: checks.Absent}
			},
			patches: map[string]int{"PATCH databases": 1, "PATCH databases/status": 1, "POST events": 1},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			ops := o.operations()
			ops.Get = func(_ ctxt, r req) (flow.Observation, error) { return tc.get(r), nil }
			ops.Apply = func(_ ctxt, r req) (flow.Progress, error) {
				d := r.Resource
				d.Status.Size++ // of the status that Get has found out
				return flow.Done(), o.note("put %s %d", d.Name, d.Spec.Size)
			}
			o.database("db", "")
			o.start(ctrlx.New("Database", ops, extensions{}))
			d := o.until("db", tc.ready)
			if d.Status.Size != tc.size {
				t.Errorf("%s: the status is %+v", tc.reason, d.Status)
			}
			if diff := cmp.Diff([]string{ctrlx.Finalizer}, d.Finalizers); diff != "" {
				t.Errorf("%s: the finalizers: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.patches, writes(o.traffic.take(t))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			o.remove(d)
			o.until("db", "gone")
			if diff := cmp.Diff(append(tc.asked, "delete db"), o.asked()); diff != "" {
				t.Errorf("%s: asked of the cloud: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An object that a user deletes while its pass is under way is not made: it can no longer get the finalizer.
func TestVanishesBeforeApply(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason     string
		finalizers []string // of others
	}{
		"Gone":     {reason: "there is no object to make"},
		"Deleting": {reason: "its deletion would not wait for ours", finalizers: []string{"example.com/theirs"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			removes := checks.Check("removes", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
				o.remove(req.Resource)
				return checks.Proceed(), o.note("check")
			})
			r := ctrlx.New("Database", o.operations(), extensions{PreCheck: chain.New(removes)})
			o.start(r)
			d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "db", Finalizers: tc.finalizers}}
			if err := api.Create(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			o.called(1)
			want := map[string]int{"PATCH databases": 1}
			if diff := cmp.Diff(want, writes(o.traffic.take(t))); diff != "" {
				t.Errorf("%s: one write is refused, and no other follows: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]string{"check"}, o.asked()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if len(tc.finalizers) > 0 {
				got := o.when("db", func(d *testv1.Database) bool { return d.DeletionTimestamp != nil })
				if diff := cmp.Diff(tc.finalizers, got.Finalizers); diff != "" {
					t.Errorf("%s: the finalizers: -want, +got:\n%s", tc.reason, diff)
				}
				free := client.MergeFrom(got.DeepCopyObject().(client.Object))
				got.Finalizers = nil
				if err := api.Patch(t.Context(), got, free); err != nil {
					t.Fatal(err)
				}
			}
			o.until("db", "gone")
		})
	}
}

// A conflict with another writer after the end of the DELETE keeps no object: another
// pass would wait for a reference that is gone.
func TestConflictAfterDelete(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*App)
		deletes int
		want    string
	}{
		"Label":    {"another writer changes what means nothing to the deletion", func(a *App) { a.Labels = map[string]string{"a": "b"} }, 1, "gone"},
		"Kept":     {"the condition is written, too", func(a *App) { a.Finalizers = append(a.Finalizers, "example.com/theirs") }, 1, "False Deleted Reconciling"},
		"Spec":     {"the spec may name another resource, so the pass is repeated", func(a *App) { a.Generation++ }, 1, "False ReferenceNotFound Reconciling"},
		"Operated": {"another process has begun an operation", func(a *App) { a.Annotations = map[string]string{ctrlx.AheadPrefix + "note": "{}"} }, 1, "False ReferenceNotFound Reconciling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster())
			deletes := 0
			d.remove = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
				deletes++
				a := d.read()
				tc.change(a)
				d.update(a)
				return flow.Done(), client.IgnoreNotFound(d.api.Delete(ctx, aCluster()))
			}
			d.use(d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", func(*App) []checks.Ref {
				return []checks.Ref{{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"}}
			}))}))
			d.pass()
			deleted(d)
			d.pass()
			d.pass()
			if got := d.saysOrGone(); got != tc.want || deletes != tc.deletes {
				t.Errorf("%s: the object is %s after %d calls of Delete, want %s after %d", tc.reason, got, deletes, tc.want, tc.deletes)
			}
		})
	}
}

// An object without our finalizer that a user deletes does not keep the condition of
// the time before, if it is ours.
func TestStrippedBeforeDeletion(t *testing.T) {
	const missing = "the finalizer " + ctrlx.Finalizer + " is missing, so this operator deletes nothing in the cloud: delete there what is left; " +
		"the object stays until other controllers remove their finalizers: example.com/theirs"
	cases := map[string]struct {
		reason string
		ext    flow.Extensions[*App]
		block  string
		opts   []ctrlx.Option
		want   string
	}{
		"Ready": {"nothing deletes its resource", flow.Extensions[*App]{}, "", nil, "False Deleted Reconciling: " + missing},
		"Blocked": {"it waits for nothing any more", flow.Extensions[*App]{PreCheck: chain.New(checks.Check("never", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
			return checks.Block("Never", "it never is"), nil
		}))}, "", nil, "False Deleted Reconciling: " + missing},
		"NotMine": {"the conditions are those of another operator", flow.Extensions[*App]{EntryCheck: chain.New(checks.Check("not mine", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
			return checks.Ignore("it belongs to another operator"), nil
		}))}, "", nil, "True Theirs: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = append(a.Finalizers, "example.com/theirs")
			a.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Theirs", ObservedGeneration: 1}}
			d := newHarness(t, a)
			d.use(d.reconciler(tc.ext, tc.opts...))
			d.pass()
			a = d.read()
			a.Finalizers = []string{"example.com/theirs"}
			d.update(a)
			deleted(d)
			d.pass()
			writes := d.writes
			d.pass()
			if got := d.says() + ": " + d.message(); got != tc.want || d.writes != writes {
				t.Errorf("%s: got %q, want %q; the second pass wrote %d times", tc.reason, got, tc.want, d.writes-writes)
			}
		})
	}
}
