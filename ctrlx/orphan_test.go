package ctrlx_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// vanish deletes the App "a" as the API server does if a finalizer is added while the deletion is under way.
// It returns the last state.
func (d *harness) vanish() *App {
	d.t.Helper()
	a := d.read()
	without := d.read()
	without.Finalizers = nil
	d.update(without)
	d.delete(without)
	return a
}

// freshApp is the App "a" without a finalizer.
func freshApp(uid types.UID) *App {
	a := anApp(AppSpec{})
	a.UID, a.Finalizers = uid, nil
	return a
}

// deletions is a Delete that notes the object and the token of its calls, and gives one answer after the
// other; the last one again.
func (d *harness) deletions(answers ...func() (flow.Progress, error)) {
	n := 0
	var since *metav1.Time
	d.remove = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		if since = cmp.Or(since, req.Resource.DeletionTimestamp); !since.Equal(req.Resource.DeletionTimestamp) {
			d.t.Errorf("a later pass is over a deletion that begins at %s", req.Resource.DeletionTimestamp)
		}
		d.asked[len(d.asked)-1] = "delete " + string(req.Resource.UID) + " " + req.Token
		n++
		return answers[min(n, len(answers))-1]()
	}
}

// withoutDelete returns a reconciler that has only Apply.
func (d *harness) withoutDelete(ext flow.Extensions[*App]) *ctrlx.Reconciler[*App] {
	apply := func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
		d.note("apply")
		return flow.Done(), nil
	}
	return ctrlx.New("App", flow.Operations[*App]{Apply: apply}, ext, d.clock()...)
}

func answer(p flow.Progress, err error) func() (flow.Progress, error) {
	return func() (flow.Progress, error) { return p, err }
}

// orphaned returns the value of the counter for a reconciler.
func orphaned(t *testing.T, reconciler string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	must(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == ctrlx.MetricOrphaned && m.GetLabel()[0].GetValue() == reconciler {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// The cloud resource of an object that vanishes while Apply is called is deleted or reported.
func TestVanished(t *testing.T) {
	type answers = []func() (flow.Progress, error)
	gone := answers{answer(flow.Done(), nil)}
	replaces := func(p flow.Progress, err error) flow.Middleware[*App] {
		return chain.Named("Own", func(flow.Handler[*App]) flow.Handler[*App] {
			return func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return p, err }
		})
	}
	cases := map[string]struct {
		reason  string
		goes    bool // Apply returns InProgress
		at      int  // the status write before which the object vanishes
		broken  bool // the API server refuses that write
		link    flow.Middleware[*App]
		answers answers       // of Delete; nil: there is no Delete
		every   time.Duration // the time between two passes
		took    string
		why     string // the last part of the report; empty: there is none
	}{
		"Status":     {reason: "the status write does not find the object", at: 1, answers: gone, took: "apply, delete uid "},
		"Token":      {reason: "the operation cannot be stored, and Delete replaces it", goes: true, at: 1, answers: gone, took: "apply, delete uid "},
		"AfterToken": {reason: "the operation is stored, and the status write does not find the object", goes: true, at: 2, answers: gone, took: "apply, delete uid "},
		"Unwritten":  {reason: "the API server refuses the write, and the next pass does not find the object", at: 1, broken: true, answers: gone, took: "apply, delete uid "},
		"LongDeletion": {reason: "the token of the deletion is in memory, because the object is gone", at: 1,
			answers: answers{answer(flow.InProgress("a", time.Second), nil), answer(flow.InProgress("b", time.Second), nil), answer(flow.Done(), nil)},
			took:    "apply, delete uid , delete uid a, delete uid b"},
		"Retried": {reason: "an error of Delete is retried", at: 1,
			answers: answers{answer(flow.Progress{}, errBroken), answer(flow.Done(), nil)}, took: "apply, delete uid , delete uid "},
		"Failed": {reason: "a retry after the end of the time is too late", at: 1, why: "the cloud is broken",
			answers: answers{answer(flow.Progress{}, ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Hour)))}, took: "apply, delete uid "},
		"Last": {reason: "a retry at the end of the time is in time", at: 1,
			answers: answers{answer(flow.Progress{}, ctrlx.NewRetriableError(errBroken, ptr.To(2*time.Hour))), answer(flow.Done(), nil)}, took: "apply, delete uid , delete uid "},
		"Late": {reason: "two hours after the first deletion it is given up", at: 1, every: 40 * time.Minute, why: "Deleting: the deletion is under way in the cloud",
			answers: answers{answer(flow.InProgress("a", time.Second), nil)}, took: "apply, delete uid , delete uid a, delete uid a, delete uid a"},
		"Slow": {reason: "an operation may end earlier than its delay", at: 1, every: time.Hour,
			answers: answers{answer(flow.InProgress("a", 3*time.Hour), nil), answer(flow.Done(), nil)}, took: "apply, delete uid , delete uid a"},
		"NoDelete": {reason: "nothing can delete the resource", at: 1, took: "apply", why: "the reconciler has no Delete for it"},
		"Replaces": {reason: "a link that replaces the operation has made something", at: 1, link: replaces(flow.Skip("made by the link"), nil), answers: gone, took: "delete uid "},
		"Begins":   {reason: "a link that fails after an operation has begun has made something", at: 1, link: replaces(flow.InProgress("t", 0), errBroken), answers: gone, took: "delete uid "},
		"Refuses":  {reason: "a link that refuses has made nothing", at: 1, link: replaces(flow.Progress{}, errBroken), answers: gone},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, freshApp("uid"))
			d.beforeStatus = func() {
				if d.refuse = nil; d.writes == tc.at {
					d.vanish()
					if tc.broken {
						d.refuse = apierrors.NewInternalError(errBroken)
					}
				}
			}
			if tc.goes {
				d.apply = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
					return flow.InProgress("the operation", time.Hour), nil
				}
			}
			ext := flow.Extensions[*App]{}
			if tc.link != nil {
				ext.Apply = chain.New(tc.link)
			}
			d.app = d.reconciler(ext)
			if tc.answers != nil {
				d.deletions(tc.answers...)
			} else {
				d.app = d.withoutDelete(ext)
			}
			d.use(d.app)
			before := orphaned(t, "App")
			for range 5 {
				was := ctrlx.OrphanOf(d.app, named("a"))
				if _ = d.try(); was != nil && ctrlx.OrphanOf(d.app, named("a")) == nil { // no pass follows
					same(t, tc.reason+": the objects that are known", 0, len(whyDocument(t, ctrlx.Why(d.manager), "").Objects))
				}
				d.now = d.now.Add(tc.every)
			}
			same(t, tc.reason, tc.took, d.took())
			const text, log = "App default/a (uid) vanished after Apply was called, and its cloud resource may be orphaned; delete the resource in the cloud: ",
				"msg=a cloud resource may be orphaned: its object vanished after Apply was called; delete the resource in the cloud"
			event := slices.Contains(d.manager.related, "Warning Orphaned v1 Namespace default/default") && slices.Contains(d.manager.events, "Warning Orphaned "+text+tc.why)
			lines := strings.Join(d.log.took(), "\n")
			line := strings.Contains(lines, log) && strings.Contains(lines, "reconciler=App object=default/a uid=uid")
			if n := orphaned(t, "App") - before; (n == 1) != (tc.why != "") || event != (n > 0) || line != event || d.writes != tc.at { // no write after the one that does not find the object
				t.Errorf("%s: %v resources are reported after %d writes; the events are %q, the lines\n%s", tc.reason, n, d.writes, d.manager.events, lines)
			}
			if ended := "msg=the object vanished after Apply was called; its deletion in the cloud ended state=gone uid=uid why=\nlevel=0 msg=pass ended reconciler=App key=default/a uid verdict=gone"; strings.Contains(lines, ended) != (len(tc.answers) > 0 && tc.why == "" && tc.took != "") {
				t.Errorf("%s: the lines are\n%s", tc.reason, lines)
			}
		})
	}
}

// brokenReader fails its n-th read.
type brokenReader struct {
	client.Reader
	n int
}

func (r *brokenReader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if r.n--; r.n == 0 {
		return notServed()
	}
	return r.Reader.Get(ctx, key, obj, opts...)
}

// notServed is the answer of an API server to each request for a kind that it does not serve.
func notServed() error {
	return apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "apps"}, "a", "", 0, true)
}

// The cloud resource of an object that vanished belongs to the next object of its name.
func TestVanishedMadeAnew(t *testing.T) {
	cases := map[string]struct {
		reason string
		again  bool // the new object vanishes, too, before its Apply
		down   int  // the live read that the API server does not serve
		took   string
	}{
		"Stays":     {reason: "the new object has the resource, and its own deletion is the only one", took: "apply, apply, delete second "},
		"NotServed": {reason: "an answer that does not name the object is no proof that there is no new object", down: 2, took: "apply, apply, delete second "},
		"Vanishes":  {reason: "the new object vanished before it adopted the resource", again: true, took: "apply, delete first "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, freshApp("first"))
			d.manager.live = &brokenReader{d.api, tc.down}
			d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
				if req.Resource.UID == "first" {
					return flow.InProgress("the operation", time.Hour), nil
				}
				return flow.Done(), nil
			}
			d.beforeStatus = func() {
				if d.writes == 1 {
					d.vanish()
					d.create(freshApp("second"))
				}
			}
			d.beforePatch = func() error {
				if d.patches == 2 && tc.again { // the first one is the finalizer of the first object
					d.vanish()
				}
				return nil
			}
			d.deletions(answer(flow.Done(), nil))
			d.use(d.reconciler(flow.Extensions[*App]{}))
			before := orphaned(t, "App")
			for i := 0; i < 6 && d.saysOrGone() != "True Succeeded"; i++ {
				_ = d.try()
			}
			if !tc.again {
				if a := d.read(); a.UID != "second" || d.says() != "True Succeeded" {
					t.Fatalf("%s: the object is %s: %s", tc.reason, a.UID, d.says())
				}
				deleted(d)
				d.pass()
			}
			same(t, tc.reason, tc.took, d.took())
			if n := orphaned(t, "App"); n != before {
				t.Errorf("%s: %v resources are reported", tc.reason, n-before)
			}
		})
	}
}

// An answer that does not name the object is no proof that it is gone. The error of a definition without a
// status says what to do.
func TestNotServedIsNotVanished(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.manager.live = &brokenReader{d.api, 1}
	d.refuse = notServed()
	d.use(d.reconciler(flow.Extensions[*App]{}))
	if err := d.try(); err == nil || !strings.Contains(err.Error(), "+kubebuilder:subresource:status") {
		t.Errorf("the error is %v", err)
	}
	d.refuse = nil
	d.pass()
	if got := d.took(); got != "apply, apply" || d.says() != "True Succeeded" {
		t.Errorf("the calls are %q, and the object says %q", got, d.says())
	}
}

// liveReader answers each live read of an App with a function.
type liveReader struct {
	client.Reader
	get func(*App) error
}

func (r *liveReader) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	return r.get(obj.(*App))
}

// endedContext is a context that has ended with an error.
type endedContext struct {
	context.Context
	err error
}

func (c endedContext) Err() error { return c.err }

// The cache has lost an object that may have a resource in the cloud. A live read decides.
func TestDeleteOrphan(t *testing.T) {
	missing := func(*App) error { return apierrors.NewNotFound(schema.GroupResource{}, "a") }
	has := func(uid types.UID) func(*App) error {
		return func(a *App) error { *a = *anApp(AppSpec{}); a.UID, a.ResourceVersion = uid, "7"; return nil }
	}
	bare := func(a *App) error { *a = *freshApp("new"); return nil }
	broken := func(*App) error { return errBroken }
	until := noon.Add(time.Hour)
	cases := map[string]struct {
		reason   string
		live     func(*App) error
		orphan   memory.Orphan
		keeps    bool  // the reconciler has no Delete
		canceled error // of the context
		want     string

		meanwhile, later func(*ctrlx.Reconciler[*App], *memory.Orphan) // during the live read, and after it
	}{
		"Missing":     {reason: "nothing but Delete removes the resource", live: missing, want: "0s; gone; delete busy until 14:00; 0 reports; next "},
		"Continued":   {reason: "a later pass does not extend the time", live: missing, orphan: memory.Orphan{Until: until}, want: "0s; gone; delete busy until 13:00; 0 reports; next "},
		"LeftCache":   {reason: "another process may have it", live: has("uid"), orphan: memory.Orphan{Gone: true}, want: "0s; gone; ; 0 reports; next "},
		"Contradicts": {reason: "a write did not find it", live: has("uid"), want: "0s; kept; ; 0 reports; error ctrlx: App: a write did not find the object, and a live read does"},
		"Other":       {reason: "the new object is that of another shard, or comes into the cache", live: bare, want: "30s; kept; ; 0 reports; next "},
		"OtherGone":   {reason: "an event has reported that the older one is gone", live: bare, orphan: memory.Orphan{Gone: true}, want: "30s; kept; ; 0 reports; next "},
		"OtherOwns":   {reason: "the deletion of the new object deletes the resource", live: has("new"), want: "0s; gone; ; 0 reports; next "},
		"Claimed":     {reason: "a write has shown meanwhile that the object exists, until a later event", live: missing, meanwhile: func(r *ctrlx.Reconciler[*App], o *memory.Orphan) { ctrlx.SetOrphan(r, named("a"), o, nil) }, want: "0s; gone; ; 0 reports; next delete busy until 14:00"},
		"Replaced": {reason: "an event has reported another object meanwhile", live: missing, later: func(r *ctrlx.Reconciler[*App], o *memory.Orphan) {
			ctrlx.SetOrphan(r, named("a"), o, &memory.Orphan{Object: anApp(AppSpec{})})
		}, want: "50ms; changed; ; 0 reports; next delete busy until 14:00"},
		"OtherKept":  {reason: "nothing deletes the resource of the new object", live: bare, keeps: true, want: "0s; gone; ; 0 reports; next "},
		"NoAnswer":   {reason: "it may exist", live: broken, want: "0s; kept; ; 0 reports; error ctrlx: App: whether the object still exists: the cloud is broken"},
		"Stops":      {reason: "no later pass deletes the resource", live: broken, canceled: context.Canceled, want: "0s; gone; ; 1 reports; next "},
		"StopsLater": {reason: "the end of the manager reports it", live: broken, canceled: context.Canceled, orphan: memory.Orphan{Until: until}, want: "0s; kept; ; 0 reports; next "},
		"Slow":       {reason: "a later pass asks again", live: broken, canceled: context.DeadlineExceeded, want: "0s; kept; ; 0 reports; error ctrlx: App: whether the object still exists: the cloud is broken"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t)
			read := false
			var r *ctrlx.Reconciler[*App]
			r = d.reconciler(flow.Extensions[*App]{}, flow.WithClock(func() time.Time {
				if read && tc.later != nil {
					tc.later(r, &tc.orphan)
				}
				return d.now
			}))
			if tc.keeps {
				r = d.withoutDelete(flow.Extensions[*App]{})
			}
			d.manager.live = &liveReader{get: func(a *App) error {
				if read = true; tc.meanwhile != nil {
					tc.meanwhile(r, &tc.orphan)
				}
				return tc.live(a)
			}}
			d.use(r)
			d.remove = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
				if o := ctrlx.OrphanOf(r, named("a")); o.Busy {
					d.asked[len(d.asked)-1] += " busy until " + o.Until.Format("15:04")
				}
				return flow.Done(), nil
			}
			tc.orphan.Object = anApp(AppSpec{})
			ctrlx.SetOrphan(r, named("a"), nil, &tc.orphan)
			ctx := t.Context()
			if tc.canceled != nil {
				ctx = endedContext{ctx, tc.canceled}
			}
			before := orphaned(t, "App")
			res, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: named("a")})
			left := "gone"
			if o := ctrlx.OrphanOf(r, named("a")); o == &tc.orphan {
				left = "kept"
			} else if o != nil {
				left = "changed"
			}
			got := fmt.Sprintf("%s; %s; %s; %v reports; ", res.RequeueAfter, left, d.took(), orphaned(t, "App")-before)
			if err != nil {
				got += "error " + err.Error()
			} else {
				ctrlx.HearDeletion(r, event.DeleteEvent{Object: anApp(AppSpec{})}) // a late event of the object
				_ = d.try()
				got += "next " + d.took()
			}
			same(t, tc.reason, tc.want, got)
		})
	}
}

// A delayed deletion does not see the finalizer, although later writes of the
// same pass succeed. The event of the deletion then shows the finalizer.
func TestVanishedAfterThePass(t *testing.T) {
	waits := checks.Block("Held", "the cluster is needed", checks.WithWaitingFor(clusterRef(1)), checks.WithAfter(3*time.Hour))
	cases := map[string]struct {
		reason string
		held   checks.Result // of a check, until the next pass
		change func(*event.DeleteEvent)
		want   string // whether it is kept, until when, the objects that Why shows; the calls of the next pass
	}{
		"Finalizer":   {"nothing but Delete removes the cloud resource", waits, func(*event.DeleteEvent) {}, "true 2h0m0s [App blocked Cluster missing]; delete"},
		"Ignored":     {"another operator deletes the resource", checks.Ignore("theirs"), func(*event.DeleteEvent) {}, "true 0s []; "},
		"NoFinalizer": {"Delete has removed the cloud resource, or a person wants to keep it", waits, func(e *event.DeleteEvent) { e.Object.SetFinalizers(nil) }, "false 0s []; "},
		"Deleted":     {"the pass that removed the finalizer has called Delete", waits, func(e *event.DeleteEvent) { e.Object.SetDeletionTimestamp(ptr.To(metav1.Now())) }, "false 0s []; "},
		"MissedEvent": {"the last state of the object is not known", waits, func(e *event.DeleteEvent) { e.DeleteStateUnknown = true }, "false 0s []; "},
	}
	for _, tc := range cases {
		d := newHarness(t, anApp(AppSpec{}))
		d.with(checking(flow.PointDeleteCheck, answers(&tc.held))).pass()
		d.took()
		e, known := event.DeleteEvent{Object: d.vanish()}, []string(nil)
		tc.change(&e)
		ctrlx.HearDeletion(d.app, e)
		kept, after := ctrlx.OrphanOf(d.app, named("a")) != nil, d.pass()
		for _, o := range whyDocument(t, ctrlx.Why(d.manager), "").Objects {
			known = append(known, o.Ref.Kind+" "+string(o.State))
		}
		slices.Sort(known)
		tc.held = checks.Proceed()
		d.pass()
		same(t, tc.reason, tc.want, fmt.Sprintf("%t %s %v; %s", kept, after, known, d.took()))
	}
}

// A cache with a label selector reports an object that a person labels anew as deleted,
// also while a pass is under way, and as created when it returns.
func TestLeftTheCache(t *testing.T) {
	var d *harness
	var o *memory.Orphan
	for _, uid := range []types.UID{"another", "uid"} { // the event of an earlier object says nothing of this one
		d = newHarness(t, freshApp("uid")).with(flow.Extensions[*App]{})
		d.apply = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
			left := d.read()
			left.UID = uid
			ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: left})
			d.refuse = apierrors.NewConflict(schema.GroupResource{Resource: "apps"}, "a", errBroken)
			return flow.Done(), nil
		}
		_ = d.try()
		d.refuse, d.apply = nil, nil
		if o = ctrlx.OrphanOf(d.app, named("a")); o == nil || o.Object.GetUID() != "uid" || o.Gone != (uid == "uid") {
			t.Fatalf("the pass does not keep that the object left the cache, or takes it for the one with the UID %s: %+v", uid, o)
		}
		other := d.read()
		other.UID = "another"
		ctrlx.HearCreation(d.app, event.CreateEvent{Object: other})
		same(t, "another object of its name ends no wait for the orphan", true, ctrlx.OrphanOf(d.app, named("a")) == o)
		ctrlx.HearCreation(d.app, event.CreateEvent{Object: d.read()})
		same(t, "an object that had left the cache returns, and is no orphan", o.Gone, ctrlx.OrphanOf(d.app, named("a")) == nil)
	}
	blocked := checks.Block("Busy", "it is busy")
	first := &memory.Orphan{Object: freshApp("first")}
	for of, ends := range map[*memory.Orphan]map[*App]string{
		{Object: freshApp("uid")}:             {freshApp("uid"): "the write shows that the object exists"},
		{Object: freshApp("uid"), Gone: true}: {anApp(AppSpec{}): ""}, // the event of the deletion came later
		first:                                 {freshApp("uid"): "", anApp(AppSpec{}): "the deletion of the new object deletes the resource"},
	} {
		for app, reason := range ends {
			d = newHarness(t, app).with(checking(flow.PointEntryCheck, answers(&blocked)))
			ctrlx.SetOrphan(d.app, named("a"), nil, of)
			d.pass()
			same(t, reason, reason != "", ctrlx.OrphanOf(d.app, named("a")) == nil)
		}
	}
	ctrlx.SetOrphan(d.app, named("a"), ctrlx.OrphanOf(d.app, named("a")), first)
	ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: anApp(AppSpec{})})
	o = ctrlx.OrphanOf(d.app, named("a"))
	ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: anApp(AppSpec{})})
	same(t, "the event of a later object counts, and a second one begins no new time", true, o.Object.GetUID() == "uid" && o == ctrlx.OrphanOf(d.app, named("a")))
	other := d.read()
	other.Status.LastHandled, other.DeletionTimestamp = "panics", &metav1.Time{Time: noon}
	ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: other}) // in the goroutine of an informer, a panic ends the program
}

// A person removes the finalizer of an object while its DELETE is under way in the
// cloud. The DELETE is polled until it ends.
func TestFinalizerRemovedDuringDelete(t *testing.T) {
	cases := map[string]struct {
		reason string
		first  flow.Progress // of the DELETE, before the object vanishes
		took   string
	}{
		"UnderWay": {"the cloud still deletes the resource, and may fail", flow.InProgress("t", 0), "apply, delete uid , delete uid t"},
		"Done":     {"the resource is deleted, and its record is removed", flow.Done(), "apply, delete uid "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, keptApp(ctrlx.Finalizer)) // so that the object is there after our deletion
			d.deletions(answer(tc.first, nil), answer(flow.Done(), nil))
			d.use(d.reconciler(flow.Extensions[*App]{}))
			d.pass()
			deleted(d)
			d.pass()
			last, stripped := d.read(), d.read()
			stripped.Finalizers = nil
			d.update(stripped) // the API server deletes it with its last finalizer
			if len(last.Finalizers) == 1 {
				last.Finalizers = append(last.Finalizers, ctrlx.Finalizer) // as before the last write, which events show
			}
			ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: last})
			d.pass()
			d.pass()
			same(t, tc.reason, tc.took, d.took())
		})
	}
}

// An event may report an object while a pass over an older orphan of its name ends. The
// end of that pass does not drop it.
func TestOrphanOfAnEventStays(t *testing.T) {
	r := newHarness(t).reconciler(flow.Extensions[*App]{})
	first, second, third := &memory.Orphan{}, &memory.Orphan{Gone: true}, &memory.Orphan{Busy: true}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	steps := []struct {
		reason string
		do     func() bool
		want   bool
		left   *memory.Orphan
	}{
		{"the first object vanishes", func() bool { return ctrlx.SetOrphan(r, named("a"), nil, first) }, true, first},
		{"an event reports another one", func() bool { return ctrlx.SetOrphan(r, named("a"), first, second) }, true, second},
		{"a write shows that the first one exists", func() bool { return ctrlx.SetOrphan(r, named("a"), first, nil) }, false, second},
		{"the pass over the first one ends", func() bool { return ctrlx.EndOrphan(r, named("a"), first, false) }, false, second},
		{"it ends, and would continue", func() bool { return ctrlx.EndOrphan(r, named("a"), first, true) }, false, second},
		{"the pass over the second one ends", func() bool { return ctrlx.EndOrphan(r, named("a"), second, false) }, false, nil},
		{"a pass deletes for a third one", func() bool { return ctrlx.SetOrphan(r, named("a"), nil, third) }, true, third},
		{"the manager stops", func() bool { return ctrlx.ReportWhenStopped(stopped, r) == nil }, true, third},
		{"that pass ends after the stop, and reports it", func() bool { return ctrlx.EndOrphan(r, named("a"), third, true) }, false, nil},
	}
	for _, s := range steps {
		if got := s.do(); got != s.want {
			t.Errorf("%s: got %t, want %t", s.reason, got, s.want)
		}
		if left := ctrlx.OrphanOf(r, named("a")); left != s.left {
			t.Errorf("%s: the orphan is %+v, want %+v", s.reason, left, s.left)
		}
	}
}

// The manager stops while an object is an orphan. No later pass deletes its resource, so it is reported if no
// object of its name exists.
func TestVanishedBeforeTheStop(t *testing.T) {
	unwritten := func(d *harness) {
		d.refuse = apierrors.NewInternalError(errBroken)
		d.change(func(*App) {})
		_ = d.try()
	}
	unanswered := func(o memory.Orphan) func(*harness) {
		return func(d *harness) {
			o.Object, d.manager.live.(*brokenReader).n = d.read(), 1
			ctrlx.SetOrphan(d.app, named("a"), nil, &o)
		}
	}
	cases := map[string]struct {
		reason string
		do     func(d *harness)
		want   float64
	}{
		"Gone":                {"nothing deletes the resource", func(d *harness) { ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: d.vanish()}) }, 1},
		"Unanswered":          {"the API server does not answer, so the event of the deletion counts", unanswered(memory.Orphan{Gone: true}), 1},
		"UnansweredUnwritten": {"the API server does not answer, and the object may exist", unanswered(memory.Orphan{}), 0},
		"UnansweredLater":     {"an earlier live read has not found the object", unanswered(memory.Orphan{Until: noon}), 1},
		"Exists":              {"the object has left the cache only, and the next process has it", func(d *harness) { ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: d.read()}) }, 0},
		"Unwritten": {"the API server refused the status of an object that is gone", func(d *harness) {
			inApp(func(a *App) { a.Finalizers = nil })(d)
			d.beforeStatus = func() { d.vanish(); d.refuse = apierrors.NewInternalError(errBroken) }
			d.change(func(*App) {})
			_ = d.try()
		}, 1},
		"Written": {"a later write has shown that the object exists, so the event of its deletion counts", func(d *harness) {
			inApp(func(a *App) { a.Finalizers = nil })(d)
			unwritten(d)
			unwritten(d)
			if o := ctrlx.OrphanOf(d.app, named("a")); o == nil || o.Object.GetGeneration() != d.read().Generation {
				d.t.Errorf("the kept object is not that of the last Apply: %+v", o)
			}
			d.refuse = nil
			if d.pass(); ctrlx.OrphanOf(d.app, named("a")) != nil {
				d.t.Error("the object exists, and is an orphan")
			}
			d.vanish()
		}, 0},
		"Earlier": {"an earlier pass added the finalizer, which a person then removes to keep the resource", func(d *harness) { unwritten(d); d.vanish() }, 0},
		"Unchanged": {"the status, which an earlier pass wrote, shows that the object exists", func(d *harness) {
			inApp(func(a *App) { a.Finalizers = nil })(d)
			d.pass()
			d.vanish()
		}, 0},
		"UnderWay": {"the deletion is under way, and its token is lost", func(d *harness) {
			d.deletions(answer(flow.InProgress("a", time.Hour), nil))
			ctrlx.HearDeletion(d.app, event.DeleteEvent{Object: d.vanish()})
			d.pass()
			if d.took() != "apply, delete uid " {
				d.t.Error("the deletion is not under way")
			}
		}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.manager.live = &brokenReader{d.api, 0}
			d.with(flow.Extensions[*App]{}, ctrlx.WithoutEvents()).pass() // the log and the counter report it
			before := orphaned(t, "App")
			tc.do(d)
			if n := orphaned(t, "App") - before; n != 0 {
				t.Errorf("%s: %v resources are reported before the stop", tc.reason, n)
			}
			ctx, stop := context.WithCancel(t.Context())
			stop()
			must(t, ctrlx.ReportWhenStopped(ctx, d.app))
			if got := orphaned(t, "App") - before; got != tc.want {
				t.Errorf("%s: %v resources are reported, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// The report waits for the stop. Its event is about the object itself if that has no namespace.
func TestReportWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, of := newHarness(t).with(flow.Extensions[*App]{}), freshApp("uid")
		of.Namespace = ""
		ctrlx.SetOrphan(d.app, client.ObjectKeyFromObject(of), nil, &memory.Orphan{Object: of, Until: noon})
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = ctrlx.ReportWhenStopped(ctx, d.app) }()
		synctest.Wait()
		before := len(d.manager.related)
		stop()
		synctest.Wait()
		if got := d.manager.related; before > 0 || !slices.Equal(got, []string{"Warning Orphaned"}) {
			t.Errorf("%d events before the stop; the events are %q", before, got)
		}
	})
}

// obedient is a client whose reads end with their context, as the reads of a real client do.
type obedient struct{ client.Client }

func (c *obedient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

// The leader loses its lease inside of Apply, and the object has vanished
// meanwhile. No later pass deletes the resource, so it is reported.
func TestVanishedInTheLastPass(t *testing.T) {
	for name, took := range map[string]string{"Answer": "apply", "Canceled": "apply", "Delete": "apply, delete"} {
		d := newHarness(t, freshApp("uid"))
		d.manager.client = &obedient{d.api}
		ctx, stop := context.WithCancel(t.Context())
		d.apply = func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
			if d.vanish(); name != "Delete" {
				stop()
			}
			if name != "Canceled" {
				return flow.InProgress("t", 0), nil
			}
			return flow.Progress{}, ctx.Err() // the pass writes nothing, and does not notice that the object vanished
		}
		d.remove = func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
			stop()
			must(t, ctrlx.ReportWhenStopped(ctx, d.app)) // the pass under way reports its orphan itself
			return flow.Progress{}, ctx.Err()
		}
		d.use(d.reconciler(flow.Extensions[*App]{}))
		before := orphaned(t, "App")
		_, err := d.app.Reconcile(ctx, reconcile.Request{NamespacedName: named("a")})
		must(t, ctrlx.ReportWhenStopped(ctx, d.app))
		reported := slices.ContainsFunc(d.reported(), func(e string) bool {
			return strings.HasPrefix(e, "Warning "+ctrlx.ReasonOrphaned) && strings.HasSuffix(e, "the manager stopped before the deletion ended")
		})
		if n := orphaned(t, "App") - before; n != 1 || !reported || d.took() != took {
			t.Errorf("%s: %v resources are reported, and an event reports it: %t (%v)", name, n, reported, errors.Join(err))
		}
	}
}
