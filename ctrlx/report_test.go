package ctrlx_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// An installation is an Apply that runs until the test ends it. It says what it does in between.
type installation struct {
	steps    chan string // to report; closed: the installation ends
	reported chan error  // the answer of each Report
	mu       sync.Mutex
	began    []int // the sizes
}

func (i *installation) apply(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
	i.mu.Lock()
	i.began = append(i.began, req.Resource.Spec.Size)
	i.mu.Unlock()
	req.Resource.Status.Size = req.Resource.Spec.Size // the end of the pass writes it
	for {
		select {
		case <-ctx.Done():
			return flow.Progress{}, ctx.Err()
		case step, more := <-i.steps:
			if !more {
				return flow.Done(), nil
			}
			i.reported <- ctrlx.Report(ctx, req.Resource, "Installing", step)
		}
	}
}

func (i *installation) sizes() []int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return append([]int(nil), i.began...)
}

func newInstallation() *installation {
	return &installation{steps: make(chan string), reported: make(chan error)}
}

// TestReport verifies that the status shows what a long Apply reports, that other writers lose nothing by it, and that the end
// of the pass writes its own outcome and what Apply has found out.
func TestReport(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	var writes atomic.Int64
	o.traffic.answers(func(what string, req *http.Request) *http.Response {
		if req.Method == http.MethodPatch && strings.HasSuffix(req.URL.Path, "/databases/db/status") {
			writes.Add(1)
		}
		return nil
	})
	i := newInstallation()
	o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: i.apply}, extensions{}, ctrlx.WithPollInterval(time.Hour)))
	d := o.database("db", "")
	var seen []string
	for n, step := range []string{"chart 1 of 2", "chart 1 of 2", "chart 2 of 2"} {
		before := writes.Load()
		i.steps <- step
		if err := <-i.reported; err != nil {
			t.Fatal(err)
		}
		if wrote, again := writes.Load()-before, n == 1; again != (wrote == 0) {
			t.Errorf("message %d: %d writes", n+1, wrote)
		}
		get(t, d)
		ready, reconciling := meta.FindStatusCondition(d.Status.Conditions, "Ready"), meta.FindStatusCondition(d.Status.Conditions, "Reconciling")
		seen = append(seen, says(d)+" "+ready.Message+", Reconciling "+string(reconciling.Status))
		if d.Status.Size != 0 {
			t.Errorf("Report wrote the size %d, which Apply has not returned yet", d.Status.Size)
		}
		// A user changes the object, and another controller its status, while Apply runs.
		d.Labels = map[string]string{"step": "x" + step[len(step)-1:]}
		if err := api.Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: "Scanned", Status: "True", Reason: "Scanned", Message: step})
		if err := api.Status().Update(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"False Installing chart 1 of 2, Reconciling True", "False Installing chart 1 of 2, Reconciling True", "False Installing chart 2 of 2, Reconciling True",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the status during Apply (-want, +got):\n%s", diff)
	}
	close(i.steps)
	o.until("db", "True Succeeded")
	get(t, d)
	if scanned := meta.FindStatusCondition(d.Status.Conditions, "Scanned"); scanned == nil || scanned.Message != "chart 2 of 2" || d.Status.Size != d.Spec.Size {
		t.Errorf("the condition of the other controller is %v, and the size %d of %d", scanned, d.Status.Size, d.Spec.Size)
	}
}

func get(t *testing.T, obj client.Object) {
	t.Helper()
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
}

func TestReportFails(t *testing.T) {
	if err := ctrlx.Report(t.Context(), &testv1.Database{}, "Installing", ""); err == nil {
		t.Error("Report outside of a pass returns no error")
	}
	o := newOperator(t)
	o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: func(ctx context.Context, _ *flow.Request[*testv1.Database]) (flow.Progress, error) {
		return flow.Done(), ctrlx.Report(ctx, &testv1.Cluster{}, "Installing", "")
	}}, extensions{}, ctrlx.WithPollInterval(time.Hour)))
	d := o.database("db", "")
	o.eventually("the wrong resource is an error", func() bool {
		get(t, d)
		ready := meta.FindStatusCondition(d.Status.Conditions, "Ready")
		return ready != nil && strings.Contains(ready.Message, "Report: the resource is a *testv1.Cluster: give the resource of the request")
	})
}

// TestInterrupt verifies which changes of the object end an Apply under way, and that the next pass begins with the new version.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	byGeneration := func(read, now *testv1.Database) bool { return read.Generation != now.Generation }
	byRetry := func(read, now *testv1.Database) bool {
		return read.Annotations[ctrlx.RetryAnnotation] != now.Annotations[ctrlx.RetryAnnotation]
	}
	resized := func(d *testv1.Database) { d.Spec.Size = 7 }
	asked := func(d *testv1.Database) { d.Annotations = map[string]string{ctrlx.RetryAnnotation: "now"} }
	two := ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 2})
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		change func(*testv1.Database)
		want   []int // the sizes that Apply was called with, before the installation ends
	}{
		"Generation": {"a new spec ends the old installation", []ctrlx.Option{ctrlx.WithInterrupt(byGeneration)}, resized, []int{1, 7}},
		"Retry":      {"a user asks to begin again", []ctrlx.Option{ctrlx.WithInterrupt(byRetry)}, asked, []int{1, 1}},
		"Other":      {"the change is none that the function names", []ctrlx.Option{ctrlx.WithInterrupt(byRetry)}, resized, []int{1}},
		"Panics":     {"a function that panics interrupts nothing", []ctrlx.Option{ctrlx.WithInterrupt(func(_, _ *testv1.Database) bool { panic("x") })}, resized, []int{1}},
		"Without":    {"nothing interrupts a pass without the option", nil, resized, []int{1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			i := newInstallation()
			o.start(ctrlx.New("Database", flow.Operations[*testv1.Database]{Apply: i.apply}, extensions{}, append(tc.opts, ctrlx.WithPollInterval(time.Hour), two)...))
			d := o.database("db", "")
			i.steps <- "begun"
			if err := <-i.reported; err != nil {
				t.Fatal(err)
			}
			get(t, d)
			tc.change(d)
			if err := api.Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if len(tc.want) > 1 {
				o.eventually(tc.reason, func() bool { return len(i.sizes()) >= len(tc.want) })
			} else { // the event of a later object shows that the event of this one was handled
				later := o.database("later", "")
				o.eventually("the later object has a pass", func() bool { return len(i.sizes()) == 2 })
				tc.want = append(tc.want, later.Spec.Size)
			}
			if diff := cmp.Diff(tc.want, i.sizes()); diff != "" {
				t.Errorf("%s: the sizes (-want, +got):\n%s", tc.reason, diff)
			}
			close(i.steps)
			o.until("db", "True Succeeded")
		})
	}
}

// The function of WithInterrupt runs without the lock of the passes under way: while it
// hangs, other passes begin and end.
func TestInterruptWithoutLock(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	asked, locked := 0, false
	var r *ctrlx.Reconciler[*App]
	r = d.reconciler(flow.Extensions[*App]{}, ctrlx.WithInterrupt(func(_, _ *App) bool {
		asked++
		locked = ctrlx.InterrupterLocked(r)
		return true
	}))
	d.apply = func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		now := req.Resource.DeepCopyObject().(*App)
		now.ResourceVersion += "0"
		ctrlx.Interrupts(r, now)
		if ctx.Err() == nil {
			t.Error("the pass is not interrupted")
		}
		return flow.Done(), nil
	}
	d.use(r)
	d.pass()
	if asked != 1 || locked {
		t.Errorf("the function is called %d times, and the lock is held: %t", asked, locked)
	}
}
