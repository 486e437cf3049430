package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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
		"NoEventOfAll": {reason: "an event of itself is not one of the other", point: flow.PointEntryCheck,
			opts: []checks.BlockOption{checks.WithWaitingFor(checks.Ref{ID: "/subscriptions/s"}), checks.WithWaitingForSelf()}, took: "check", after: time.Hour},
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
			ext := checking(tc.point, func(ctx context.Context, _ *checks.Request[*App]) (checks.Result, error) {
				d.note("check")
				ctrlx.Follow(ctx, clusterRef(1))
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
			_, follows := d.manager.cache.(*fakeCache).InformersByGVK[testv1.GroupVersion.WithKind("Cluster")]
			if d.read().ResourceVersion != version || d.writes+d.patches > 0 || len(d.reported()) > 0 || follows {
				t.Errorf("%s: it was written, or it follows a cluster (%t): %+v", tc.reason, follows, d.read())
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
	if first, then := d.pass(), d.pass(); first != 50*time.Millisecond || then != 0 {
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

// definitionOfApps is the definition of App. It sets status.observedGeneration
// of a new object to -1, so that kstatus reports the object as InProgress.
func definitionOfApps() *apiextensions.CustomResourceDefinition {
	crd := testv1.Definition("App", "apps", apiextensions.NamespaceScoped)
	anything := true
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = map[string]apiextensions.JSONSchemaProps{"status": {
		Type: "object", XPreserveUnknownFields: &anything,
		Default:    &apiextensions.JSON{Raw: []byte(`{"observedGeneration":-1}`)},
		Properties: map[string]apiextensions.JSONSchemaProps{"observedGeneration": {Type: "integer", Format: "int64"}},
	}}
	return crd
}

// kstatus returns what kstatus reports for an App.
func kstatus(t *testing.T, a *App) string {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(testv1.GroupVersion.WithKind("App"))
	res, err := status.Compute(u)
	if err != nil {
		t.Fatal(err)
	}
	return res.Status.String()
}

// kstatus reports each moment in the life of an object correctly.
func TestKstatus(t *testing.T) {
	const inProgress, current, failed = "InProgress", "Current", "Failed"
	var paused bool
	paths := flow.Extensions[*App]{
		OwnerCheck: chain.New(checks.OwnerReady()),
		PreCheck:   chain.New(checks.Paused(func(*App) bool { return paused })),
	}
	edit := func(d *harness) { d.change(func(a *App) { a.Spec.User += "x" }) }
	retried := func(err error) func(*harness) { return func(d *harness) { fails(err)(d); d.pass() } }
	cases := []struct {
		name, reason string
		do           func(*harness)
		want         string
		says         string
		observed     int64
	}{
		{"New", "the definition sets observedGeneration to -1", func(*harness) {}, inProgress, "nothing", -1},
		{"Waiting", "the owner does not exist yet", func(d *harness) { d.pass() }, inProgress, "False OwnerNotFound Reconciling", 1},
		{"InProgress", "an operation is under way", func(d *harness) { d.create(aCluster()); goesOn(d); d.pass() }, inProgress, "False InProgress Reconciling Processing", 1},
		{"Ready", "the cloud matches the spec", func(d *harness) { d.apply = nil; d.pass() }, current, "True Succeeded", 1},
		{"Edited", "the conditions are those of the older generation", edit, inProgress, "True Succeeded", 1},
		{"Retried", "a transient error is retried", retried(errBroken), inProgress, "False Unknown Reconciling", 2},
		{"Stalled", "a terminal error needs a change", retried(reconcile.TerminalError(errBroken)), failed, "False Terminal Stalled", 2},
		{"FailedAndEdited", "the failure is that of the older generation", edit, inProgress, "False Terminal Stalled", 2},
		{"Suspended", "a user suspended it, so it has not failed", func(d *harness) { d.apply = nil; suspend(true)(d); d.pass() }, inProgress, "False Suspended Paused", 4},
		{"Resumed", "the new generation is not reconciled yet", suspend(false), inProgress, "False Suspended Paused", 4},
		{"ReadyAgain", "the pass after the resumption succeeded", func(d *harness) { d.pass() }, current, "True Succeeded", 5},
		{"Paused", "a check for a paused object is no failure either", func(d *harness) { paused = true; d.pass() }, inProgress, "False Paused Paused", 5},
		{"Deleting", "a deletion is under way", func(d *harness) { paused = false; d.delete(d.read()) }, "Terminating", "False Paused Paused", 5},
	}
	a := anApp(AppSpec{Cluster: "c"})
	a.Status.ObservedGeneration = -1
	d := newHarness(t, a).with(paths)
	for _, tc := range cases {
		tc.do(d)
		got := d.read()
		if s := kstatus(t, got); s != tc.want || d.says() != tc.says || got.Status.ObservedGeneration != tc.observed {
			t.Errorf("%s: %s: kstatus reports %s, want %s; observedGeneration is %d, want %d; the conditions are %q, want %q",
				tc.name, tc.reason, s, tc.want, got.Status.ObservedGeneration, tc.observed, d.says(), tc.says)
		}
	}
}

// The API server sets -1 for a new object. The reconciler writes observedGeneration together with the conditions.
func TestKstatusOnTheServer(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	a := o.create(AppSpec{})
	read := func() *App {
		a := &App{}
		must(t, api.Get(t.Context(), keyOf(o.namespace, "a"), a))
		return a
	}
	if got := kstatus(t, read()); got != "InProgress" {
		t.Errorf("new: kstatus reports %s: %+v", got, a.Status)
	}
	o.start(o.apps(nil))
	o.becomes("True Succeeded")
	if got := kstatus(t, read()); got != "Current" {
		t.Errorf("ready: kstatus reports %s", got)
	}
	if got := o.traffic.take(t)["PATCH apps/status"]; got != 1 {
		t.Errorf("the status was written %d times, want once", got)
	}
	o.stop()
	o.edit(func(a *App) { a.Spec.User = "x" })
	if got := kstatus(t, read()); got != "InProgress" {
		t.Errorf("edited: kstatus reports %s", got)
	}
}

// create creates an object.
func (d *harness) create(obj client.Object) {
	d.t.Helper()
	must(d.t, d.api.Create(d.t.(*testing.T).Context(), obj))
}

// notes returns the notes of the events about an object with a reason.
func (o *operator) notes(name, reason string) (all []string) {
	o.t.Helper()
	list := &eventsv1.EventList{}
	must(o.t, api.List(o.t.Context(), list, client.InNamespace(o.namespace)))
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Name == name {
			all = append(all, e.Note)
		}
	}
	return all
}

// The event of a deletion comes while a pass runs that leaves the status as it is.
// The pass after it leaves no entry of the object.
func TestKeptIsForgotten(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	var r *ctrlx.Reconciler[*App]
	r = d.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.Check("entry", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
		r.Causes(&delays{}).Delete(event.DeleteEvent{Object: req.Resource})
		return checks.Ignore("theirs"), nil
	}))})
	d.use(r)
	d.pass()
	if n := ctrlx.Kept(r); n != 1 {
		t.Fatalf("%d entries after the pass", n)
	}
	d.change(func(a *App) { a.Finalizers = nil })
	d.delete(d.read())
	d.pass()
	if n := ctrlx.Kept(r); n != 0 {
		t.Errorf("%d entries of a deleted object", n)
	}
}

// Another writer changes the conditions of an object. One pass corrects them,
// and an event names them. Its other changes stay, and those alone cause no pass.
func TestOverwritten(t *testing.T) {
	ready := metav1.Condition{Type: "Ready", Status: "False", Reason: "Maintenance", Message: "by hand"}
	set := func(all ...metav1.Condition) func(*App) {
		return func(a *App) {
			for _, c := range all {
				meta.SetStatusCondition(&a.Status.Conditions, c)
			}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*App)
		want   string // the conditions that the event names; empty: no pass follows
		undone bool   // before the pass, so no event follows
	}{
		"Changed":    {"a person changes Ready", set(ready), "Ready", false},
		"Undone":     {"the person takes the change back before the pass", set(ready), "Ready", true},
		"Removed":    {"a controller replaces Ready by its own condition", func(a *App) { a.Status.Conditions = []metav1.Condition{theirs} }, "Ready", false},
		"WithOthers": {"a controller adds its own condition, too", set(ready, theirs), "Ready", false},
		"Others":     {"a controller adds its own condition only", set(theirs), "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
			w.use(w.reconciler(flow.Extensions[*App]{}))
			w.pass()
			w.event()
			w.reported()
			was := w.read().Status
			inApp(tc.change)(w.harness)
			own := meta.FindStatusCondition(w.read().Status.Conditions, theirs.Type) != nil
			if got := w.event(); got != (tc.want != "") {
				t.Errorf("%s: the write causes a pass: %t", tc.reason, got)
			}
			if tc.want == "" {
				return
			}
			if tc.undone {
				inApp(func(a *App) { a.Status = was })(w.harness)
				w.event()
			}
			w.pass()
			all, events := w.read().Status.Conditions, w.reported()
			if w.says() != "True Succeeded" || (meta.FindStatusCondition(all, theirs.Type) != nil) != own || meta.FindStatusCondition(all, "Stalled") != nil {
				t.Errorf("%s: the conditions are %+v", tc.reason, all)
			}
			if tc.undone != (len(events) == 0) || !tc.undone && (len(events) > 1 || !strings.HasPrefix(events[0], "Warning ConditionsOverwritten "+tc.want+": changed by ")) {
				t.Errorf("%s: the events are %q", tc.reason, events)
			}
			if w.event() || len(w.queue.all) > 0 {
				t.Errorf("%s: the correction causes a pass", tc.reason)
			}
		})
	}
}

// On the API server, the event names the field manager of the writer.
func TestOverwrittenOnTheServer(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), extensions{}))
	o.database("db", "")
	d := o.until("db", "True Succeeded")
	base := client.MergeFrom(d.DeepCopyObject().(client.Object))
	meta.SetStatusCondition(&d.Status.Conditions, metav1.Condition{Type: "Ready", Status: "False", Reason: "Maintenance"})
	must(t, api.Status().Patch(t.Context(), d, base, client.FieldOwner("kubectl-edit")))
	o.eventually("there is an event", func() bool { return len(o.notes("db", ctrlx.ReasonOverwritten)) == 1 })
	note := o.notes("db", ctrlx.ReasonOverwritten)[0]
	if !strings.HasPrefix(note, "Ready: changed by the field manager \"kubectl-edit\" (Update at 20") {
		t.Errorf("the note is %s", note)
	}
	o.until("db", "True Succeeded")
	o.traffic.take(t)
	same(t, "the calls", []string{"put db 1", "put db 1"}, o.asked())
}

// delays is a work queue that only notes delayed passes.
type delays struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	all []time.Duration
}

func (q *delays) AddAfter(_ reconcile.Request, after time.Duration) { q.all = append(q.all, after) }

// watchedApp is the App of a harness, with the events of its watch.
type watchedApp struct {
	*harness
	causes predicate.Predicate
	queue  delays
	last   *App
}

func (w *watchedApp) use(r *ctrlx.Reconciler[*App]) *watchedApp {
	w.harness.use(r)
	w.causes, w.last = r.Causes(&w.queue), w.read()
	return w
}

// event reports the present App, and whether that causes a pass at once.
func (w *watchedApp) event() bool {
	old := w.last
	w.last = w.read()
	return w.causes.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: w.last})
}

// overwrite changes Ready as another writer does.
func (w *watchedApp) overwrite(reason string) {
	w.t.Helper()
	a := w.read()
	meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: "Ready", Status: "False", Reason: reason})
	must(w.t, w.api.Status().Update(w.t.Context(), a))
}

// Own writes cause no pass, whatever they write. Foreign ones cause one at once,
// and then later and later ones.
func TestOverwrittenIsDelayed(t *testing.T) {
	w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
	w.use(w.reconciler(flow.Extensions[*App]{}))
	var log lines
	for _, do := range []func(){func() { fails(errBroken)(w.harness) }, func() { goesOn(w.harness) }, func() { done(w.harness) }} {
		do()
		if w.pass(); w.event() {
			t.Errorf("the own write of %q causes a pass", w.says())
		}
	}
	w.reported()
	for i, want := range []string{"at once", "1s", "2s", "4s"} {
		w.overwrite("Theirs")
		got := "not"
		if w.event() {
			got = "at once"
		} else if len(w.queue.all) == i {
			got = w.queue.all[i-1].String()
		}
		if got != want {
			t.Fatalf("correction %d is scheduled %s, want %s", i+1, got, want)
		}
		w.overwrite("Theirs")
		if w.event() || len(w.queue.all) > i {
			t.Errorf("a further overwrite before correction %d schedules another one", i+1)
		}
		verbosity := map[bool]string{true: "level=0", false: "level=1"}[i == 0]
		w.passIn(log.context(t.Context(), 1))
		if w.event() || w.says() != "True Succeeded" {
			t.Errorf("correction %d leaves %q, or its own write causes a pass", i+1, w.says())
		}
		line := strings.Join(log.took(), "\n")
		if !strings.Contains(line, verbosity+" msg=another writer changed the conditions of the object; they are corrected conditions=[Ready]") || strings.Contains(line, "level=0 msg=pass ended") {
			t.Errorf("correction %d logs\n%s", i+1, line)
		}
		note := "Warning ConditionsOverwritten Ready: changed by an unknown writer; corrected, because App owns these conditions: configure the writer to leave them unchanged"
		same(t, fmt.Sprintf("correction %d: the events", i+1), []string{note}, w.reported())
		w.now = w.now.Add(4 * time.Second)
	}
}

// Nothing corrects the conditions of these objects, so their writers cause no
// pass.
func TestOverwrittenElsewhere(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verdict checks.Result
	}{
		"Ignored":    {"another controller owns the object", checks.Ignore("theirs")},
		"StatusKept": {"the check leaves the status as it is", checks.Block("Locked", "locked", checks.WithStatusKept())},
		"Finished":   {"a finished object has no passes", checks.Finished("Sealed", "for good")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
			verdict := tc.verdict
			w.use(w.reconciler(flow.Extensions[*App]{EntryCheck: chain.New(checks.Check("entry", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return verdict, nil }))}))
			w.pass()
			w.event()
			w.reported()
			for range 2 {
				w.overwrite("Theirs")
				if w.event() || len(w.queue.all) > 0 {
					t.Errorf("%s: a write causes a pass", tc.reason)
				}
				w.pass()
			}
			if got := w.reported(); w.says() != "False Theirs" || len(got) > 0 {
				t.Errorf("%s: it is %q, and the events are %q", tc.reason, w.says(), got)
			}
			if name == "Finished" {
				return
			}
			verdict = checks.Proceed()
			w.pass()
			w.event()
			w.overwrite("Theirs")
			if !w.event() {
				t.Errorf("%s: once it is ours, a write causes a pass", tc.reason)
			}
		})
	}
}

// An object that waits for itself is woken by each write of its status. If the
// write overwrites Ready, the correction is delayed all the same.
func TestOverwrittenSelfIsDelayed(t *testing.T) {
	w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
	pending := checks.Block("ApprovalPending", "", checks.WithWaitingForSelf())
	w.use(w.reconciler(checking(flow.PointPreCheck, answers(&pending))))
	for i := range 3 {
		w.pass()
		w.event()
		w.overwrite("Theirs")
		if w.event() != (i == 0) {
			t.Errorf("overwrite %d: the delays are %v", i+1, w.queue.all)
		}
	}
	same(t, "the delays", []time.Duration{time.Second, 2 * time.Second}, w.queue.all)
}

// A status write fails, and the API server has done it all the same. The update
// is no foreign one.
func TestOverwrittenByALostWrite(t *testing.T) {
	w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
	w.afterStatus = func() error { return errBroken }
	w.use(w.reconciler(flow.Extensions[*App]{}))
	if _, err := w.app.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(w.last)}); err == nil {
		t.Fatal("the write fails")
	}
	if w.says() != "True Succeeded" || w.event() {
		t.Errorf("%q is a foreign write", w.says())
	}
}

// An event that changes no condition allocates nothing.
func TestEventsAllocateNothing(t *testing.T) {
	w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
	w.use(w.reconciler(flow.Extensions[*App]{}))
	w.pass()
	w.event()
	old, now := w.read(), w.read()
	now.ResourceVersion += "0"
	meta.SetStatusCondition(&now.Status.Conditions, theirs)
	e := event.UpdateEvent{ObjectOld: old, ObjectNew: now}
	if n := testing.AllocsPerRun(100, func() { w.causes.Update(e) }); n != 0 {
		t.Errorf("an event allocates %v times", n)
	}
}
