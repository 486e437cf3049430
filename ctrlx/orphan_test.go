package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// vanish deletes an object as the API server does if a finalizer is added while the deletion is under way.
func vanish(t *testing.T, d *testv1.Database) {
	t.Helper()
	d = d.DeepCopyObject().(*testv1.Database) // the answers are read into it, while the test reads d
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	ctx := context.Background()
	if err := errors.Join(api.Patch(ctx, d, none), api.Delete(ctx, d)); err != nil {
		t.Error(err)
	}
}

// at calls do before the n-th request of a kind reaches the API server.
func at(what string, n int, do func()) func(string, *http.Request) *http.Response {
	var asked atomic.Int32
	return func(is string, _ *http.Request) *http.Response {
		if is == what && int(asked.Add(1)) == n {
			do()
		}
		return nil
	}
}

// deletions is a Delete that notes its calls, and gives one answer after the other; the last one again.
func (o *operator) deletions(answers ...func() (flow.Progress, error)) func(ctxt, *flow.Request[*testv1.Database]) (flow.Progress, error) {
	n := 0
	return func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		_ = o.note("delete %s %s", req.Resource.UID, req.Token)
		n++
		return answers[min(n, len(answers))-1]()
	}
}

func answer(p flow.Progress, err error) func() (flow.Progress, error) {
	return func() (flow.Progress, error) { return p, err }
}

// orphaned returns the value of the counter for a reconciler.
func orphaned(t *testing.T, reconciler string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == ctrlx.MetricOrphaned && m.GetLabel()[0].GetValue() == reconciler {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// orphanEvent reports whether there is an event about the test's namespace, in that
// namespace: an operator may have no rights in another one.
func (o *operator) orphanEvent() bool {
	o.t.Helper()
	list := &eventsv1.EventList{}
	if err := api.List(o.t.Context(), list, client.InNamespace(o.namespace)); err != nil {
		o.t.Fatal(err)
	}
	return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Reason == ctrlx.ReasonOrphaned && e.Regarding.Kind == "Namespace" && e.Regarding.Name == o.namespace && e.Related.Kind == "Database"
	})
}

// The cloud resource of an object that vanishes while Apply is called is deleted or reported.
func TestVanished(t *testing.T) {
	t.Parallel()
	const statusWrite = "PATCH databases/status"
	failed := answer(flow.Progress{}, errors.New("the cloud is down"))
	cases := map[string]struct {
		reason  string
		goes    bool // Apply returns InProgress
		at      int  // the status write before which the object vanishes
		broken  int  // the API server refuses the first status writes
		answers []func() (flow.Progress, error)
		want    []string // the tokens of the calls of Delete
		reports bool
	}{
		"Status": {
			reason: "the status write does not find the object", at: 1,
			answers: []func() (flow.Progress, error){answer(flow.Done(), nil)}, want: []string{""},
		},
		"Token": {
			reason: "the operation cannot be stored, and Delete replaces it", goes: true, at: 1,
			answers: []func() (flow.Progress, error){answer(flow.Done(), nil)}, want: []string{""},
		},
		"AfterToken": {
			reason: "the operation is stored, and the status write does not find the object", goes: true, at: 2,
			answers: []func() (flow.Progress, error){answer(flow.Done(), nil)}, want: []string{""},
		},
		"Unwritten": {
			reason: "the API server refuses the writes of the pass, and the next pass does not find the object", at: 1, broken: 1,
			answers: []func() (flow.Progress, error){answer(flow.Done(), nil)}, want: []string{""},
		},
		"LongDeletion": {
			reason: "the token of the deletion is in memory, because the object is gone", at: 1,
			answers: []func() (flow.Progress, error){answer(flow.InProgress("a", time.Millisecond), nil), answer(flow.InProgress("b", time.Millisecond), nil), answer(flow.Done(), nil)},
			want:    []string{"", "a", "b"},
		},
		"Retried": {
			reason: "an error of Delete is retried", at: 1,
			answers: []func() (flow.Progress, error){failed, answer(flow.Done(), nil)}, want: []string{"", ""},
		},
		"Failed": {
			reason: "a retry after the end of the time is too late", at: 1,
			answers: []func() (flow.Progress, error){answer(flow.Progress{}, ctrlx.NewRetriableError(errors.New("locked"), ptr.To(3*time.Hour)))},
			want:    []string{""}, reports: true,
		},
		"NoDelete": {reason: "nothing can delete the resource", at: 1, reports: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			d := o.database("db", "")
			writes := 0
			gone := at(statusWrite, tc.at, func() { vanish(t, d) })
			o.traffic.answers(func(what string, req *http.Request) *http.Response {
				gone(what, req)
				if what == statusWrite && writes < tc.broken {
					writes++
					return refusal(req, 500, "InternalError")
				}
				return nil
			})
			ops := flow.Operations[*testv1.Database]{Apply: func(ctxt, *flow.Request[*testv1.Database]) (flow.Progress, error) {
				if tc.goes {
					return flow.InProgress("the operation", time.Hour), nil
				}
				return flow.Done(), nil
			}}
			want := []string{}
			if tc.answers != nil {
				ops.Delete = o.deletions(tc.answers...)
				for _, token := range tc.want {
					want = append(want, fmt.Sprintf("delete %s %s", d.UID, token))
				}
			}
			reconciler := "Vanished" + o.namespace // no other test has its metrics
			o.start(ctrlx.New(reconciler, ops, flow.Extensions[*testv1.Database]{}))
			o.eventually(tc.reason, func() bool { return len(o.asked()) == len(want) && (!tc.reports || o.orphanEvent()) })
			o.traffic.quiet(t, 200*time.Millisecond)
			if diff := cmp.Diff(want, append([]string{}, o.asked()...)); diff != "" {
				t.Errorf("%s: calls of Delete (-want +got):\n%s", tc.reason, diff)
			}
			reports := 0.0
			if tc.reports {
				reports = 1
			}
			if n := orphaned(t, reconciler); n != reports {
				t.Errorf("%s: %v resources are reported, want %v", tc.reason, n, reports)
			}
		})
	}
}

// A deletion that is under way when the manager stops is reported.
func TestVanishedManagerStops(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	d := o.database("db", "")
	o.traffic.answers(at("PATCH databases/status", 1, func() { vanish(t, d) }))
	ops := o.operations()
	ops.Delete = o.deletions(answer(flow.InProgress("a", time.Hour), nil))
	o.start(ctrlx.New("Vanished"+o.namespace, ops, flow.Extensions[*testv1.Database]{}))
	o.eventually("Delete is called", func() bool { return slices.Contains(o.asked(), fmt.Sprintf("delete %s ", d.UID)) })
	o.traffic.quiet(t, 200*time.Millisecond)
	if n := orphaned(t, "Vanished"+o.namespace); n != 0 {
		t.Errorf("%v resources are reported while the deletion is under way", n)
	}
	o.stop()
	if n := orphaned(t, "Vanished"+o.namespace); n != 1 {
		t.Errorf("%v resources are reported, want 1", n)
	}
}

// The cloud resource of an object that vanished belongs to the next object of its name.
func TestVanishedMadeAnew(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		again  bool // the new object vanishes, too, before its Apply
		down   bool // the API is not served for one live read
	}{
		"Stays":     {reason: "the new object has the resource"},
		"NotServed": {reason: "an answer that does not name the object is no proof that there is no new object", down: true},
		"Vanishes":  {reason: "the new object vanished before it adopted the resource", again: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			first := o.database("db", "")
			var second *testv1.Database
			anew := at("PATCH databases/status", 1, func() {
				vanish(t, first)
				second = o.database("db", "")
			})
			adopts := at("PATCH databases", 2, func() { // the first one is the finalizer of the first object
				if tc.again {
					vanish(t, second)
				}
			})
			reads := 0
			o.traffic.answers(func(what string, req *http.Request) *http.Response {
				if what == "GET databases" {
					if reads++; reads == 2 && tc.down { // the first one finds that the object is another one
						return refusal(req, 404, "NotFound")
					}
				}
				anew(what, req)
				return adopts(what, req)
			})
			ops := o.operations()
			ops.Delete = o.deletions(answer(flow.Done(), nil))
			apply := ops.Apply
			ops.Apply = func(ctx ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				p, err := apply(ctx, req)
				if req.Resource.UID == first.UID {
					p = flow.InProgress("the operation", time.Hour)
				}
				return p, err
			}
			o.start(ctrlx.New("VanishedAnew"+o.namespace, ops, flow.Extensions[*testv1.Database]{}))
			want := []string{"put db 1", "put db 1"}
			if tc.again {
				want[1] = fmt.Sprintf("delete %s ", first.UID)
				o.eventually(tc.reason, func() bool { return len(o.asked()) == 2 })
			} else if d := o.until("db", "True Succeeded"); d.UID != second.UID {
				t.Fatalf("%s: the object is %s", tc.reason, d.UID)
			} else { // its own deletion is the only one
				want = append(want, fmt.Sprintf("delete %s ", second.UID))
				if err := api.Delete(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				o.until("db", "gone")
			}
			o.eventually(tc.reason, func() bool { return len(o.asked()) >= len(want) })
			o.traffic.quiet(t, 200*time.Millisecond)
			if diff := cmp.Diff(want, o.asked()); diff != "" {
				t.Errorf("%s: asked of the cloud (-want +got):\n%s", tc.reason, diff)
			}
			if n := orphaned(t, "VanishedAnew"+o.namespace); n != 0 {
				t.Errorf("%s: %v resources are reported", tc.reason, n)
			}
		})
	}
}

// An answer that does not name the object is no proof that it is gone.
func TestNotServedIsNotVanished(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.database("db", "")
	status, get := refusing("PATCH databases/status", 404, "NotFound", 1), refusing("GET databases", 404, "NotFound", 1)
	o.traffic.answers(func(what string, req *http.Request) *http.Response {
		if resp := status(what, req); resp != nil {
			return resp
		}
		return get(what, req)
	})
	o.start(ctrlx.New("VanishedNotServed", o.operations(), flow.Extensions[*testv1.Database]{}))
	o.until("db", "True Succeeded")
	if slices.ContainsFunc(o.asked(), func(call string) bool { return call[:3] != "put" }) {
		t.Errorf("asked of the cloud: %q", o.asked())
	}
}

// A link that stands for the operation has made something in the cloud, and a link that refuses has not.
func TestVanishedInLink(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		p      flow.Progress
		err    error
		want   int
	}{
		"Replaces": {reason: "the link replaces the operation", p: flow.Skip("made by the link"), want: 1},
		"Refuses":  {reason: "nothing was called", err: errors.New("the resource belongs to another person")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			d := o.database("db", "")
			o.traffic.answers(at("PATCH databases/status", 1, func() { vanish(t, d) }))
			link := chain.Named("Own", func(flow.Handler[*testv1.Database]) flow.Handler[*testv1.Database] {
				return func(ctxt, *flow.Request[*testv1.Database]) (flow.Progress, error) { return tc.p, tc.err }
			})
			o.start(ctrlx.New("VanishedLink"+name, o.operations(), flow.Extensions[*testv1.Database]{Apply: chain.New(link)}))
			o.until("db", "gone")
			o.eventually(tc.reason, func() bool { return len(o.asked()) >= tc.want })
			o.traffic.quiet(t, 500*time.Millisecond)
			if got := o.asked(); len(got) != tc.want {
				t.Errorf("%s: asked of the cloud: %q", tc.reason, got)
			}
		})
	}
}

// A person who removes the finalizer of an object between two passes lets it go.
func TestFinalizerRemoved(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.database("db", "")
	o.start(ctrlx.New("FinalizerRemoved", o.operations(), flow.Extensions[*testv1.Database]{}))
	d := o.until("db", "True Succeeded")
	o.traffic.quiet(t, 200*time.Millisecond) // the pass has ended
	none := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	o.traffic.answers(func(what string, req *http.Request) *http.Response {
		if what == "PATCH databases" { // the finalizer is not put back
			return refusal(req, 500, "InternalError")
		}
		return nil
	})
	if err := errors.Join(api.Patch(t.Context(), d, none), api.Delete(t.Context(), d)); err != nil {
		t.Fatal(err)
	}
	o.until("db", "gone")
	o.traffic.quiet(t, 200*time.Millisecond)
	if diff := cmp.Diff([]string{"put db 1"}, o.asked()); diff != "" {
		t.Errorf("asked of the cloud (-want +got):\n%s", diff)
	}
}

// A delayed deletion does not see the finalizer, although later writes of the
// same pass succeed. The event of the deletion then shows the finalizer.
func TestVanishedAfterThePass(t *testing.T) {
	cases := map[string]struct {
		reason string
		event  func(*App) event.DeleteEvent
		want   string
	}{
		"Finalizer": {"nothing but Delete removes the cloud resource", func(a *App) event.DeleteEvent { return event.DeleteEvent{Object: a} }, "delete"},
		"NoFinalizer": {"Delete has removed the cloud resource, or a person wants to keep it", func(a *App) event.DeleteEvent {
			a.Finalizers = nil
			return event.DeleteEvent{Object: a}
		}, ""},
		"Deleted": {"the pass that removed the finalizer has called Delete", func(a *App) event.DeleteEvent {
			a.DeletionTimestamp = ptr.To(metav1.Now())
			return event.DeleteEvent{Object: a}
		}, ""},
		"MissedEvent": {"the last state of the object is not known", func(a *App) event.DeleteEvent {
			return event.DeleteEvent{Object: a, DeleteStateUnknown: true}
		}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			r := d.reconciler(flow.Extensions[*App]{})
			d.use(r)
			d.pass()
			d.took()
			a := d.read()
			without := d.read()
			without.Finalizers = nil
			d.update(without)
			d.delete(without)
			ctrlx.HearDeletion(r, tc.event(a))
			d.pass()
			if got := d.took(); got != tc.want {
				t.Errorf("%s: the calls are %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// An event may report an object while a pass over an older orphan of its name ends. The
// end of that pass does not drop it.
func TestOrphanOfAnEventStays(t *testing.T) {
	r := newHarness(t).reconciler(flow.Extensions[*App]{})
	first, second := &memory.Orphan{}, &memory.Orphan{Gone: true}
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

// The manager stops after the event of a vanished object, and before a pass over it. No
// later pass deletes the resource, so it is reported if no object of its name exists.
func TestVanishedBeforeTheStop(t *testing.T) {
	cases := map[string]struct {
		reason string
		gone   bool
		want   float64
	}{
		"Gone":   {"nothing deletes the resource", true, 1},
		"Exists": {"the object has left the cache only, and the next process has it", false, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			r := d.reconciler(flow.Extensions[*App]{})
			d.use(r)
			d.pass()
			a := d.read()
			if tc.gone {
				without := d.read()
				without.Finalizers = nil
				d.update(without)
				d.delete(without)
			}
			ctrlx.HearDeletion(r, event.DeleteEvent{Object: a})
			before := orphaned(t, "App")
			ctx, stop := context.WithCancel(t.Context())
			stop()
			if err := ctrlx.ReportWhenStopped(ctx, r); err != nil {
				t.Fatal(err)
			}
			if got := orphaned(t, "App") - before; got != tc.want {
				t.Errorf("%s: %v resources are reported, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
