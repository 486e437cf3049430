package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// operator is a manager with a reconciler for databases, whose cloud notes what is asked of it.
type operator struct {
	t         *testing.T
	namespace string
	mu        sync.Mutex
	calls     []string
	refuse    error
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

// start starts the manager; it is stopped when the test ends, or by stop.
func (o *operator) start(r *ctrlx.Reconciler[*testv1.Database]) {
	o.t.Helper()
	skip := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{o.namespace: {}}},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &skip}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	})
	if err == nil {
		err = r.SetupWithManager(mgr)
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
	ctx, cancel := context.WithTimeout(o.t.Context(), 20*time.Second)
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

// A database waits for its cluster without asking anybody anything, is made when that runs, is changed, and leaves.
func TestStory(t *testing.T) {
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.OwnedBy(clusterOf)))
	o.database("db", "prod")
	d := o.until("db", "False OwnerNotFound")
	c := o.cluster("prod", "Creating")
	o.until("db", "False OwnerNotReady")
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud while the cluster is not ready: %q", got)
	}
	o.report(c, "Running")
	d = o.until("db", "True Succeeded")
	if d.Status.Size != 1 || len(d.Status.Conditions) != 1 || d.Status.Conditions[0].ObservedGeneration != d.Generation {
		t.Errorf("what the operation found out is in the status, and nothing is left of the wait: %+v", d.Status)
	}
	if diff := cmp.Diff([]string{ctrlx.Finalizer}, d.Finalizers); diff != "" {
		t.Errorf("it has a finalizer: -want, +got:\n%s", diff)
	}
	if err := api.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	o.until("db", "gone")
	if diff := cmp.Diff([]string{"put db 1", "delete db"}, o.asked()); diff != "" {
		t.Errorf("what was asked of the cloud: -want, +got:\n%s", diff)
	}
}

var errRefused = errors.New("refused")
