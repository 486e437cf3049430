package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// step is an event and the conditions after the next pass.
type step struct {
	do    func(*harness)
	says  string        // as harness.says
	after time.Duration // until the next pass
}

// through takes the App through steps, each with a pass.
func (d *harness) through(reason string, steps []step) {
	d.t.Helper()
	for i, s := range steps {
		s.do(d)
		after := d.pass()
		if got := d.says(); got != s.says || after != s.after {
			d.t.Fatalf("%s: step %d: it says %q and is requeued after %s, not %q after %s", reason, i, got, after, s.says, s.after)
		}
	}
}

func inProgress(*harness) func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
	return func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
		return flow.InProgress("token", time.Minute), nil
	}
}

func goesOn(d *harness)              { d.apply = inProgress(d) }
func done(d *harness)                { d.apply = nil }
func fails(err error) func(*harness) { return func(d *harness) { d.apply = failure(err) } }

func failure(err error) func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
	return func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Progress{}, err }
}

func later(by time.Duration, and ...func(*harness)) func(*harness) {
	return func(d *harness) {
		d.now = d.now.Add(by)
		for _, do := range and {
			do(d)
		}
	}
}

// The outcome of a pass depends on the time for which the object has not been ready.
func TestTimeout(t *testing.T) {
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Minute))
	start := step{goesOn, "False InProgress Reconciling Processing", time.Minute}
	cases := map[string]struct {
		reason string
		spec   AppSpec
		steps  []step
	}{
		"ReadyLate": {"what becomes ready after all is ready, and the next time-out is a new one", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(10 * time.Minute), "False Timeout Stalled Processing", time.Minute},
			{done, "True Succeeded", time.Hour},
			{later(time.Hour, goesOn), "False InProgress Reconciling Processing", time.Minute},
			{later(9 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
		}},
		"NewSpec": {"a change of the spec starts the clock again", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(9*time.Minute, func(d *harness) { d.change(func(a *App) { a.Spec.User = "x" }) }), "False InProgress Reconciling Processing", time.Minute},
			{later(9 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
			{later(time.Minute), "False Timeout Stalled Processing", time.Minute},
		}},
		"Annotation": {"so does an annotation, but for ours", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(9*time.Minute, annotate("a", "b")), "False InProgress Reconciling Processing", time.Minute},
			{later(9 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
			{later(time.Minute), "False Timeout Stalled Processing", time.Minute},
			{annotate("a", "c"), "False InProgress Reconciling Processing", time.Minute},
		}},
		"ApplySet": {"those of an ApplySet do not, because they change with the dependents", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(10*time.Minute, annotate("applyset.kubernetes.io/contains-group-kinds", "Secret")), "False Timeout Stalled Processing", time.Minute},
		}},
		"Label": {"a label does not", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(10*time.Minute, inApp(func(a *App) { a.Labels = map[string]string{"a": "b"} })), "False Timeout Stalled Processing", time.Minute},
		}},
		"Owner": {"a change of an object that was read starts it again", AppSpec{Timeout: minutes(10), Cluster: "c"}, []step{
			start,
			{later(9*time.Minute, resize), "False InProgress Reconciling Processing", time.Minute},
			{later(9 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
			{later(time.Minute), "False Timeout Stalled Processing", time.Minute},
		}},
		"OwnerWritten": {"an owner that was written without a difference has not changed", AppSpec{Timeout: minutes(10), Cluster: "c"}, []step{
			start,
			{later(10*time.Minute, func(d *harness) { d.update(d.cluster()) }), "False Timeout Stalled Processing", time.Minute},
		}},
		"Polled": {"a pass that polls reads no references, which is no change of them", AppSpec{Timeout: minutes(10), User: "c"}, []step{
			start,
			{later(10 * time.Minute), "False Timeout Stalled Processing", time.Minute},
		}},
		"PolledAndChanged": {"nor are they forgotten meanwhile", AppSpec{Timeout: minutes(10), User: "c"}, []step{
			start,
			{later(5 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
			{later(4*time.Minute, resize, (*harness).forgetToken), "False InProgress Reconciling Processing", time.Minute},
			{later(9 * time.Minute), "False InProgress Reconciling Processing", time.Minute},
			{later(time.Minute), "False Timeout Stalled Processing", time.Minute},
		}},
		"OwnerGone": {"so does its end; what then blocks keeps its own reason", AppSpec{Timeout: minutes(10), Cluster: "c"}, []step{
			start,
			{later(5*time.Minute, func(d *harness) { d.delete(d.cluster()); d.forgetToken() }), "False OwnerNotFound Reconciling", time.Hour},
			{later(time.Hour), "False OwnerNotFound Reconciling", time.Hour},
		}},
		"Deleting": {"there is no time-out of a deletion", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(time.Hour, func(d *harness) { d.forgetToken(); d.remove = inProgress(d); d.delete(d.read()) }), "False Deleting Reconciling", time.Minute},
			{later(time.Hour), "False Deleting Reconciling", time.Minute},
		}},
		"DeletingByUser": {"nor of one that Operations.Deleting reports", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(time.Hour, func(d *harness) { d.forgetToken(); d.remove, d.deletes = inProgress(d), true }), "False Deleting Reconciling", time.Minute},
			{func(d *harness) { d.forgetToken(); d.block = flow.PointDeleteCheck }, "False Held Reconciling", time.Second},
		}},
		"DeletionHeld": {"nor while it is held", AppSpec{Timeout: minutes(10)}, []step{start,
			{later(time.Hour, func(d *harness) { d.forgetToken(); d.block = flow.PointDeleteCheck; d.delete(d.read()) }), "False Held Reconciling", time.Second}}},
		"DeletionRetried": {"a retriable error of a deletion sets the delay", AppSpec{Timeout: minutes(10)}, []step{
			{func(d *harness) { d.remove = failure(retriable); d.delete(d.read()) }, "False Retrying Reconciling", 3 * time.Minute},
		}},
		"DeletionFails": {"any other error of a deletion has its own reason", AppSpec{Timeout: minutes(10)}, []step{
			{func(d *harness) { d.remove = failure(errBroken); d.delete(d.read()) }, "False Unknown Reconciling", time.Second},
		}},
		"Suspended": {"who is suspended says so; resuming is a change", AppSpec{Timeout: minutes(10)}, []step{
			start,
			{later(time.Minute, suspend(true)), "False Suspended Paused", time.Hour},
			{later(time.Hour, suspend(false)), "False InProgress Reconciling Processing", time.Minute},
		}},
		"Requeue": {"without a time-out of its own it is the requeue interval", AppSpec{Requeue: minutes(5)}, []step{start, {later(5 * time.Minute), "False Timeout Stalled Processing", time.Minute}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(tc.spec), aCluster())
			d.use(d.reconciler(d.held()))
			d.through(tc.reason, tc.steps)
		})
		t.Run(name+"/Restarts", func(t *testing.T) {
			d := newHarness(t, anApp(tc.spec), aCluster())
			for i, s := range tc.steps {
				d.restart()
				d.use(d.reconciler(d.held()))
				s.do(d)
				d.pass()
				if got := d.says(); got != s.says {
					t.Fatalf("%s: step %d: it says %q, not %q, where each pass is one of a new process", tc.reason, i, got, s.says)
				}
				writes := d.writes
				d.pass()
				if d.writes != writes {
					t.Errorf("step %d: a second pass writes what is there already: %+v", i, d.read().Status)
				}
			}
		})
	}
}

// The clock may begin with the first pass that does not end Ready: errors before anything was applied are a time-out.
func TestTimeoutFromStart(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{Timeout: minutes(10)}), aCluster())
	d.use(d.reconciler(d.held(), ctrlx.WithTimeoutFromStart()))
	d.through("an error starts the clock", []step{
		{fails(errBroken), "False Unknown Reconciling Processing", time.Second},
		{later(10 * time.Minute), "False Timeout Stalled Processing", 2 * time.Second},
		{done, "True Succeeded", time.Hour},
		{later(time.Hour, fails(ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Minute))), suspend(false)), "False Retrying Reconciling Processing", 3 * time.Minute},
		{later(10 * time.Minute), "False Timeout Reconciling Processing", 3 * time.Minute},
	})
}

// held returns extensions with checks that block at d.block.
func (d *harness) held() flow.Extensions[*App] {
	at := func(point string) checks.Middleware[*App] {
		return checks.Check("held", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
			if d.block == point {
				return checks.Block("Held", "the object is held"), nil
			}
			return checks.Proceed(), nil
		})
	}
	return flow.Extensions[*App]{
		OwnerCheck: chain.New(checks.OwnerReady()),
		PreCheck: chain.New(at(flow.PointPreCheck), checks.ReferenceReady("user", func(a *App) []checks.Ref {
			if a.Spec.User != "c" {
				return nil
			}
			return []checks.Ref{{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"}}
		})),
		PostCheck:   chain.New(at(flow.PointPostCheck)),
		DeleteCheck: chain.New(at(flow.PointDeleteCheck)),
	}
}

func suspend(yes bool) func(*harness) {
	return func(d *harness) { d.change(func(a *App) { a.Spec.Suspended = yes }) }
}

func annotate(key, value string) func(*harness) {
	return func(d *harness) {
		a := d.read()
		if a.Annotations == nil {
			a.Annotations = map[string]string{}
		}
		a.Annotations[key] = value
		d.update(a)
	}
}

func (d *harness) update(obj client.Object) {
	d.t.Helper()
	must(d.t, d.api.Update(context.Background(), obj))
}

// updateAll updates an object and its status.
func (d *harness) updateAll(obj client.Object) {
	d.t.Helper()
	whole := obj.DeepCopyObject().(client.Object)
	d.update(obj)
	whole.SetResourceVersion(obj.GetResourceVersion())
	must(d.t, d.api.Status().Update(context.Background(), whole))
}

func (d *harness) delete(obj client.Object) {
	d.t.Helper()
	must(d.t, d.api.Delete(context.Background(), obj))
}

// forgetToken takes the operation under way away, so that the next pass is a whole one.
func (d *harness) forgetToken() {
	d.recorded(operating(""))
}

func (d *harness) cluster() *testv1.Cluster {
	d.t.Helper()
	c := &testv1.Cluster{}
	must(d.t, d.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "c"}, c))
	return c
}

// resize changes the Cluster.
func resize(d *harness) {
	c := d.cluster()
	c.Spec.Size++
	c.Generation++
	c.Status.Conditions[0].ObservedGeneration++
	d.updateAll(c)
}

// A Ready object is requeued after its requeue interval.
func TestRequeue(t *testing.T) {
	forever := time.Duration(1<<63 - 1)
	cases := map[string]struct {
		reason  string
		requeue time.Duration
		random  float64
		want    time.Duration
	}{
		"Given":    {"the object sets it", 20 * time.Minute, 0, 20 * time.Minute},
		"Longer":   {"or up to 5 % more, and never less", 20 * time.Minute, 0.5, 20*time.Minute + 30*time.Second},
		"Zero":     {"the resync", 0, 0.5, time.Hour},
		"Negative": {"the requeue would be lost", -time.Minute, 0.5, time.Hour},
		"Short":    {"users write it, and each pass may call the cloud", 1, 0, time.Second},
		"Forever":  {"nothing overflows", forever, 1, forever/4 + time.Duration(float64(forever/4)*0.05)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Requeue: metav1.Duration{Duration: tc.requeue}}))
			d.random = tc.random
			d.use(d.reconciler(flow.Extensions[*App]{}))
			if got := d.pass(); got != tc.want || d.says() != "True Succeeded" {
				t.Errorf("%s: it is requeued after %s, not %s", tc.reason, got, tc.want)
			}
		})
	}
	same(t, "the default of a time-out has no jitter", time.Hour, ctrlx.ResyncOf(ctrlx.New("Database", databases{Apply: put}, extensions{})))
}

// A waiter of watched objects is woken. Without an event, it is requeued after the
// requeue interval.
func TestRequeueWhileWaiting(t *testing.T) {
	cluster := checks.WithWaitingFor(clusterOfApp(anApp(AppSpec{Cluster: "c"})))
	owner, final := checks.Block("Waits", "", cluster), checks.Block("Waits", "", cluster, checks.WithRetry(classify.Never))
	self := checks.Block("Waits", "", checks.WithWaitingForSelf())
	ignored := checks.Ignore("", checks.WithWaitingFor(checks.Ref{Group: "gone.example.com", Kind: "Plan", Name: "p"}), checks.WithAfter(5*time.Minute))
	const waits = "False Waits Reconciling"
	cases := map[string]struct {
		reason  string
		res     checks.Result
		requeue int
		want    time.Duration
		says    string
	}{
		"Given":   {"its own interval", owner, 10, 10 * time.Minute, waits},
		"None":    {"the resync", owner, 0, time.Hour, waits},
		"Self":    {"an object that waits for itself is woken by an event, too", self, 0, time.Hour, waits},
		"Final":   {"no pass changes it", final, 10, 0, "False Waits Stalled"},
		"Ignored": {"no event wakes it, and the check asks for a delay", ignored, 10, 5 * time.Minute, "nothing"},
		"Asked":   {"its check asks for a delay", checks.Block("Waits", "", cluster, checks.WithAfter(5*time.Minute)), 10, 5 * time.Minute, waits},
		"Woken":   {"an event wakes it", checks.Ignore("", cluster), 10, 0, "nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{Requeue: minutes(tc.requeue)}))
			d.use(d.reconciler(checking(flow.PointPreCheck, answers(&tc.res))))
			for range 2 {
				if got := d.pass(); got != tc.want || d.says() != tc.says {
					t.Errorf("%s: it says %q and is requeued after %s, not %s", tc.reason, d.says(), got, tc.want)
				}
			}
		})
	}
}

// limited sets up r, and returns a pass as controller-runtime runs it, with its deadline.
func (d *harness) limited(r *ctrlx.Reconciler[*App], limit time.Duration) (pass func(context.Context) (time.Duration, error)) {
	d.t.Helper()
	d.bounded, d.manager.limit = true, limit
	d.use(r)
	i := slices.IndexFunc(d.manager.added, func(r manager.Runnable) bool { _, ok := r.(reconcile.Reconciler); return ok })
	controller := d.manager.added[i].(reconcile.Reconciler)
	return func(ctx context.Context) (time.Duration, error) {
		res, err := controller.Reconcile(ctx, reconcile.Request{NamespacedName: named("a")})
		return res.RequeueAfter, err
	}
}

// A pass that hangs ends at its deadline. It says where it stopped, and is
// retried. Nothing that it has found out is lost.
func TestPassTimeout(t *testing.T) {
	hangs := func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
		<-ctx.Done()
		return flow.Progress{}, fmt.Errorf("PUT: %w", ctx.Err())
	}
	returnsLate := func(p flow.Progress, err error) func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
		return func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
			<-ctx.Done()
			return p, err
		}
	}
	const timedOut = "False PassTimeout Reconciling"
	message := func(stopped, cause string) string {
		return "the pass did not end within 10m0s and stopped at " + stopped + "; make the call shorter, return flow.InProgress for a long operation, " +
			"or raise the limit (ctrlx.WithPassTimeout): " + cause
	}
	cases := map[string]struct {
		reason  string
		do      func(*harness)
		ext     flow.Extensions[*App]
		says    string
		message string
		asked   string // in two passes
		delays  [2]time.Duration
	}{
		"Apply": {reason: "an operation that hangs", do: func(d *harness) { d.apply = hangs }, says: timedOut,
			message: "applying failed: " + message("Apply", "PUT: context deadline exceeded"), asked: "apply, apply", delays: [2]time.Duration{time.Second, 2 * time.Second}},
		"Check": {reason: "a check that hangs", do: done,
			ext: checking(flow.PointPreCheck, func(ctx ctxt, _ *checks.Request[*App]) (checks.Result, error) {
				<-ctx.Done()
				return checks.Result{}, ctx.Err()
			}), says: timedOut, message: "check check failed: " + message("PreCheck", "context deadline exceeded"), delays: [2]time.Duration{time.Second, 2 * time.Second}},
		"Answer": {reason: "the service answered after all", do: func(d *harness) { d.apply = returnsLate(flow.Progress{}, &cloudError{"QuotaExceeded", 409}) },
			says: "False QuotaExceeded Reconciling", message: "applying failed: refused: QuotaExceeded", asked: "apply, apply", delays: [2]time.Duration{time.Second, 2 * time.Second}},
		"Started": {reason: "the operation started after all", do: func(d *harness) { d.apply = returnsLate(flow.InProgress("late", time.Minute), nil) },
			says: "False InProgress Reconciling Processing", message: "the operation is under way in the cloud", asked: "apply, poll late", delays: [2]time.Duration{time.Minute, time.Minute}},
		"Done": {reason: "the operation ended after all", do: func(d *harness) { d.apply = returnsLate(flow.Done(), nil) },
			says: "True Succeeded", asked: "apply, apply", delays: [2]time.Duration{time.Hour, time.Hour}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newHarness(t, anApp(AppSpec{Timeout: minutes(100)}))
				tc.do(d)
				pass := d.limited(d.reconciler(tc.ext), 0)
				for i, delay := range tc.delays {
					began := time.Now()
					after, err := pass(t.Context())
					if err != nil || after != delay {
						t.Errorf("%s: pass %d: it is requeued after %s, want %s: %v", tc.reason, i+1, after, delay, err)
					}
					if took := time.Since(began); took != 10*time.Minute {
						t.Errorf("%s: pass %d took %s", tc.reason, i+1, took)
					}
				}
				if d.says() != tc.says || d.message() != tc.message || d.took() != tc.asked {
					t.Errorf("%s: it says %q: %s; asked: %q", tc.reason, d.says(), d.message(), d.took())
				}
			})
		})
	}
}

// A deletion that ends after the deadline still removes the finalizer.
func TestPassTimeoutOfADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		d.remove = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
			<-ctx.Done()
			return flow.Done(), nil
		}
		d.delete(d.read())
		if after, err := d.limited(d.reconciler(flow.Extensions[*App]{}), 0)(t.Context()); err != nil || after != 0 {
			t.Errorf("it is requeued after %s: %v", after, err)
		}
		if err := d.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &App{}); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("the object is still there: %v", err)
		}
	})
}

// A manager that stops cancels the pass: nothing failed, so nothing is written, whatever the error of the operation.
func TestPassTimeoutIsNoStop(t *testing.T) {
	for name, of := range map[string]func(error) error{
		"Error": func(err error) error { return err }, "Retriable": func(err error) error { return ctrlx.NewRetriableError(err, nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			ctx, stop := context.WithCancel(t.Context())
			d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
				stop()
				<-ctx.Done()
				return flow.Progress{}, of(ctx.Err())
			}
			after, err := d.limited(d.reconciler(flow.Extensions[*App]{}), 0)(ctx)
			if all := whyDocument(t, ctrlx.Why(d.manager), "").Objects; err != nil || after != 50*time.Millisecond || d.writes != 0 || d.says() != "nothing" || len(all) > 0 {
				t.Errorf("%s: %d writes, it says %q: %v; the next pass comes after %s, and the verdicts are %+v", name, d.writes, d.says(), err, after, all)
			}
		})
	}
}

// There is one deadline: that of the option, of the controller or of the
// manager, in this order.
func TestWhichPassTimeout(t *testing.T) {
	of := func(d time.Duration) ctrlx.Option {
		return ctrlx.WithController(controller.Options{ReconciliationTimeout: d})
	}
	cases := map[string]struct {
		reason  string
		opts    []ctrlx.Option
		manager time.Duration
		want    time.Duration // 0: none
	}{
		"Default":    {"a pass that hangs must not hold its worker for ever", nil, 0, 10 * time.Minute},
		"Option":     {"the option is the most specific", []ctrlx.Option{ctrlx.WithPassTimeout(time.Hour)}, time.Minute, time.Hour},
		"Controller": {"the field has the same meaning", []ctrlx.Option{of(2 * time.Hour)}, time.Minute, 2 * time.Hour},
		"Manager":    {"the default of all controllers", nil, time.Minute, time.Minute},
		"None":       {"controller-runtime takes a negative value for none", []ctrlx.Option{of(-1)}, time.Minute, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newHarness(t, anApp(AppSpec{}))
				var got time.Duration
				d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
					if at, ok := ctx.Deadline(); ok {
						got = time.Until(at)
					}
					return flow.Done(), nil
				}
				if _, err := d.limited(d.reconciler(flow.Extensions[*App]{}, tc.opts...), tc.manager)(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got != tc.want {
					t.Errorf("%s: the deadline is in %s, want %s", tc.reason, got, tc.want)
				}
			})
		})
	}
}

// A link hangs after the operation has started. The token is stored, and the
// next process polls.
func TestPassTimeoutKeepsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		goesOn(d)
		hang := chain.New(chain.Named("audit", func(next flow.Handler[*App]) flow.Handler[*App] {
			return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				_, err := next(ctx, req)
				<-ctx.Done()
				return flow.Progress{}, errors.Join(err, ctx.Err())
			}
		}))
		pass := d.limited(d.reconciler(flow.Extensions[*App]{Apply: hang}), 0)
		if _, err := pass(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.says() != "False PassTimeout Reconciling" || d.stored() == "" {
			t.Errorf("it says %q: %+v", d.says(), d.read().Status.Conditions)
		}
		d.restart()
		pass = d.limited(d.reconciler(flow.Extensions[*App]{}), 0)
		if _, err := pass(t.Context()); err != nil || d.took() != "apply, poll token" {
			t.Errorf("asked: %q: %v", d.took(), err)
		}
	})
}
