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

// start starts a manager with reconcilers; it is stopped when the test ends, or by stop.
func (o *operator) start(reconcilers ...interface {
	SetupWithManager(mgr manager.Manager) error
}) manager.Manager {
	o.t.Helper()
	skip := true
	mgr, err := ctrl.NewManager(o.rest(), ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}},
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
	if err := api.Create(o.t.Context(), d); err != nil {
		o.t.Fatal(err)
	}
	return d
}

func (o *operator) cluster(name, state string) *testv1.Cluster {
	o.t.Helper()
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: name}}
	if err := api.Create(o.t.Context(), c); err != nil {
		o.t.Fatal(err)
	}
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
	if err := api.Status().Update(o.t.Context(), c); err != nil {
		o.t.Fatal(err)
	}
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
