package ctrlx_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// patience is the longest time that a test waits for a condition.
const patience = apiserver.Patience

// operator is a manager with a reconciler for databases, whose cloud notes what is asked of it.
type operator struct {
	t         *testing.T
	namespace string
	mu        sync.Mutex
	calls     []string
	user      string // whose rights the manager has; empty: all
	traffic   traffic
	stop      func()
}

// note notes a call. It returns no error.
func (o *operator) note(format string, args ...any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, fmt.Sprintf(format, args...))
	return nil
}

func (o *operator) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.calls...)
}

type ctxt = context.Context

// clusterOf names the owner in the spec.
func clusterOf(d *testv1.Database) checks.Ref {
	if d.Spec.Cluster == "" {
		return checks.Ref{}
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}
}

func (o *operator) operations() flow.Operations[*testv1.Database] {
	return flow.Operations[*testv1.Database]{
		Apply: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			d := req.Resource
			if err := o.note("put %s %d", d.Name, d.Spec.Size); err != nil {
				return flow.Progress{}, err
			}
			d.Status.Size = d.Spec.Size
			return flow.Done(), nil
		},
		Delete: func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
			return flow.Done(), o.note("delete %s", req.Resource.Name)
		},
	}
}

var waitsForCluster = flow.Extensions[*testv1.Database]{OwnerCheck: chain.New(checks.OwnerReady())}

// setter is a reconciler of any type.
type setter interface {
	SetupWithManager(mgr manager.Manager) error
}

// start starts a manager with reconcilers; it is stopped when the test ends, or by stop.
func (o *operator) start(reconcilers ...setter) manager.Manager {
	o.t.Helper()
	return o.startWith(nil, reconcilers...)
}

// startWith starts a manager whose cache has some objects of a kind only.
func (o *operator) startWith(some map[client.Object]cache.ByObject, reconcilers ...setter) manager.Manager {
	o.t.Helper()
	skip := true
	mgr, err := ctrl.NewManager(o.rest(), ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}, ByObject: some},
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	for _, r := range reconcilers {
		if err == nil {
			err = r.SetupWithManager(mgr)
		}
	}
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			o.t.Error(err)
		}
	})
	o.t.Cleanup(o.stop)
	return mgr
}

// rest is how the operator gets to the API server: its requests are noted.
func (o *operator) rest() *rest.Config {
	c := rest.CopyConfig(config)
	if o.user != "" {
		c.Impersonate.UserName = o.user
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return &wire{&o.traffic, next} })
	return c
}

func newOperator(t *testing.T) *operator {
	t.Helper()
	return &operator{t: t, namespace: namespace(t)}
}

func (o *operator) database(name, cluster string) *testv1.Database {
	o.t.Helper()
	d := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}, Spec: testv1.DatabaseSpec{Cluster: cluster, Size: 1}}
	must(o.t, api.Create(o.t.Context(), d))
	return d
}

func (o *operator) cluster(name, state string) *testv1.Cluster {
	o.t.Helper()
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}}
	must(o.t, api.Create(o.t.Context(), c))
	o.report(c, state)
	return c
}

// report writes what the cluster's own operator would: it is ready in the state Running.
func (o *operator) report(c *testv1.Cluster, state string) {
	o.t.Helper()
	c.Status.State = state
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: state, Message: "it is " + state, ObservedGeneration: c.Generation}
	if state == "Running" {
		ready.Status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&c.Status.Conditions, ready)
	must(o.t, api.Status().Update(o.t.Context(), c))
}

// until waits until the Ready condition of a database is as wanted: "False OwnerNotFound", "gone".
func (o *operator) until(name, want string) *testv1.Database {
	o.t.Helper()
	d, last := &testv1.Database{}, ""
	if err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		d = &testv1.Database{}
		err := api.Get(ctx, keyOf(o.namespace, name), d)
		if last = says(d); apierrors.IsNotFound(err) {
			last, err = "gone", nil
		}
		return last == want, err
	}); err != nil {
		o.t.Fatalf("%s should be %s and is %s: %+v; asked of the cloud: %q: %v", name, want, last, d.Status, o.asked(), err)
	}
	return d
}

// when waits until a database is as wanted.
func (o *operator) when(name string, wanted func(*testv1.Database) bool) *testv1.Database {
	o.t.Helper()
	d := &testv1.Database{}
	if err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, d)
		return err == nil && wanted(d), client.IgnoreNotFound(err)
	}); err != nil {
		o.t.Fatalf("%s is not as wanted: %+v: %v", name, d, err)
	}
	return d
}

// settle runs a pass over a database by hand, once the manager reads from its cache.
func (o *operator) settle(mgr manager.Manager, r reconcile.Reconciler, name string) (reconcile.Result, error) {
	o.t.Helper()
	if !mgr.GetCache().WaitForCacheSync(o.t.Context()) {
		o.t.Fatal("the cache does not start")
	}
	return r.Reconcile(o.t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, name)})
}

// writes returns the writes among the requests to the API server.
func writes(asked map[string]int) map[string]int {
	all := map[string]int{}
	for what, n := range asked {
		if what[:3] != "GET" && what[:5] != "WATCH" {
			all[what] = n
		}
	}
	return all
}

func (o *operator) remove(d client.Object) {
	o.t.Helper()
	must(o.t, api.Delete(o.t.Context(), d))
}

// The API server of all tests that need one. startServer sets config and api.
var (
	config *rest.Config
	scheme = apiserver.Scheme(apiextensions.AddToScheme)
	api    client.WithWatch // without a cache
)

func TestMain(m *testing.M) { apiserver.Main(m) }

var startServer = sync.OnceFunc(func() { config, api = apiserver.Start(scheme, append(testv1.Definitions(), definitionOfApps())) })

// namespace makes a namespace for a test.
func namespace(t testing.TB) string {
	t.Helper()
	startServer()
	return apiserver.Namespace(t, api)
}

// traffic counts the requests of a manager to the API server, as "PATCH
// databases/status".
type traffic struct {
	mu     sync.Mutex
	counts map[string]int
	last   time.Time
	// saw is called for each request.
	saw func(*http.Request)
	// deaf is not nil while watches are broken without an error: their events do not arrive.
	deaf   chan struct{} // closed when they work again
	deafTo string        // the watches that are broken: "WATCH clusters"
}

type wire struct {
	*traffic
	next http.RoundTripper
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := describe(req)
	w.mu.Lock()
	if w.counts == nil {
		w.counts = map[string]int{}
	}
	w.counts[what]++
	w.last = time.Now()
	saw := w.saw
	w.mu.Unlock()
	if saw != nil {
		saw(req)
	}
	resp, err := w.next.RoundTrip(req)
	if err == nil && what == "WATCH clusters" {
		resp.Body = &deafBody{w.traffic, what, resp.Body}
	}
	return resp, err
}

// describe says what a request asks for, without the names.
func describe(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	verb := req.Method
	if req.URL.Query().Get("watch") != "" {
		verb = "WATCH"
		if strings.Contains(req.Header.Get("Accept"), "as=PartialObjectMetadata") {
			verb = "WATCH metadata of"
		}
	}
	i := 2 // api/v1/...
	if parts[0] == "apis" {
		i = 3
	}
	if len(parts) > i+2 && parts[i] == "namespaces" {
		i += 2
	}
	if len(parts) <= i {
		return verb + " discovery"
	}
	what := parts[i]
	if len(parts) > i+2 {
		what += "/" + parts[i+2]
	}
	return verb + " " + what
}

// take gives what was asked since the last time, once nothing was asked for a second.
func (t *traffic) take(test *testing.T) map[string]int {
	test.Helper()
	t.quiet(test, time.Second)
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := t.counts
	t.counts = nil
	return counts
}

// quiet waits until nothing was asked for some time.
func (t *traffic) quiet(test *testing.T, pause time.Duration) {
	test.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for {
		select {
		case <-tick.C:
		case <-end:
			t.mu.Lock()
			defer t.mu.Unlock()
			test.Fatalf("the manager does not stop to ask: %v", t.counts)
		}
		t.mu.Lock()
		idle := time.Since(t.last)
		t.mu.Unlock()
		if idle >= pause {
			return
		}
	}
}

func (o *operator) create(spec AppSpec) *App {
	o.t.Helper()
	a := &App{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "a"}, Spec: spec}
	must(o.t, api.Create(o.t.Context(), a))
	return a
}

// edit changes the App "a" as a person does.
func (o *operator) edit(do func(*App)) {
	o.t.Helper()
	a := &App{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "a"}, a))
	base := a.DeepCopyObject().(*App)
	do(a)
	must(o.t, api.Patch(o.t.Context(), a, client.MergeFrom(base)))
}

// becomes waits until the App "a" is as wanted: "False Timeout" for its present generation, or "gone".
func (o *operator) becomes(want string) *App {
	o.t.Helper()
	a, last := &App{}, ""
	err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		a, last = &App{}, "unset"
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: "a"}, a)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if err != nil {
			last = "gone"
		} else if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); c != nil && c.ObservedGeneration == a.Generation {
			last = string(c.Status) + " " + c.Reason
		}
		return last == want, nil
	})
	if err != nil {
		o.t.Fatalf("it should be %q and is %q: %+v; asked of the cloud: %q", want, last, a.Status, o.asked())
	}
	return a
}

// apps returns a reconciler with this apply. Without one, Apply is done at once.
func (o *operator) apps(apply func(context.Context, *flow.Request[*App]) (flow.Progress, error), opts ...ctrlx.Option) *ctrlx.Reconciler[*App] {
	return ctrlx.New("App", flow.Operations[*App]{
		Apply: func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if err := o.note("apply"); err != nil || apply == nil {
				return flow.Done(), err
			}
			return apply(ctx, req)
		},
		Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
			return flow.Done(), o.note("delete")
		},
	}, flow.Extensions[*App]{}, opts...)
}
