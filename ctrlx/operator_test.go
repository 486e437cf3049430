package ctrlx_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"

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
	refuse    error
	user      string // whose rights the manager has; empty: all
	traffic   traffic
	stop      func()
}

func (o *operator) note(format string, args ...any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, fmt.Sprintf(format, args...))
	return o.refuse
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
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	w, err := api.Watch(ctx, &testv1.DatabaseList{}, client.InNamespace(o.namespace))
	if err != nil {
		o.t.Fatal(err)
	}
	defer w.Stop()
	last := "nothing"
	for {
		d := &testv1.Database{}
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, d)
		switch {
		case client.IgnoreNotFound(err) != nil:
			o.t.Fatalf("waiting for %s of %s: %v; it was %s", want, name, err, last)
		case err != nil:
			last = "gone"
		default:
			last = "unset"
			if c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); c != nil {
				last = fmt.Sprintf("%s %s", c.Status, c.Reason)
			}
		}
		if last == want {
			return d
		}
		select {
		case <-w.ResultChan():
		case <-ctx.Done():
			o.t.Fatalf("%s should be %s and is %s: %+v; asked of the cloud: %q", name, want, last, d.Status, o.asked())
		}
	}
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
