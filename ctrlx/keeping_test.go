package ctrlx_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// TestReport verifies that the status shows what a long Apply reports, that other writers lose nothing by it, and that the end
// of the pass writes its own outcome and what Apply has found out.
func TestReport(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		req.Resource.Status.LastHandled = "found"
		for _, step := range []struct {
			message string
			writes  bool
		}{{"chart 1 of 2", true}, {"chart 1 of 2", false}, {"chart 2 of 2", true}} {
			before := d.writes
			if err := ctrlx.Report(ctx, req.Resource, "Installing", step.message); err != nil {
				t.Fatal(err)
			}
			if wrote := d.writes - before; (wrote > 0) != step.writes || d.says() != "False Installing Reconciling" || d.message() != step.message {
				t.Errorf("during Apply: %d writes, and the object says %q: %s", wrote, d.says(), d.message())
			}
			if got := d.read().Status.LastHandled; got != "" {
				t.Errorf("Report wrote %q, which Apply has not returned yet", got)
			}
			// A user changes the object, and another controller its status, while Apply runs.
			inApp(func(a *App) {
				a.Labels = map[string]string{"step": step.message[6:7]}
				scanned := theirs
				scanned.Message = step.message
				meta.SetStatusCondition(&a.Status.Conditions, scanned)
			})(d)
		}
		return flow.Done(), nil
	}
	d.use(d.reconciler(flow.Extensions[*App]{}))
	_ = d.try()
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) { // after the conflict with the last writer
		req.Resource.Status.LastHandled = "found"
		return flow.Done(), nil
	}
	d.pass()
	a := d.read()
	scanned := meta.FindStatusCondition(a.Status.Conditions, theirs.Type)
	if d.says() != "True Succeeded" || scanned == nil || scanned.Message != "chart 2 of 2" || a.Status.LastHandled != "found" || a.Labels["step"] != "2" {
		t.Errorf("the object says %q: %+v, %+v", d.says(), a.Status, a.Labels)
	}
}

// A report makes no event of a failure that an earlier pass has reported.
func TestReportOfEqualFailures(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		must(t, ctrlx.Report(ctx, req.Resource, "Installing", "chart 1 of 1"))
		return flow.Progress{}, errBroken
	}
	d.with(flow.Extensions[*App]{})
	d.pass()
	d.pass()
	if got := d.reported(); len(got) != 1 {
		t.Errorf("two equal failures make the events %q", got)
	}
}

// TestInterrupt verifies which changes of the object end an Apply under way. The function runs without the lock of the
// passes under way: while it hangs, other passes begin and end.
func TestInterrupt(t *testing.T) {
	byGeneration := func(read, now *App) bool { return read.Generation != now.Generation }
	byRetry := func(read, now *App) bool {
		return read.Annotations[ctrlx.RetryAnnotation] != now.Annotations[ctrlx.RetryAnnotation]
	}
	resized := func(a *App) { a.Generation++ }
	retried := func(a *App) { a.Annotations = map[string]string{ctrlx.RetryAnnotation: "now"} }
	cases := map[string]struct {
		reason string
		by     func(read, now *App) bool
		change func(*App)
		ends   bool
	}{
		"Generation": {"a new spec ends the old installation", byGeneration, resized, true},
		"Retry":      {"a user asks to begin again", byRetry, retried, true},
		"Other":      {"the change is none that the function names", byRetry, resized, false},
		"Same":       {"it is the version that the pass has read", byGeneration, func(a *App) { resized(a); a.ResourceVersion = strings.TrimSuffix(a.ResourceVersion, "0") }, false},
		"Remade":     {"another object has the name", byGeneration, func(a *App) { resized(a); a.UID = "another" }, false},
		"Panics":     {"a function that panics interrupts nothing", func(_, _ *App) bool { panic("x") }, resized, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			asked, locked, within := 0, false, t.Context()
			var r *ctrlx.Reconciler[*App]
			r = d.reconciler(flow.Extensions[*App]{}, ctrlx.WithInterrupt(func(read, now *App) bool {
				asked++
				locked = ctrlx.InterrupterLocked(r)
				return tc.by(read, now)
			}))
			d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				now := req.Resource.DeepCopyObject().(*App)
				now.ResourceVersion += "0"
				tc.change(now)
				ctrlx.Updated(r, req.Resource, now)
				within = ctx
				if ended := ctx.Err() != nil; ended != tc.ends {
					t.Errorf("%s: the pass is interrupted: %t", tc.reason, ended)
				}
				return flow.Done(), nil
			}
			d.use(r)
			d.pass()
			ctrlx.Updated(r, d.read(), d.read()) // no pass is under way
			if asked > 1 || locked || within.Err() == nil {
				t.Errorf("%s: the function is called %d times, the lock is held: %t, and the context after the pass has %v", tc.reason, asked, locked, within.Err())
			}
		})
	}
}

// A link writes ahead in PreCheck. The pass then writes the status, and no pass follows from the write.
func TestWriteAhead(t *testing.T) {
	const note = ctrlx.AheadPrefix + "note"
	a := anApp(AppSpec{})
	a.Finalizers, a.Annotations = nil, map[string]string{"example.com/a": "b"}
	d := newHarness(t, a)
	value, passes := "1", 0
	d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
		if passes++; ctx.Value(engine.PassKey{}).(*engine.InPass).New != (passes == 1) {
			t.Errorf("pass %d does not know whether an earlier one has applied the object", passes)
		}
		return flow.Done(), nil
	}
	link := checks.Gate("ahead", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		if err := ctrlx.WriteAhead(ctx, req.Resource, "note", value); err != nil {
			return checks.Result{}, err
		}
		stored := d.read()
		if stored.Annotations[note] != value || stored.Annotations["example.com/a"] != "b" || !controllerutil.ContainsFinalizer(stored, ctrlx.Finalizer) {
			t.Errorf("after the write the object has %q and the finalizers %q", stored.Annotations, stored.Finalizers)
		}
		return checks.Proceed(), nil
	})
	d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(link)}))
	for _, value = range []string{"1", "1", "2", ""} {
		before := d.read()
		d.pass()
		if got := d.took(); got != "apply" || d.says() != "True Succeeded" {
			t.Errorf("with %q the pass calls %q, and the object says %q: %s", value, got, d.says(), d.message())
		}
		if now := d.read(); before.Annotations[note] == value && value != "" && now.ResourceVersion != before.ResourceVersion {
			t.Error("a pass that changes nothing writes")
		}
	}
}

// A user asks for a retry while Apply runs, and the write of a report reads the object again. WriteAhead does not take
// over that request, which came after the pass began: the next pass handles it, also after a restart.
func TestWriteAheadOfOthers(t *testing.T) {
	ahead := chain.Named("ahead", func(next flow.PassHandler[*App]) flow.PassHandler[*App] {
		return func(ctx context.Context, obj *App) (flow.Outcome, error) {
			out, err := next(ctx, obj)
			if err == nil && out.State() == flow.StateReady {
				err = ctrlx.WriteAhead(ctx, obj, "x", "1")
			}
			return out, err
		}
	})
	ext := flow.Extensions[*App]{Pass: chain.New(ahead)}
	d := newHarness(t, anApp(AppSpec{}))
	d.with(ext, program("1", nil))
	d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		annotate(ctrlx.RetryAnnotation, "now")(d)
		return flow.Done(), ctrlx.Report(ctx, req.Resource, "Installing", "step")
	}
	_ = d.try()
	status := d.read().Status
	if handled := recordOf(status.Conditions).Handled + status.LastHandled; handled != "" {
		t.Errorf("the request %q counts as handled", handled)
	}
	d.apply = nil
	d.took()
	d.restart()
	d.with(ext, program("1", nil))
	d.pass()
	same(t, "the first pass after a restart", "apply", d.took())
}

// A write ahead that fails ends the pass without an event, and a resource that the API server has deleted needs none.
func TestWriteAheadFails(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "apps"}, "a", errBroken)
	for name, tc := range map[string]struct {
		reason string
		fails  func(*harness)
		want   string
	}{
		"Conflict": {"the resource was changed", func(d *harness) { d.beforePatch = func() error { return conflict } }, "ctrlx: App: the annotation " + ctrlx.AheadPrefix + "note: "},
		"NoStatus": {"each pass would begin again", func(d *harness) {
			d.manager.http = discovery(func() (bool, error) { return false, nil })
		}, "has no status subresource"},
	} {
		d := newHarness(t, anApp(AppSpec{}))
		tc.fails(d)
		var got error
		d.with(checking(flow.PointPreCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
			got = ctrlx.WriteAhead(ctx, req.Resource, "note", "1")
			return checks.Proceed(), got
		}))
		err := d.try()
		if got == nil || (err == nil) != apierrors.IsConflict(got) || err != nil && !strings.Contains(err.Error(), tc.want) || !strings.Contains(got.Error(), tc.want) || len(d.reported()) > 0 || d.took() != "" {
			t.Errorf("%s: %s: WriteAhead returns %v, and the pass %v", name, tc.reason, got, err)
		}
		if len(d.read().Annotations) > 0 {
			t.Errorf("%s: the annotations are %q", name, d.read().Annotations)
		}
	}
	d := newHarness(t, freshApp("uid"))
	d.beforeStatus = func() {
		if d.writes == 1 {
			d.vanish()
		}
	}
	d.deletions(answer(flow.Done(), nil))
	patches := -1
	d.with(checking(flow.PointDeleteCheck, func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		patches = d.patches
		return checks.Proceed(), ctrlx.WriteAhead(ctx, req.Resource, "note", "1")
	}))
	d.pass()
	if got := d.took(); got != "apply, delete uid " || d.patches != patches {
		t.Errorf("the resource vanished: the calls are %q, after %d patches", got, d.patches-patches)
	}
}

// A panic of the function of WithKeeping ends no pass, and the object waits for itself only if a user deletes what it keeps.
func TestKeepingPanics(t *testing.T) {
	deleted := clusterWith("Creating")
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: noon}, []string{"a/b"}
	refs := func(a *App) []checks.Ref { return []checks.Ref{clusterOfApp(a)} }
	for c, keeps := range map[*testv1.Cluster]func() bool{deleted: func() bool { panic("no") }, clusterWith("Creating"): func() bool { return true }} {
		d := newHarness(t, anApp(AppSpec{Cluster: "c"}), c)
		d.use(d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.ReferenceReady("cluster", refs))},
			ctrlx.WithKeeping(func(*App, checks.Ref, client.Object) bool { return keeps() })))
		d.pass()
		if got := d.says(); !strings.HasPrefix(got, "False Reference") {
			t.Errorf("the object says %q: %s", got, d.message())
		}
	}
}
