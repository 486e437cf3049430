package ctrlx_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

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
	}{
		"Changed":    {"a person changes Ready", set(ready), "Ready"},
		"Removed":    {"a controller replaces Ready by its own condition", func(a *App) { a.Status.Conditions = []metav1.Condition{theirs} }, "Ready"},
		"WithOthers": {"a controller adds its own condition, too", set(ready, theirs), "Ready"},
		"Others":     {"a controller adds its own condition only", set(theirs), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &watchedApp{harness: newHarness(t, anApp(AppSpec{}))}
			w.use(w.reconciler(flow.Extensions[*App]{}))
			w.pass()
			w.event()
			w.reported()
			inApp(tc.change)(w.harness)
			own := meta.FindStatusCondition(w.read().Status.Conditions, theirs.Type) != nil
			if got := w.event(); got != (tc.want != "") {
				t.Errorf("%s: the write causes a pass: %t", tc.reason, got)
			}
			if tc.want == "" {
				return
			}
			w.pass()
			all, events := w.read().Status.Conditions, w.reported()
			if w.says() != "True Succeeded" || (meta.FindStatusCondition(all, theirs.Type) != nil) != own || meta.FindStatusCondition(all, "Stalled") != nil {
				t.Errorf("%s: the conditions are %+v", tc.reason, all)
			}
			if len(events) != 1 || !strings.HasPrefix(events[0], "Warning ConditionsOverwritten "+tc.want+": changed by ") {
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
