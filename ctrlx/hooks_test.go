package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// hooked is a reconciler with links of the user's and two hooks at each place, which note that they run. The hook named by
// fails gives an error.
func (d *harness) hooked(fails *string) *ctrlx.Reconciler[*App] {
	hook := func(name string) ctrlx.HookFunc[*App] {
		return func(_ context.Context, c client.Client, a *App) error {
			d.note("%s", name)
			if c != d.manager.GetClient() || a.Name != "a" {
				d.t.Errorf("%s is called with %v and %v", name, c, a)
			}
			switch {
			case name == *fails && d.hookFails != nil:
				return d.hookFails
			case name == *fails:
				return ctrlx.NewRetriableError(fmt.Errorf("%s failed", name), nil)
			}
			return nil
		}
	}
	check := func(name string) checks.Chain[*App] {
		return chain.New(checks.Check(name, func(context.Context, *checks.Request[*App]) (checks.Result, error) {
			d.note("%s", name)
			if name == *fails {
				return checks.Block("Held", "the object is held"), nil
			}
			return checks.Proceed(), nil
		}))
	}
	around := chain.Named("around", func(next flow.Handler[*App]) flow.Handler[*App] {
		return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			p, err := next(ctx, req)
			d.note("around")
			return p, err
		}
	})
	return d.reconciler(flow.Extensions[*App]{
		Pass: chain.New(d.noting("pass")), PreCheck: check("pre check"), PostCheck: check("post check"), DeleteCheck: check("delete check"),
		Delete: chain.New(around),
	}).
		WithPostDeleteHook(hook("post-delete 1")).WithPostDeleteHook(hook("post-delete 2")).
		WithPreDeleteHook(hook("pre-delete 1")).WithPreDeleteHook(hook("pre-delete 2")).
		WithPostReconcileHook(hook("post-reconcile 1")).WithPostReconcileHook(hook("post-reconcile 2")).
		WithPreReconcileHook(hook("pre-reconcile 1")).WithPreReconcileHook(hook("pre-reconcile 2")).
		WithPostReadHook(hook("post-read 1")).WithPostReadHook(hook("post-read 2"))
}

// Hooks run at their places, in the order in which they were added.
func TestHookPlaces(t *testing.T) {
	const reads = "pass, post-read 1, post-read 2, "
	cases := map[string]struct {
		reason string
		fails  string
		do     func(*harness)
		asked  string
		says   string
	}{
		"Create": {"all checks and hooks of a creation", "", func(*harness) {}, reads +
			"pre check, pre-reconcile 1, pre-reconcile 2, apply, post check, post-reconcile 1, post-reconcile 2", "True Succeeded"},
		"InSync": {"also where there is nothing to apply, and so no PreCheck", "", func(d *harness) { d.insync = true }, reads +
			"pre-reconcile 1, pre-reconcile 2, post check, post-reconcile 1, post-reconcile 2", "True Succeeded"},
		"InSyncAbsent": {"an InSync does not count for an absent resource", "", func(d *harness) { d.insync, d.absent = true, true }, reads +
			"pre check, pre-reconcile 1, pre-reconcile 2, apply, post check, post-reconcile 1, post-reconcile 2", "True Succeeded"},
		"Begun": {"what is not done is not reconciled", "", goesOn, reads + "pre check, pre-reconcile 1, pre-reconcile 2, apply", "False InProgress Reconciling Processing"},
		"Polled": {"while an operation is under way that is all that is asked", "", func(d *harness) {
			goesOn(d)
			d.pass()
			d.took()
		}, reads + "poll token", "False InProgress Reconciling Processing"},
		"PolledDone": {"and when it is done, the checks and hooks after it", "", func(d *harness) {
			goesOn(d)
			d.pass()
			d.took()
			done(d)
		}, reads + "poll token, post check, post-reconcile 1, post-reconcile 2", "True Succeeded"},
		"PreCheckBlocks":  {"nothing runs after a check that blocks", "pre check", func(*harness) {}, reads + "pre check", "False Held Reconciling"},
		"PostCheckBlocks": {"nothing runs after a check that blocks", "post check", func(*harness) {}, reads + "pre check, pre-reconcile 1, pre-reconcile 2, apply, post check", "False Held Reconciling Processing"},
		"PostReadFails":   {"nothing runs after a hook that fails", "post-read 1", func(*harness) {}, "pass, post-read 1", "False Retrying Reconciling"},
		"PreReconcileFails": {"nothing runs after a hook that fails", "pre-reconcile 1", func(*harness) {}, reads +
			"pre check, pre-reconcile 1", "False Retrying Reconciling"},
		"PostReconcileFails": {"it is not ready then", "post-reconcile 1", func(*harness) {}, reads +
			"pre check, pre-reconcile 1, pre-reconcile 2, apply, post check, post-reconcile 1", "False Retrying Reconciling"},
		"PostReconcileFailsAgain": {"and is asked again, although there is nothing to apply any more", "post-reconcile 1", func(d *harness) {
			d.pass()
			d.took()
			d.insync = true
		}, reads + "pre-reconcile 1, pre-reconcile 2, post check, post-reconcile 1", "False Retrying Reconciling"},
		"InSyncPreReconcileFails": {"an object is not ready after an error of its hook", "pre-reconcile 1", func(d *harness) { d.insync = true },
			reads + "pre-reconcile 1", "False Retrying Reconciling"},
		"DeleteInSync": {"the hooks of a reconciliation do not run", "", func(d *harness) { d.insync = true; deleted(d) }, reads +
			"pre-delete 1, pre-delete 2, delete check, delete, around, post-delete 1, post-delete 2", "gone"},
		"Delete": {"all that belong to the end", "", deleted, reads +
			"pre-delete 1, pre-delete 2, delete check, delete, around, post-delete 1, post-delete 2", "gone"},
		"DeleteCheckBlocks": {"who is asked first runs although it is blocked", "delete check", deleted, reads +
			"pre-delete 1, pre-delete 2, delete check", "False Held Reconciling"},
		"PreDeleteFails": {"nothing runs after a hook that fails", "pre-delete 1", deleted, reads + "pre-delete 1", "False Retrying Reconciling"},
		"DeleteBegun":    {"what is not done is not gone", "", func(d *harness) { d.remove = inProgress(d); deleted(d) }, reads + "pre-delete 1, pre-delete 2, delete check, delete, around", "False Deleting Reconciling"},
		"DeletePolled": {"while a deletion is under way that is all that is asked", "", func(d *harness) {
			d.remove = inProgress(d)
			deleted(d)
			d.pass()
			d.took()
			d.remove = nil
		}, reads + "poll token, around, post-delete 1, post-delete 2", "gone"},
		"PostDeleteFails": {"the finalizer stays", "post-delete 1", deleted, reads +
			"pre-delete 1, pre-delete 2, delete check, delete, around, post-delete 1", "False Retrying Reconciling"},
		"PostDeleteFailsAgain": {"and all of it is done again", "post-delete 2", func(d *harness) { deleted(d); d.pass(); d.took() }, reads +
			"pre-delete 1, pre-delete 2, delete check, delete, around, post-delete 1, post-delete 2", "False Retrying Reconciling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.hooked(&tc.fails))
			tc.do(d)
			d.pass()
			same(t, tc.reason, tc.asked, d.took())
			same(t, tc.reason, tc.says, d.saysOrGone())
		})
	}
}

func deleted(d *harness) { d.delete(d.read()) }

func (d *harness) saysOrGone() string {
	if err := d.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "a"}, &App{}); err != nil {
		return "gone"
	}
	return d.says()
}

// An error without a code has one reason, whatever the place of the hook. A code of the
// error is its reason.
func TestReasonOfHooks(t *testing.T) {
	errs := map[string]struct {
		reason, want string
		err          error
	}{
		"Plain":     {"it has no code", ctrlx.ReasonHookFailed, errors.New("no route")},
		"Joined":    {"none of them has a code", ctrlx.ReasonHookFailed, errors.Join(errors.New("a"), errors.New("b"))},
		"Code":      {"the API server has a word for it", "Forbidden", apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "a", errors.New("no"))},
		"Retriable": {"it carries a reason", "Busy", ctrlx.NewRetriableError(errors.New("later"), nil).WithReason("Busy")},
	}
	for place, deletes := range map[string]bool{
		"post-read 1": false, "pre-reconcile 1": false, "post-reconcile 1": false, "pre-delete 1": true, "post-delete 1": true,
	} {
		for name, tc := range errs {
			d := newHarness(t, anApp(AppSpec{}))
			d.hookFails = tc.err
			d.use(d.hooked(&place))
			if deletes {
				deleted(d)
			}
			d.pass()
			ready := meta.FindStatusCondition(d.read().Status.Conditions, "Ready")
			if ready == nil || ready.Reason != tc.want {
				t.Errorf("%s: %s: %s: got %+v, want %s", place, name, tc.reason, ready, tc.want)
			}
		}
	}
}

// func1 has the name of a closure.
func func1(context.Context, client.Client, *App) error { return nil }

// Hooks are listed where they run.
func TestHooksAreListed(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	r := d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(d.checked("mine")), DeleteCheck: chain.New(d.checked("mine"))}).
		WithPostReadHook(func1).WithPreReconcileHook(func1).WithPostReconcileHook(func1).WithPreDeleteHook(func1).WithPostDeleteHook(func1)
	ext := r.Flow().Extensions()
	got := strings.Join([]string{ext.Pass.String(), ext.PreCheck.String(), ext.PostCheck.String(), ext.DeleteCheck.String(), ext.Delete.String()}, "\n")
	want := strings.ReplaceAll(`Suspended -> PostReadHook(F)
mine -> PreReconcileHook(F)
QuietRestart -> PostReconcileHook(F)
PreDeleteHook(F) -> mine
PostDeleteHook(F)`, "F", "ctrlx_test.func1")
	same(t, "the hooks at their points", want, got)
	method := d.reconciler(flow.Extensions[*App]{}).WithPreReconcileHook(d.hook)
	same(t, "a method", "PreReconcileHook(ctrlx_test.(*harness).hook)", method.Flow().Extensions().PreCheck.String())
	closure := d.reconciler(flow.Extensions[*App]{}).WithPreReconcileHook(hookThat(nil))
	same(t, "a closure", "PreReconcileHook(ctrlx_test.hookThat)", closure.Flow().Extensions().PreCheck.String())
	inlined := d.reconciler(flow.Extensions[*App]{}).WithPreReconcileHook(hookInlined(nil))
	same(t, "a closure in a function that the compiler inlines", "PreReconcileHook(ctrlx_test.hookInlined)", inlined.Flow().Extensions().PreCheck.String())
}

func hookInlined(err error) ctrlx.HookFunc[*App] {
	return func(context.Context, client.Client, *App) error { return err }
}

//go:noinline
func hookThat(err error) ctrlx.HookFunc[*App] {
	return func(context.Context, client.Client, *App) error { return err }
}

func (d *harness) hook(context.Context, client.Client, *App) error { return nil }

func (d *harness) checked(name string) checks.Middleware[*App] {
	return checks.Check(name, func(context.Context, *checks.Request[*App]) (checks.Result, error) { return checks.Proceed(), nil })
}

// Observers of the user stay on the checks and links that hooks are put before.
func TestHooksKeepObservers(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	noted := chain.New(d.checked("mine")).Observe(entered{d})
	d.use(d.reconciler(flow.Extensions[*App]{DeleteCheck: noted}).WithPreDeleteHook(func1))
	deleted(d)
	d.pass()
	same(t, "the links that run", "entered PreDeleteHook(ctrlx_test.func1), entered mine, delete", d.took())
	twice := chain.New(d.checked("mine"), d.checked("mine")).Observe(entered{d})
	hooked := d.reconciler(flow.Extensions[*App]{DeleteCheck: twice}).WithPreDeleteHook(func1)
	same(t, "links of one name", "PreDeleteHook(ctrlx_test.func1) -> mine -> mine", hooked.Flow().Extensions().DeleteCheck.String())
}

// entered notes the links that run.
type entered struct{ *harness }

func (entered) Enabled(context.Context) bool { return true }
func (e entered) Enter(ctx context.Context, l *chain.Link) context.Context {
	e.note("entered %s", l.Name)
	return ctx
}
func (entered) Exit(context.Context, *chain.Link, chain.Exit) {}

// Hooks on delete need a finalizer, also where nothing else does.
func TestDeleteHookWithoutDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		add    func(*ctrlx.Reconciler[*App], ctrlx.HookFunc[*App])
		want   []string
	}{
		"None":       {"nothing deletes, so nothing would remove a finalizer", func(r *ctrlx.Reconciler[*App], _ ctrlx.HookFunc[*App]) { r.WithPreReconcileHook(func1) }, nil},
		"PreDelete":  {"it has to run", func(r *ctrlx.Reconciler[*App], h ctrlx.HookFunc[*App]) { r.WithPreDeleteHook(h) }, []string{ctrlx.Finalizer}},
		"PostDelete": {"it has to run", func(r *ctrlx.Reconciler[*App], h ctrlx.HookFunc[*App]) { r.WithPostDeleteHook(h) }, []string{ctrlx.Finalizer}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := anApp(AppSpec{})
			a.Finalizers = nil
			d := newHarness(t, a)
			r := ctrlx.New("App", flow.Operations[*App]{Apply: func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }},
				flow.Extensions[*App]{}, d.clock()...)
			tc.add(r, func(ctxt, client.Client, *App) error { d.note("hook"); return nil })
			d.use(r)
			d.pass()
			same(t, tc.reason, tc.want, d.read().Finalizers)
			deleted(d)
			d.pass()
			if got := d.saysOrGone(); got != "gone" || len(d.asked) != len(tc.want) {
				t.Errorf("%s: it is %s, and there ran %q", tc.reason, got, d.asked)
			}
		})
	}
}

// A hook that cannot be added panics, and says why.
func TestHookPanics(t *testing.T) {
	type add = func(*ctrlx.Reconciler[*App], ctrlx.HookFunc[*App]) *ctrlx.Reconciler[*App]
	cases := map[string]add{
		"PostReadHook": (*ctrlx.Reconciler[*App]).WithPostReadHook, "PreReconcileHook": (*ctrlx.Reconciler[*App]).WithPreReconcileHook,
		"PostReconcileHook": (*ctrlx.Reconciler[*App]).WithPostReconcileHook, "PreDeleteHook": (*ctrlx.Reconciler[*App]).WithPreDeleteHook,
		"PostDeleteHook": (*ctrlx.Reconciler[*App]).WithPostDeleteHook,
	}
	for name, add := range cases {
		d := newHarness(t, anApp(AppSpec{}))
		r := d.reconciler(flow.Extensions[*App]{})
		panicsWith(t, "ctrlx: With"+name+": App: the hook is nil", func() { add(r, nil) })
		d.use(r)
		panicsWith(t, "ctrlx: With"+name+": App was set up already", func() { add(r, func1) })
	}
}

func panicsWith(t *testing.T, want string, do func()) {
	t.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("it panics with %q, not %q", got, want)
		}
	}()
	do()
}
