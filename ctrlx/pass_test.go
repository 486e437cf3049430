package ctrlx_test

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// bare is a reconciler by hand for the same passes: the same reads, the same three conditions, compared
// by hand.
type bare struct {
	client.Client
	objects func(owner *testv1.Cluster) (reason, message string) // why a database has to wait; nil: they have no owner
}

func (b *bare) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	d := &testv1.Database{}
	if err := b.Get(ctx, req.NamespacedName, d); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Succeeded", ObservedGeneration: d.Generation}
	if b.objects != nil {
		c := &testv1.Cluster{}
		if err := b.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: metav1.GetControllerOfNoCopy(d).Name}, c); err != nil {
			return reconcile.Result{}, err
		}
		if reason, message := b.objects(c); reason != "" {
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, reason, message
		}
	}
	waiting := ready
	waiting.Type, waiting.Status = "Reconciling", metav1.ConditionTrue
	blocked := ready.Status != metav1.ConditionTrue
	if has(d.Status.Conditions, &ready) && meta.FindStatusCondition(d.Status.Conditions, "Stalled") == nil &&
		(blocked && has(d.Status.Conditions, &waiting) || !blocked && meta.FindStatusCondition(d.Status.Conditions, "Reconciling") == nil) {
		return reconcile.Result{RequeueAfter: time.Hour}, nil
	}
	patch := client.MergeFromWithOptions(d.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
	meta.SetStatusCondition(&d.Status.Conditions, ready)
	meta.RemoveStatusCondition(&d.Status.Conditions, "Stalled")
	if blocked {
		meta.SetStatusCondition(&d.Status.Conditions, waiting)
	} else {
		meta.RemoveStatusCondition(&d.Status.Conditions, "Reconciling")
	}
	return reconcile.Result{RequeueAfter: time.Hour}, b.Status().Patch(ctx, d, patch)
}

// notReady returns the objection of checks.OwnerReady to an owner.
func notReady(c *testv1.Cluster) (reason, message string) {
	is := meta.FindStatusCondition(c.Status.Conditions, "Ready")
	if is != nil && is.Status == metav1.ConditionTrue && is.ObservedGeneration >= c.Generation {
		return "", ""
	}
	message = "owner Cluster " + c.Namespace + "/" + c.Name + " is not ready"
	if is != nil {
		message += ": " + is.Reason + ": " + is.Message
	}
	return "OwnerNotReady", message
}

func has(all []metav1.Condition, c *metav1.Condition) bool {
	is := meta.FindStatusCondition(all, c.Type)
	return is != nil && is.Status == c.Status && is.Reason == c.Reason && is.Message == c.Message && is.ObservedGeneration == c.ObservedGeneration
}

// steady are the passes that are measured: nothing has changed, so that nothing is written.
var steady = map[string]struct {
	reason string
	owner  string  // the state of the owner; empty: there is none
	most   float64 // allocations more than the bare reconciler makes
	limit  float64 // how many times as long as the bare reconciler it may take, on a quiet machine
	lines  bool    // the default observer, and a logger that shows verbosity 0, as controller-runtime has it; false: no observer
}{
	"Ready":         {"a resource without an owner and without checks", "", 4, 4, false},
	"Owner":         {"an owner that is ready", "Running", 9, 4, false},
	"Blocked":       {"an owner that is not ready, and watched", "Creating", 10, 4, false},
	"ReadyLogged":   {"the default observer, and nothing to log", "Running", 28, 12, true},
	"BlockedLogged": {"the default observer, and a block that was logged before", "Creating", 32, 12, true},
}

// cached returns an object as caches have it, with the fields that the API server writes.
func cached(o client.Object, name string) client.Object {
	at := metav1.Unix(1_700_000_000, 0)
	o.SetNamespace("team-a")
	o.SetName(name)
	o.SetUID("7d1f1b5e-3f5c-4f5e-9d8b-1a2b3c4d5e6f")
	o.SetResourceVersion("123456")
	o.SetGeneration(3)
	o.SetCreationTimestamp(at)
	o.SetLabels(map[string]string{"app": "shop", "team": "a"})
	for _, by := range []string{"kubectl", "operator"} {
		o.SetManagedFields(append(o.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: by, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: testv1.GroupVersion.String(), Time: &at, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:status":{},"f:type":{}}}}}`),
		}))
	}
	return o
}

// objects are a database, and its owner if that has a state.
func objects(state string) []client.Object {
	d := cached(&testv1.Database{}, "db").(*testv1.Database)
	if state == "" {
		return []client.Object{d}
	}
	c := cached(&testv1.Cluster{}, "prod").(*testv1.Cluster)
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: state, Message: "it is " + state, ObservedGeneration: c.Generation}
	if state == "Running" {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&c.Status.Conditions, ready)
	d.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, testv1.GroupVersion.WithKind("Cluster"))}
	return []client.Object{d, c}
}

// measured is a reconciler for databases whose cloud is in sync.
func measured(owned bool, opts ...ctrlx.Option) *ctrlx.Reconciler[*testv1.Database] {
	var ext extensions
	if owned {
		ext = waitsForCluster
	}
	return ctrlx.New("Database", databases{Apply: put, Get: inSync}, ext, opts...)
}

func inSync(ctxt, *flow.Request[*testv1.Database]) (flow.Observation, error) {
	return flow.Observation{Presence: checks.Present, InSync: true}, nil
}

// passes returns one pass of the adapter and one pass of the bare reconciler, each over objects of its own, in the state in which
// neither writes anything any more.
func passes(tb testing.TB, owner string, lines bool, manager func(...client.Object) *inMemory) (adapter, byHand func()) {
	tb.Helper()
	ours, theirs := manager(objects(owner)...), manager(objects(owner)...)
	ctx, opts := context.Background(), []ctrlx.Option{ctrlx.WithoutTelemetry()}
	if lines {
		ctx, opts = logr.NewContext(ctx, funcr.New(func(string, string) {}, funcr.Options{})), nil
	}
	r := measured(owner != "", opts...)
	must(tb, r.SetupWithManager(ours))
	settled := func(r reconcile.Reconciler) func() {
		req := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "db"}}
		do := func() {
			if result, err := r.Reconcile(ctx, req); err != nil || result.RequeueAfter < 45*time.Minute {
				panic(fmt.Sprintf("%T: %+v, %v", r, result, err))
			}
		}
		do()
		do()
		return do
	}
	b := &bare{Client: theirs.GetClient()}
	if owner != "" {
		b.objects = notReady
	}
	adapter, byHand = settled(r), settled(b)
	for _, m := range []*inMemory{ours, theirs} { // what is measured is not how to write
		if m.writes != nil && m.writes.Load() != 1 {
			tb.Fatalf("%d writes, want one of the first pass", m.writes.Load())
		}
	}
	return adapter, byHand
}

func TestPassAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for name, tc := range steady {
		t.Run(name, func(t *testing.T) {
			adapter, byHand := passes(t, tc.owner, tc.lines, newInMemory)
			got, least := testing.AllocsPerRun(500, adapter), testing.AllocsPerRun(500, byHand)
			t.Logf("%v allocations, %v by hand", got, least)
			if got > least+tc.most {
				t.Errorf("%s: %v allocations, %v by hand: at most %v more", tc.reason, got, least, tc.most)
			}
		})
	}
}

// The limits hold on a quiet machine; the test allows half as much again.
func TestPassCosts(t *testing.T) {
	ratio.InVerify(t)
	for name, tc := range steady {
		t.Run(name, func(t *testing.T) {
			adapter, byHand := passes(t, tc.owner, tc.lines, newInMemory)
			got := ratio.Of(adapter, byHand, ratio.Options{Samples: 100})
			t.Logf("%.2fx, the limit is %.2fx", got, tc.limit)
			if got > 1.5*tc.limit {
				t.Errorf("%s: %.2fx, the limit is %.2fx", tc.reason, got, tc.limit)
			}
		})
	}
}

// newFake is a manager with the fake client of controller-runtime, which takes much longer than a cache.
func newFake(objects ...client.Object) *inMemory {
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&testv1.Database{}, &testv1.Cluster{}).Build()
	return &inMemory{reader: c, client: c}
}

// BenchmarkPass measures a pass and one by hand in the same run.
func BenchmarkPass(b *testing.B) {
	for _, with := range []struct {
		name    string
		manager func(...client.Object) *inMemory
	}{{"memory", newInMemory}, {"fake", newFake}} {
		for _, name := range []string{"Ready", "Owner", "Blocked", "ReadyLogged", "BlockedLogged"} {
			b.Run(with.name+"/"+name+"/ctrlx", func(b *testing.B) {
				adapter, byHand := passes(b, steady[name].owner, steady[name].lines, with.manager)
				b.ReportAllocs()
				for b.Loop() {
					adapter()
				}
				b.ReportMetric(ratio.Of(adapter, byHand, ratio.Options{Samples: 200}), "x-by-hand")
			})
			b.Run(with.name+"/"+name+"/by-hand", func(b *testing.B) {
				_, byHand := passes(b, steady[name].owner, steady[name].lines, with.manager)
				b.ReportAllocs()
				for b.Loop() {
					byHand()
				}
			})
		}
	}
}

// inMemory is a manager without an API server, for measuring what a pass costs besides its reads: those do what the reader of
// controller-runtime's cache does: they look the object up, copy it and set its kind. A part that a pass does not need
// is left nil, and panics.
type inMemory struct {
	idleManager
	reader client.Reader
	client client.Client
	writes *atomic.Int64
}

// newInMemory is one whose client and cache read from memory.
func newInMemory(objects ...client.Object) *inMemory {
	s := &store{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}}
	for _, o := range objects {
		s.put(o)
	}
	return &inMemory{reader: s, client: &storeClient{store: s}, writes: &s.writes}
}

func (m *inMemory) GetCache() cache.Cache                          { return memoryCache{Reader: m.reader} }
func (m *inMemory) GetClient() client.Client                       { return m.client }
func (m *inMemory) GetAPIReader() client.Reader                    { return m.reader }
func (m *inMemory) GetEventRecorder(string) recorder.EventRecorder { return noEvents{} }
func (m *inMemory) Add(manager.Runnable) error                     { return nil }
func (m *inMemory) GetConfig() *rest.Config                        { return &rest.Config{} }

type noEvents struct{ recorder.EventRecorder }

func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// store reads as the cache of a kind does.
type store struct {
	objects map[reflect.Type]map[client.ObjectKey]client.Object
	writes  atomic.Int64
}

func (s *store) put(o client.Object) {
	t := reflect.TypeOf(o)
	if s.objects[t] == nil {
		s.objects[t] = map[client.ObjectKey]client.Object{}
	}
	s.objects[t][client.ObjectKeyFromObject(o)] = o.DeepCopyObject().(client.Object)
}

func (s *store) Get(_ context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	var o client.GetOptions
	o.ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(out, scheme)
	if err != nil {
		return err
	}
	found, ok := s.objects[reflect.TypeOf(out)][key]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// List is asked whether a kind may be listed.
func (s *store) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// storeClient writes what passes write.
type storeClient struct {
	client.Client
	store *store
}

func (c *storeClient) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	return c.store.Get(ctx, key, out, opts...)
}

func (c *storeClient) Status() client.SubResourceWriter { return storeStatus{store: c.store} }

type storeStatus struct {
	client.SubResourceWriter
	store *store
}

func (s storeStatus) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.store.writes.Add(1)
	s.store.put(o)
	return nil
}

// memoryCache is of kinds that are watched, and never change.
type memoryCache struct {
	client.Reader
	cache.Informers
}

func (memoryCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return synced{}, nil
}

func (c memoryCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	return c.Reader.Get(ctx, key, out, opts...)
}

type synced struct{ cache.Informer }

func (synced) HasSyncedChecker() toolscache.DoneChecker { return listed }
func (synced) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return registered{}, nil
}

type registered struct {
	toolscache.ResourceEventHandlerRegistration
}

func (registered) HasSyncedChecker() toolscache.DoneChecker { return listed }

type checker chan struct{}

func (checker) Name() string            { return "" }
func (d checker) Done() <-chan struct{} { return d }

var listed = func() checker { d := make(checker); close(d); return d }()

type databaseRequest = checks.Request[*testv1.Database]

// many are the passes over a database that reads many clusters. Nothing changes in them.
var many = map[string]struct {
	reason string
	check  func(ctx context.Context, req *databaseRequest, refs []checks.Ref) checks.Result
}{
	"followed": {"the checks follow the objects", func(ctx context.Context, req *databaseRequest, refs []checks.Ref) checks.Result {
		req.Follow(ctx, refs...)
		return checks.Proceed()
	}},
	"operation": {"the operations follow the objects", func(ctx context.Context, _ *databaseRequest, refs []checks.Ref) checks.Result {
		ctrlx.Follow(ctx, refs...)
		return checks.Proceed()
	}},
	"awaited": {"the pass is blocked by the objects", func(_ context.Context, _ *databaseRequest, refs []checks.Ref) checks.Result {
		return checks.Block("Waiting", "clusters are not ready", checks.WithWaitingFor(refs...))
	}},
}

// passOverMany returns a pass over a database that reads n clusters.
func passOverMany(tb testing.TB, name string, n int) func() {
	tb.Helper()
	all := []client.Object{cached(&testv1.Database{}, "db")}
	refs := make([]checks.Ref, n)
	for i := range refs {
		c := cached(&testv1.Cluster{}, fmt.Sprintf("cluster-%d", i))
		refs[i] = checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: c.GetNamespace(), Name: c.GetName()}
		all = append(all, c)
	}
	m := newInMemory(all...)
	ext := extensions{EntryCheck: chain.New(checks.Check("Clusters", func(ctx context.Context, req *databaseRequest) (checks.Result, error) {
		for _, ref := range refs {
			if _, err := req.Resolver(ctx, ref); err != nil {
				return checks.Result{}, err
			}
		}
		return many[name].check(ctx, req, refs), nil
	}))}
	r := ctrlx.New("Database", databases{Apply: put, Get: inSync}, ext, ctrlx.WithoutTelemetry())
	must(tb, r.SetupWithManager(m))
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(all[0])}
	pass := func() {
		if _, err := r.Reconcile(context.Background(), req); err != nil {
			tb.Fatal(err)
		}
	}
	pass()
	pass()
	if n := m.writes.Load(); n != 1 {
		tb.Fatalf("the passes wrote %d times", n)
	}
	return pass
}

// TestManyCost verifies that an object among many costs a pass as much as one among few.
func TestManyCost(t *testing.T) {
	ratio.InVerify(t)
	const few, all = 20, 2000
	for name, tc := range many {
		t.Run(name, func(t *testing.T) {
			small, large := passOverMany(t, name, few), passOverMany(t, name, all)
			got := ratio.Of(large, func() {
				for range all / few {
					small()
				}
			}, ratio.Options{Samples: 10})
			t.Logf("%.2fx", got)
			if got > 3 {
				t.Errorf("%s: an object of %d costs %.2f times as much as one of %d", tc.reason, all, got, few)
			}
		})
	}
}

// paused is the condition Paused of the App "a", without its time.
func (d *harness) paused() metav1.Condition {
	d.t.Helper()
	c := meta.FindStatusCondition(d.read().Status.Conditions, ctrlx.ConditionPaused)
	if c == nil {
		return metav1.Condition{}
	}
	c.LastTransitionTime = metav1.Time{}
	return *c
}

// The condition Paused tells people that a user holds the object, and how it
// continues.
func TestPaused(t *testing.T) {
	const byUser, byCheck = "the object is suspended; resume it to continue", "the resource is paused; resume it to continue"
	yes := func(reason, message string, generation int64) metav1.Condition {
		return metav1.Condition{Type: ctrlx.ConditionPaused, Status: "True", Reason: reason, Message: message, ObservedGeneration: generation}
	}
	no := func(generation int64) metav1.Condition {
		return metav1.Condition{Type: ctrlx.ConditionPaused, Status: "False", Reason: ctrlx.ReasonNotPaused, ObservedGeneration: generation}
	}
	suspended, pausing := AppSpec{Suspended: true}, AppSpec{Cluster: "pauses"}
	edit := func(do func(*AppSpec)) func(*harness) {
		return func(d *harness) { d.change(func(a *App) { do(&a.Spec) }) }
	}
	cases := map[string]struct {
		reason string
		spec   AppSpec
		do     []func(*harness) // before each further pass
		want   metav1.Condition
		says   string
	}{
		"Never":     {"no user paused it", AppSpec{}, nil, metav1.Condition{}, "True Succeeded"},
		"Suspended": {"the message says how to continue", suspended, nil, yes("Suspended", byUser, 1), "False Suspended Paused"},
		"Resumed":   {"the time of the resumption stays visible", suspended, []func(*harness){suspend(false)}, no(2), "True Succeeded"},
		"Edited":    {"the condition is that of the present spec", suspended, []func(*harness){suspend(false), edit(func(s *AppSpec) { s.User = "x" })}, no(3), "True Succeeded"},
		"Again":     {"a user pauses it once more", suspended, []func(*harness){suspend(false), suspend(true)}, yes("Suspended", byUser, 3), "False Suspended Paused"},
		"Check":     {"a check for pauses", pausing, nil, yes("Paused", byCheck, 1), "False Paused Paused"},
		"CheckGone": {"the check lets it continue", pausing, []func(*harness){edit(func(s *AppSpec) { s.Cluster = "" })}, no(2), "True Succeeded"},
		"Both":      {"the outer one blocks", AppSpec{Suspended: true, Cluster: "pauses"}, nil, yes("Suspended", byUser, 1), "False Suspended Paused"},
		"LinkFails": {"a link of the user on Pass fails, and the object is still suspended", suspended, []func(*harness){func(d *harness) { d.fails = "link" }}, yes("Suspended", byUser, 1), "False Unknown Reconciling Paused"},
		"Deleted":   {"the deletion of a suspended object continues", suspended, []func(*harness){func(d *harness) { d.remove = inProgress(d); d.delete(d.read()) }}, no(1), "False Deleting Reconciling"},
		"Panics":    {"the pass reports the panic", AppSpec{User: "panics"}, nil, metav1.Condition{}, "False Panic Reconciling"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(tc.spec))
			d.use(d.reconciler(flow.Extensions[*App]{
				Pass: chain.New(chain.Before[*App, flow.Outcome](func(ctxt, *App) error {
					if d.fails == "link" {
						return errBroken
					}
					return nil
				})),
				EntryCheck: chain.New(checks.Paused(func(a *App) bool { return a.Spec.Cluster == "pauses" })),
			}))
			d.pass()
			for _, do := range tc.do {
				do(d)
				d.pass()
			}
			if diff := cmp.Diff(tc.want, d.paused()); diff != "" || d.says() != tc.says {
				t.Errorf("%s: it says %q, not %q: -want, +got:\n%s", tc.reason, d.says(), tc.says, diff)
			}
			writes := d.writes
			if d.pass(); d.writes != writes {
				t.Errorf("%s: a second pass writes it again", tc.reason)
			}
		})
	}
}

// noting is a link on Pass that notes that it was entered.
func (d *harness) noting(what string) flow.PassMiddleware[*App] {
	return chain.Before[*App, flow.Outcome](func(ctxt, *App) error { d.note("%s", what); return nil })
}
