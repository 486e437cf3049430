package ctrlx_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// theirFinalizer is a finalizer of another controller.
const theirFinalizer = "example.com/theirs"

// keptApp is an App that another controller keeps after our deletion.
func keptApp(finalizers ...string) *App {
	a := anApp(AppSpec{})
	a.Finalizers = append(finalizers, theirFinalizer)
	return a
}

// strip removes our finalizer from an object, or all finalizers if it has no other.
func (d *harness) strip(a *App) {
	d.t.Helper()
	a.Finalizers = slices.DeleteFunc(a.Finalizers, func(f string) bool { return f != theirFinalizer })
	d.update(a)
}

// An object gets its finalizer when a deletion gets something to delete. The write takes nothing from the
// status that the pass has found out.
func TestFinalizerMoment(t *testing.T) {
	cases := map[string]struct {
		reason, took string
		insync       bool
	}{
		"Adopted": {"the object exists in the cloud already, so a deletion has something to delete", "", true},
		"Applied": {"a PUT follows", "apply", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = nil
			d := newHarness(t, a)
			d.insync = tc.insync
			d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
				if in := ctx.Value(engine.PassKey{}).(*engine.InPass); !in.New {
					t.Errorf("%s: no earlier pass has applied the object", tc.reason)
				}
				return flow.Done(), nil
			}
			found := chain.Before[*flow.Request[*App], flow.Observation](func(_ context.Context, req *flow.Request[*App]) error {
				req.Resource.Status.LastHandled = "found"
				return nil
			})
			d.use(d.reconciler(flow.Extensions[*App]{Get: chain.New(found)}))
			d.pass()
			same(t, tc.reason, []string{ctrlx.Finalizer}, d.read().Finalizers)
			if d.took() != tc.took || d.read().Status.LastHandled != "found" || d.patches != 1 || d.writes != 1 || ctrlx.OrphanOf(d.app, named("a")) != nil {
				t.Errorf("%s: %d patches, %d of the status: %+v", tc.reason, d.patches, d.writes, d.read().Status)
			}
			deleted(d)
			d.pass()
			if d.took() != "delete" || d.saysOrGone() != "gone" || len(d.reported()) != 1 {
				t.Errorf("%s: the object is not deleted, or an event reports its release", tc.reason)
			}
		})
	}
	d := newHarness(t, freshApp("uid"))
	d.present = true
	blocked := checks.Block("Busy", "busy")
	if d.with(checking(flow.PointPreCheck, answers(&blocked))).pass(); len(d.read().Finalizers) > 0 {
		t.Errorf("a check blocks before Apply, and the finalizers are %q", d.read().Finalizers)
	}
}

// Whatever the API server answers to a finalizer, nothing is made without one, and none goes before Delete was called.
func TestFinalizerRefused(t *testing.T) {
	resource := schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "apps"}
	cases := map[string]struct {
		reason   string
		err      error
		refusals int
		insync   bool
		took     string
	}{
		"Conflict": {"the write is repeated, because no other writer changes that the deletion has ended", apierrors.NewConflict(resource, "a", errBroken), 4, false, "apply, delete"},
		"Endless":  {"a writer that changes the object again and again does not hold the worker", apierrors.NewConflict(resource, "a", errBroken), 5, false, "apply, delete, delete"},
		"Broken":   {"the server has a fault, so each pass calls Delete until the finalizer goes", apierrors.NewInternalError(errBroken), 3, false, "apply, delete, delete, delete, delete"},
		"InSync":   {"an object without the finalizer is not Ready either", apierrors.NewInternalError(errBroken), 3, true, "delete, delete, delete, delete"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = nil
			d := newHarness(t, a)
			refusals := tc.refusals
			d.beforePatch = func() error {
				if refusals--; refusals >= 0 {
					return tc.err
				}
				return nil
			}
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if len(req.Resource.Finalizers) == 0 {
					t.Errorf("%s: it is made without a finalizer", tc.reason)
				}
				return flow.Done(), nil
			}
			d.insync = tc.insync
			d.use(d.reconciler(flow.Extensions[*App]{}))
			for i := 0; i < 10 && d.says() != "True Succeeded"; i++ {
				_ = d.try()
			}
			if len(d.read().Finalizers) == 0 {
				t.Errorf("%s: it is Ready without a finalizer", tc.reason)
			}
			deleted(d)
			refusals = tc.refusals
			for i := 0; i < 10 && d.saysOrGone() != "gone"; i++ {
				_ = d.try()
			}
			same(t, tc.reason, tc.took, d.took())
		})
	}
}

// An object that a user deletes while its pass is under way is not made: it can no longer get the finalizer.
func TestVanishesBeforeApply(t *testing.T) {
	cases := map[string]struct {
		reason string
		app    *App
		says   string
	}{
		"Gone":     {"there is no object to make", anApp(AppSpec{}), "gone"},
		"Deleting": {"its deletion would not wait for ours", keptApp(), "nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := tc.app
			a.Finalizers = slices.DeleteFunc(a.Finalizers, func(f string) bool { return f == ctrlx.Finalizer })
			d := newHarness(t, a)
			d.use(d.reconciler(checking(flow.PointPreCheck, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
				if !req.Deleting {
					deleted(d)
				}
				return checks.Proceed(), nil
			})))
			for range 2 {
				_ = d.try()
			}
			if d.took() != "" || d.saysOrGone() != tc.says || d.writes > 0 || d.patches != 1 {
				t.Errorf("%s: the object is %s, after %d patches", tc.reason, d.saysOrGone(), d.patches)
			}
		})
	}
}

// A blocked object can be deleted: neither a missing owner nor a deleted owner delays that. Its DeleteCheck does.
func TestDeletedWhileBlocked(t *testing.T) {
	cases := map[string]struct {
		reason  string
		cluster bool // there was one when the object was made
		change  func(*harness)
		says    string
	}{
		"Never":  {"the object was never made", false, func(*harness) {}, "gone"},
		"Orphan": {"the owner was deleted", true, func(d *harness) { d.delete(d.cluster()) }, "gone"},
		"Held": {"the check waits for the owner", true, inCluster(func(c *testv1.Cluster) { c.Status.Conditions[0].Status = "False" }),
			"False OwnerNotReady Reconciling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Cluster: "c"}))
			if tc.cluster {
				d.create(aCluster())
			}
			ready := chain.New(checks.OwnerReady())
			d.use(d.reconciler(flow.Extensions[*App]{OwnerCheck: ready, DeleteCheck: chain.New(checks.OnOwner[*App](checks.OwnerReady()))}))
			d.pass()
			tc.change(d)
			deleted(d)
			d.pass()
			same(t, tc.reason, tc.says, d.saysOrGone())
		})
	}
}

// A user releases an object whose owner is gone: the finalizer goes, an event says why, and Delete is not called.
func TestReleased(t *testing.T) {
	for _, point := range []string{flow.PointEntryCheck, flow.PointDeleteCheck} {
		d := newHarness(t, anApp(AppSpec{}))
		d.use(d.reconciler(checking(point, func(_ context.Context, req *checks.Request[*App]) (checks.Result, error) {
			if req.Deleting {
				return checks.Release("the reclaim policy is Retain"), nil
			}
			return checks.Proceed(), nil
		})))
		d.pass()
		d.reported()
		deleted(d)
		d.pass()
		same(t, point, []string{"Normal " + ctrlx.ReasonReleased + " check: the reclaim policy is Retain"}, d.reported())
		if lines := strings.Join(d.log.took(), "\n"); !strings.Contains(lines, "msg=the object is released without a deletion in the cloud") || !strings.Contains(lines, "why=the reclaim policy is Retain link=check") {
			t.Errorf("%s: the lines are\n%s", point, lines)
		}
		if d.took() != "apply" || d.saysOrGone() != "gone" || d.writes != 1 {
			t.Errorf("%s: the object is %s, after %d writes of the status", point, d.saysOrGone(), d.writes)
		}
	}
}

// The deletion in the cloud has ended, and another controller keeps the object.
// The conditions say so, and do not show the last failure of the deletion.
func TestDeletedAndKeptByOthers(t *testing.T) {
	const want = "this operator has ended its part of the deletion; the object stays until other controllers remove their finalizers: "
	put := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	for name, deletes := range map[string]bool{"Deleted": true, "WithoutDelete": false} {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, keptApp())
			r, left := d.reconciler(flow.Extensions[*App]{}, ctrlx.WithFinalizer("example.com/ours")), []string{theirFinalizer}
			if !deletes { // another operator may have added a finalizer of the same name
				d.update(func() *App { a := d.read(); a.Finalizers = append(a.Finalizers, ctrlx.Finalizer); return a }())
				left = append(left, ctrlx.Finalizer)
				r = ctrlx.New("App", flow.Operations[*App]{Apply: put}, flow.Extensions[*App]{}, d.clock()...)
			}
			d.use(r)
			d.pass()
			if got := d.read().Finalizers; deletes {
				same(t, "the finalizers", []string{theirFinalizer, "example.com/ours"}, got)
			}
			deleted(d)
			if d.remove = failure(errBroken); deletes {
				if d.pass(); !strings.Contains(d.message(), errBroken.Error()) {
					t.Fatalf("the deletion does not fail: %s", d.message())
				}
				d.remove = inProgress(d)
				d.pass()
			}
			d.remove = nil
			asks(d, map[string]string{ctrlx.RetryAnnotation: "1"})
			d.pass()
			same(t, "the finalizers, and the handled request", append(left, "1"), append(d.read().Finalizers, d.read().Status.LastHandled))
			if want := want + strings.Join(left, ", "); d.says() != "False Deleted Reconciling" || d.message() != want || d.stored() != "" {
				t.Errorf("the object says %q with %q, want %q; its token is %q", d.says(), d.message(), want, d.stored())
			}
			if a := d.read(); a.Status.Conditions[0].ObservedGeneration != a.Generation {
				t.Errorf("the condition is for generation %d, and the object has %d", a.Status.Conditions[0].ObservedGeneration, a.Generation)
			}
			d.took()
			writes := d.writes
			if d.pass(); d.writes != writes || d.took() != "" {
				t.Error("each pass writes the status, or calls Delete")
			}
		})
	}
}

// The API server refuses the write that says so. The next pass writes it, and the
// finalizer stays until then. A deletion does not wait for a status that the API
// server never takes.
func TestDeletedWhenStatusIsRefused(t *testing.T) {
	resource := schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "apps"}
	cases := map[string]struct {
		reason string
		refuse error
		kept   bool // our finalizer
		fails  bool // the pass, with the error; otherwise another pass follows at once
	}{
		"Conflict": {"another writer changed the object", apierrors.NewConflict(resource, "a", errBroken), true, false},
		"Down":     {"the API server has a fault", apierrors.NewInternalError(errBroken), true, true},
		"Invalid":  {"the definition does not allow the status", apierrors.NewInvalid(schema.GroupKind{Kind: "App"}, "a", nil), false, true},
		"Denied":   {"a policy denies the write", apierrors.NewForbidden(resource, "a", errBroken), false, true},
		"Bad":      {"the API server cannot read the write", apierrors.NewBadRequest("no"), false, true},
		"NoStatus": {"the definition has no status by now", notServed(), false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, keptApp(ctrlx.Finalizer)).with(flow.Extensions[*App]{})
			d.pass()
			deleted(d)
			d.refuse = tc.refuse
			if err := d.try(); (err != nil) != tc.fails {
				t.Errorf("%s: the pass returns the error %v", tc.reason, err)
			}
			same(t, tc.reason, tc.kept, slices.Contains(d.read().Finalizers, ctrlx.Finalizer))
			d.refuse = nil
			d.pass()
			same(t, tc.reason+": the finalizers", []string{theirFinalizer}, d.read().Finalizers)
			if tc.kept && d.says() != "False Deleted Reconciling" {
				t.Errorf("%s: the object says %q", tc.reason, d.says())
			}
			d = newHarness(t, keptApp(ctrlx.Finalizer)).with(flow.Extensions[*App]{})
			d.pass()
			d.strip(d.read())
			deleted(d)
			d.refuse = tc.refuse
			if err := d.try(); name != "Conflict" && ((err == nil) == tc.kept || err != nil && !errors.Is(err, tc.refuse)) { // refused for good: no pass follows
				t.Errorf("%s: the pass over a stripped object returns %v", tc.reason, err)
			}
		})
	}
}

// A conflict with another writer after the end of the DELETE keeps no object: another
// pass would wait for a reference that is gone. If the deletion may have to begin again,
// another pass follows at once, and the finalizer stays until then.
func TestConflictAfterDelete(t *testing.T) {
	const blocked = "False ClusterGone Reconciling"
	writes := func(change func(*App)) func(*harness) {
		return func(d *harness) { a := d.read(); change(a); d.update(a) }
	}
	cases := map[string]struct {
		reason string
		change func(*harness)
		want   string
		again  bool // another pass follows
	}{
		"Label":    {"another writer changes what means nothing to the deletion", writes(func(a *App) { a.Labels = map[string]string{"a": "b"} }), "gone", false},
		"Kept":     {"the condition is written, too", writes(func(a *App) { a.Finalizers = append(a.Finalizers, theirFinalizer) }), "False Deleted Reconciling", false},
		"Spec":     {"the spec may name another resource", writes(func(a *App) { a.Generation++ }), blocked, true},
		"Operated": {"another process has made something else", writes(func(a *App) { a.Annotations = map[string]string{ctrlx.AheadPrefix + "note": "{}"} }), blocked, true},
		"Begun":    {"another process has begun an operation", func(d *harness) { d.recorded(operating("delete:theirs")) }, blocked, true},
		"Remade":   {"the next object of the name has its own deletion", func(d *harness) { remade(d, d.read(), "second") }, blocked, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, needed := newHarness(t, anApp(AppSpec{})), checks.Proceed()
			d.remove = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
				tc.change(d)
				needed = checks.Block("ClusterGone", "the cluster waited for this deletion only")
				return flow.Done(), nil
			}
			d.use(d.reconciler(checking(flow.PointEntryCheck, answers(&needed))))
			d.pass()
			deleted(d)
			if after := d.pass(); (after != 0) != tc.again || tc.again && !slices.Contains(d.read().Finalizers, ctrlx.Finalizer) {
				t.Errorf("%s: the next pass comes after %s", tc.reason, after)
			}
			d.pass()
			if got, took := d.saysOrGone(), d.took(); got != tc.want || took != "apply, delete" {
				t.Errorf("%s: the object is %s after %s, want %s", tc.reason, got, took, tc.want)
			}
			if tc.want == "False Deleted Reconciling" && !strings.HasPrefix(d.message(), "this operator has ended its part of the deletion; ") {
				t.Errorf("%s: the object says %q", tc.reason, d.message())
			}
		})
	}
}

// An object without our finalizer that a user deletes does not keep the condition of
// the time before, if it is ours.
func TestStrippedBeforeDeletion(t *testing.T) {
	const missing = "the finalizer " + ctrlx.Finalizer + " is missing, so this operator deletes nothing in the cloud: delete there what is left; " +
		"the object stays until other controllers remove their finalizers: " + theirFinalizer
	cases := map[string]struct {
		reason string
		res    checks.Result
		want   string
	}{
		"Ready":   {"nothing deletes its resource", checks.Proceed(), "False Deleted Reconciling: " + missing},
		"Blocked": {"it waits for nothing any more", checks.Block("Never", "it never is"), "False Deleted Reconciling: " + missing},
		"NotMine": {"the conditions are those of another operator", checks.Ignore("it belongs to another operator"), "True Theirs: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := keptApp(ctrlx.Finalizer)
			a.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Theirs", ObservedGeneration: 1}}
			d := newHarness(t, a).with(checking(flow.PointEntryCheck, answers(&tc.res)))
			d.pass()
			d.strip(d.read())
			deleted(d)
			d.refuse = errBroken
			_ = d.try() // the next pass writes it
			d.refuse = nil
			d.pass()
			writes := d.writes
			d.pass()
			if got := d.says() + ": " + d.message(); got != tc.want || d.writes != writes {
				t.Errorf("%s: got %q, want %q; the second pass wrote %d times", tc.reason, got, tc.want, d.writes-writes)
			}
		})
	}
}
