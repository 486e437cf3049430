package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// queueOf is a work queue of tests.
type queueOf = workqueue.TypedRateLimitingInterface[reconcile.Request]

// TestSources causes passes over objects in each state, by each kind of source,
// on a real API server. No object has a pass without an event.
func TestSources(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	passed := func(name string) int { return o.count("pass " + name) }
	ops := flow.Operations[*testv1.Database]{Apply: func(_ ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		name := req.Resource.Name
		switch {
		case name == "failed":
			return flow.Progress{}, errors.Join(o.note("put failed"), reconcile.TerminalError(errBroken))
		case name == "polling" && req.Token == "":
			return flow.InProgress("token", time.Hour), o.note("begin polling")
		case name == "polling":
			return flow.InProgress("token", time.Hour), o.note("poll polling")
		}
		return flow.Done(), o.note("put %s", name)
	}}
	ext := flow.Extensions[*testv1.Database]{PreCheck: chain.New(checks.Check("NotBlocked", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
		if req.Resource.Name == "blocked" {
			return checks.Block("Held", "a test holds it", checks.WithRetry(classify.OnChange)), nil
		}
		return checks.Proceed(), nil
	}))}
	external := make(chan event.GenericEvent)
	databases := func(sources ...ctrlx.Option) *ctrlx.Reconciler[*testv1.Database] {
		ofLabel := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetLabels()["of"]}}}
		})
		return ctrlx.New("Database", ops, ext, append(sources,
			ctrlx.WithWakeLimit(1, time.Hour),
			ctrlx.WithOwns(&corev1.ConfigMap{}),
			ctrlx.WithWatches(&testv1.Cluster{}, ofLabel, predicate.GenerationChangedPredicate{}),
			ctrlx.WithWatches(&testv1.Database{}, &handler.EnqueueRequestForObject{}, predicate.LabelChangedPredicate{}),
		)...).WithPostReadHook(func(_ ctxt, _ client.Client, d *testv1.Database) error { return o.note("pass %s", d.Name) })
	}
	names := []string{"ready", "blocked", "failed", "polling"}
	states := map[string]string{"ready": "True Succeeded", "blocked": "False Held", "failed": "False Terminal", "polling": "False InProgress"}
	uids := map[string]types.UID{}
	for _, name := range names {
		uids[name] = o.database(name, "").UID
	}
	r := databases(ctrlx.WithSource(source.Channel(external, &handler.EnqueueRequestForObject{})))
	o.start(r)
	for _, name := range names {
		o.until(name, states[name])
	}
	owned := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "of-" + name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: testv1.GroupVersion.String(), Kind: "Database", Name: name, UID: uids[name], Controller: new(true),
		}}}}
	}
	at := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: o.namespace, Name: name} }
	create := func(obj client.Object) { must(t, api.Create(t.Context(), obj)) }
	patch := func(name, change string) {
		must(t, api.Patch(t.Context(), &testv1.Database{ObjectMeta: at(name)}, client.RawPatch(types.MergePatchType, []byte(change))))
	}
	events := []struct {
		source string
		happen func(name string)
	}{
		{"an owned object", func(name string) { create(owned(name)) }},
		{"a watched object", func(name string) {
			create(&testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name, Labels: map[string]string{"of": name}}})
		}},
		{"a channel", func(name string) { external <- event.GenericEvent{Object: &testv1.Database{ObjectMeta: at(name)}} }},
		{"a label of the object", func(name string) { patch(name, `{"metadata":{"labels":{"a":"b"}}}`) }},
		{"its spec, which no predicate of a source can hide", func(name string) { patch(name, `{"spec":{"size":7}}`) }},
		{"a poke", func(name string) {
			if !r.Poke(types.NamespacedName{Namespace: o.namespace, Name: name}) {
				t.Error("a poke of the leader is refused")
			}
		}},
	}
	calls := map[string]string{"ready": "put ready", "failed": "put failed", "polling": "poll polling"}
	for _, e := range events {
		for _, name := range names {
			n, m := passed(name), o.count(calls[name])
			e.happen(name)
			o.eventually(fmt.Sprintf("%s causes no whole pass of %s", e.source, name), func() bool {
				return passed(name) > n && (name == "blocked" || o.count(calls[name]) > m)
			})
		}
	}
	for _, name := range names {
		o.until(name, states[name])
	}
	o.stop()
	if r.Poke(types.NamespacedName{Namespace: o.namespace, Name: "ready"}) {
		t.Error("a poke is accepted after the manager has stopped")
	}

	// The first lists of the sources cause no whole pass after a restart, and a later event does.
	puts, ready, blocked := o.count("put ready"), passed("ready"), passed("blocked")
	o.start(databases())
	o.eventually("not every object had a pass after the restart", func() bool { return passed("ready") > ready && passed("blocked") > blocked })
	o.traffic.take(t)
	if got := o.count("put ready"); got != puts || passed("ready") != ready+1 {
		t.Errorf("the first lists of sources cause %d calls of the cloud, in %d passes", got-puts, passed("ready")-ready)
	}
	changed := owned("ready")
	changed.Data = map[string]string{"a": "b"}
	must(t, api.Update(t.Context(), changed))
	o.eventually("an owned object that changed causes no whole pass", func() bool { return o.count("put ready") > puts })
}

// TestSourcesBeforeFirstPass: an event that comes after the first lists, and
// before the first pass over an object, must not be left out with that pass.
func TestSourcesBeforeFirstPass(t *testing.T) {
	low := handler.LowPriority
	req := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}}
	cases := map[string]struct {
		reason string
		add    func(q priorityqueue.PriorityQueue[reconcile.Request])
		want   string
	}{
		"Nothing": {"no event came", func(priorityqueue.PriorityQueue[reconcile.Request]) {}, ""},
		"FirstList": {"the first list is no change", func(q priorityqueue.PriorityQueue[reconcile.Request]) {
			q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, req)
		}, ""},
		"Add": {"an event", func(q priorityqueue.PriorityQueue[reconcile.Request]) { q.Add(req) }, "apply"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, program("p", nil))
			d.pass()
			d.took()
			d.restart()
			r := d.reconciler(flow.Extensions[*App]{}, program("p", nil), ctrlx.WithSource(source.Func(func(_ context.Context, q queueOf) error {
				tc.add(q.(priorityqueue.PriorityQueue[reconcile.Request]))
				return nil
			})))
			d.use(r)
			sources, err := ctrlx.SourcesOf(r, d.manager)
			if err != nil {
				t.Fatal(err)
			}
			q := priorityqueue.New[reconcile.Request]("test")
			defer q.ShutDown()
			must(t, sources[0].Start(t.Context(), q))
			d.pass()
			if got := d.took(); got != tc.want {
				t.Errorf("%s: the first pass calls %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// The writes of a pass cause no other pass. Each other change that may need a pass
// causes one.
func TestAsked(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	yes := true
	type set = map[string]string
	annotated := func(before, after set) func(old, now *testv1.Database) {
		return func(old, now *testv1.Database) { old.Annotations, now.Annotations = before, after }
	}
	cases := map[string]struct {
		reason string
		change func(old, now *testv1.Database)
		want   bool
	}{
		"Nothing":          {"a resync of the informer", func(_, _ *testv1.Database) {}, false},
		"Status":           {"each pass would make another", func(_, d *testv1.Database) { d.Status.Size = 3 }, false},
		"Version":          {"it says nothing", func(_, d *testv1.Database) { d.ResourceVersion = "7" }, false},
		"Label":            {"nothing is done by labels", func(_, d *testv1.Database) { d.Labels = map[string]string{"a": "b"} }, false},
		"Generation":       {"the spec", func(_, d *testv1.Database) { d.Generation = 2 }, true},
		"UID":              {"created again between two lists", func(_, d *testv1.Database) { d.UID = "2" }, true},
		"Deleted":          {"it has to go from the cloud", func(_, d *testv1.Database) { d.DeletionTimestamp = &now }, true},
		"Annotation":       {"people ask for a pass so", annotated(nil, set{"a": "b"}), true},
		"AnnotationGone":   {"likewise", annotated(set{"a": "b"}, nil), true},
		"AnnotationSwap":   {"as many as before", annotated(set{"b": "b"}, set{"a": "b"}), true},
		"ApplySet":         {"a pass writes them, and they describe the dependents", annotated(set{"a": "b"}, set{"a": "b", "applyset.kubernetes.io/tooling": "x/v1"}), false},
		"ApplySetAndOther": {"others still count", annotated(nil, set{"a": "b", "applyset.kubernetes.io/tooling": "x/v1"}), true},
		"Ahead":            {"a pass writes it", annotated(nil, set{ctrlx.AheadPrefix + "a": "b"}), false},
		"AheadGone":        {"a person removed what a later pass needs", annotated(set{ctrlx.AheadPrefix + "a": "b"}, nil), true},
		"AheadAndOther":    {"others still count", annotated(nil, set{"a": "b", ctrlx.AheadPrefix + "a": "b"}), true},
		"Owner":            {"it belongs to another one", func(_, d *testv1.Database) { d.OwnerReferences = []metav1.OwnerReference{{UID: "1"}} }, true},
		"OwnerVersion": {"its group may be another one", func(old, d *testv1.Database) {
			old.OwnerReferences, d.OwnerReferences = []metav1.OwnerReference{{}}, []metav1.OwnerReference{{APIVersion: "b/v1"}}
		}, true},
		"Controller": {"the one that controls is the owner", func(old, d *testv1.Database) {
			old.OwnerReferences, d.OwnerReferences = []metav1.OwnerReference{{UID: "1"}}, []metav1.OwnerReference{{UID: "1", Controller: &yes}}
		}, true},
		"OwnerBlocks": {"it is the same owner", func(old, d *testv1.Database) {
			old.OwnerReferences = []metav1.OwnerReference{{UID: "1", Controller: new(true)}, {UID: "2"}}
			d.OwnerReferences = []metav1.OwnerReference{{UID: "1", Controller: &yes, BlockOwnerDeletion: &yes}, {UID: "2"}}
		}, false},
		"FinalizerAdded": {"a pass adds one", func(_, d *testv1.Database) { d.Finalizers = []string{ctrlx.Finalizer} }, false},
		"FinalizerGone":  {"ours keeps it until it is gone from the cloud", func(d, _ *testv1.Database) { d.Finalizers = []string{ctrlx.Finalizer} }, true},
		"FinalizerGoneWhileDeleting": {"others may have waited", func(old, d *testv1.Database) {
			old.Finalizers = []string{"a/b", ctrlx.Finalizer}
			d.Finalizers = []string{ctrlx.Finalizer}
			old.DeletionTimestamp, d.DeletionTimestamp = &now, &now
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old, now := &testv1.Database{}, &testv1.Database{}
			old.UID, now.UID, old.Generation, now.Generation = "1", "1", 1, 1
			tc.change(old, now)
			if !ctrlx.Asked.Update(event.UpdateEvent{ObjectOld: old}) || !ctrlx.Asked.Update(event.UpdateEvent{ObjectNew: now}) {
				t.Error("an event without one of the objects causes no pass")
			}
			if got := ctrlx.Asked.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: now}); got != tc.want {
				t.Errorf("%s: asked for a pass: %v", tc.reason, got)
			}
		})
	}
}

// poked is a queue that notes the delays of the added requests.
type pokedQueue struct {
	queueOf
	mu    sync.Mutex
	added []string
}

func (q *pokedQueue) AddAfter(req reconcile.Request, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.added = append(q.added, fmt.Sprintf("%s after %s", req.Name, after))
}

// took returns what was added since the last call.
func (q *pokedQueue) took() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.added
	q.added = nil
	slices.Sort(all)
	return all
}

// TestPoke takes a reconciler through its life: before the start, without the
// leadership, as the leader, and after the stop.
func TestPoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		r := d.reconciler(flow.Extensions[*App]{})
		q, elected := &pokedQueue{}, make(chan struct{})
		expect := func(when string, accepted, want bool, added ...string) {
			t.Helper()
			synctest.Wait()
			if got := q.took(); accepted != want || !slices.Equal(got, added) {
				t.Errorf("%s: accepted %t, want %t; added %q, want %q", when, accepted, want, got, added)
			}
		}
		expect("before SetupWithManager", r.Poke(named("a")), false)
		d.use(r)
		ctx, stop := context.WithCancel(t.Context())
		ctrlx.StartPokes(ctx, r, q, elected)
		expect("without the leadership", r.Poke(named("b")), false)
		expect("again, without the leadership", r.Poke(named("b")), false)
		close(elected)
		synctest.Wait()
		expect("the kept ones, as the leader", r.Poke(named("a")), true, "a after 0s", "b after 0s")
		time.Sleep(time.Minute)
		expect("while all workers are busy", r.Poke(named("a")), true)
		d.pass()
		time.Sleep(400 * time.Millisecond)
		expect("in the second after a pass", r.Poke(named("a")), true, "a after 600ms")
		expect("again, before that pass", r.Poke(named("a")), true)
		d.pass() // an event brings that pass forward
		expect("after a pass that was due later", r.Poke(named("a")), true, "a after 1s")
		d.pass()
		time.Sleep(400 * time.Millisecond)
		d.pass() // for another reason
		expect("in the second after a pass of a poke", r.Poke(named("a")), true, "a after 600ms")
		d.pass()
		time.Sleep(2 * time.Second)
		expect("later", r.Poke(named("a")), true, "a after 0s")
		stop()
		synctest.Wait()
		expect("after the stop", r.Poke(named("c")), false)
	})
}

// noNamespaces reads an object of a kind without namespaces, whatever namespace a caller names.
type noNamespaces struct{ client.Client }

func (c noNamespaces) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.Client.Get(ctx, named(key.Name), obj, opts...)
}

// TestPokeOfNoNamespace verifies that an object has one pass at a time, also if a Poke names a namespace that its kind does not have.
func TestPokeOfNoNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		d.api = noNamespaces{d.api}
		for range 2 {
			d.restart()
			d.with(flow.Extensions[*App]{}, program("p", nil))
			d.pass()
			d.took()
		}
		d.restart()
		d.with(flow.Extensions[*App]{}, program("p", nil))
		q := &pokedQueue{}
		ctrlx.StartPokes(t.Context(), d.app, q, make(chan struct{}))
		_, err := d.app.Reconcile(d.context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "made-up", Name: "a"}})
		if calls, added := d.took(), q.took(); err != nil || calls != "" || !slices.Equal(added, []string{"a after 1s"}) {
			t.Errorf("the pass calls %q, adds %q and returns %v", calls, added, err)
		}
		if d.pass(); d.took() != "apply" {
			t.Error("the pass that the request asks for is left out")
		}
	})
}

// A pass may begin before the manager says that the process leads. From the first pass on,
// no pass of a poked object is left out.
func TestPokeBeforeTheFirstPass(t *testing.T) {
	for _, many := range []int{0, ctrlx.MaxPokes} {
		synctest.Test(t, func(t *testing.T) {
			b := anApp(AppSpec{})
			b.Name, b.UID = "b", "b"
			d := newHarness(t, anApp(AppSpec{}), b).with(flow.Extensions[*App]{}, program("p", nil))
			d.pass()
			d.passOver(d.context(), "b")
			d.restart()
			d.took()
			r, q := d.reconciler(flow.Extensions[*App]{}, program("p", nil)), &pokedQueue{}
			d.use(r)
			for i := range many {
				r.Poke(named(fmt.Sprint("made-up-", i)))
			}
			r.Poke(named("a"))
			ctx, stop := context.WithCancel(t.Context())
			ctrlx.StartPokes(ctx, r, q, make(chan struct{}))
			d.pass()
			if got := d.took(); got != "apply" {
				t.Errorf("with %d other pokes, the first pass over a poked object calls %q", many, got)
			}
			if n := len(q.took()); n != many {
				t.Errorf("%d objects are in the queue, want %d", n, many)
			}
			r.Poke(named("b"))
			if d.passOver(d.context(), "b"); d.took() != "apply" {
				t.Errorf("with %d other pokes, the leader leaves out the first pass over a poked object", many)
			}
			stop()
			synctest.Wait()
		})
	}
}

// The memory of pokes is bounded, and no poke of a process that starts is lost.
func TestPokesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, program("p", nil))
		d.pass()
		d.restart()
		d.took()
		r := d.reconciler(flow.Extensions[*App]{}, program("p", nil))
		for i := range ctrlx.MaxPokes {
			r.Poke(named(fmt.Sprint("made-up-", i)))
		}
		r.Poke(named("a")) // there is no room for it
		d.use(r)
		q, elected := &pokedQueue{}, make(chan struct{})
		close(elected)
		ctx, stop := context.WithCancel(t.Context())
		ctrlx.StartPokes(ctx, r, q, elected)
		synctest.Wait()
		if n := len(q.took()); n != ctrlx.MaxPokes {
			t.Errorf("%d names are in the queue, want %d", n, ctrlx.MaxPokes)
		}
		d.pass()
		if got := d.took(); got != "apply" {
			t.Errorf("the poke that found no room is lost: the first pass calls %q", got)
		}
		if r.Poke(named("a")) {
			t.Error("a poke is accepted beyond the bound")
		}
		time.Sleep(2 * ctrlx.PokeInterval)
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: named("made-up-1")}); err != nil {
			t.Fatal(err)
		}
		if r.Poke(named("a")) {
			t.Error("a poke is accepted beyond the bound two seconds later, although all objects but one wait for their passes, and that one had it now")
		}
		time.Sleep(ctrlx.PokeInterval)
		if !r.Poke(named("a")) {
			t.Error("no poke is accepted a second after a pass")
		}
		stop()
		synctest.Wait()
	})
}
