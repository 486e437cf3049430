package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

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
		ext     func(*harness) flow.Extensions[*App]
		says    string
		message string
		asked   string // in two passes
		delays  [2]time.Duration
	}{
		"Apply": {
			reason: "an operation that hangs", do: func(d *harness) { d.apply = hangs },
			says: timedOut, message: "applying failed: " + message("Apply", "PUT: context deadline exceeded"), asked: "apply, apply", delays: [2]time.Duration{time.Second, 2 * time.Second},
		},
		"Check": {
			reason: "a check that hangs", do: done,
			ext: func(d *harness) flow.Extensions[*App] {
				return flow.Extensions[*App]{PreCheck: chain.New(checks.Check("quota", func(ctx ctxt, _ *checks.Request[*App]) (checks.Result, error) {
					<-ctx.Done()
					return checks.Result{}, ctx.Err()
				}))}
			},
			says: timedOut, message: "check quota failed: " + message("PreCheck", "context deadline exceeded"), delays: [2]time.Duration{time.Second, 2 * time.Second},
		},
		"Answer": {
			reason: "the service answered after all", do: func(d *harness) { d.apply = returnsLate(flow.Progress{}, &cloudError{"QuotaExceeded", 409}) },
			says: "False QuotaExceeded Reconciling", message: "applying failed: refused: QuotaExceeded", asked: "apply, apply", delays: [2]time.Duration{time.Second, 2 * time.Second},
		},
		"Started": {
			reason: "the operation started after all", do: func(d *harness) { d.apply = returnsLate(flow.InProgress("late", time.Minute), nil) },
			says: "False InProgress Reconciling Processing", message: "the operation is under way in the cloud", asked: "apply, poll late", delays: [2]time.Duration{time.Minute, time.Minute},
		},
		"Done": {
			reason: "the operation ended after all", do: func(d *harness) { d.apply = returnsLate(flow.Done(), nil) },
			says: "True Succeeded", asked: "apply, apply", delays: [2]time.Duration{time.Hour, time.Hour},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newHarness(t, anApp(AppSpec{Timeout: minutes(100)}))
				var ext flow.Extensions[*App]
				if tc.ext != nil {
					ext = tc.ext(d)
				}
				tc.do(d)
				pass := d.limited(d.reconciler(ext), 0)
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

// A manager that stops cancels the pass: nothing failed, so nothing is written.
func TestPassTimeoutIsNoStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		ctx, stop := context.WithCancel(t.Context())
		d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
			stop()
			<-ctx.Done()
			return flow.Progress{}, ctx.Err()
		}
		if _, err := d.limited(d.reconciler(flow.Extensions[*App]{}), 0)(ctx); err != nil || d.writes != 0 || d.says() != "nothing" {
			t.Errorf("%d writes, it says %q: %v", d.writes, d.says(), err)
		}
	})
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
