package dependents_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The API server of all tests. Each test has its own namespace. startServer sets
// config and api.
var (
	config *rest.Config
	scheme = apiserver.Scheme()
	api    client.WithWatch
)

func TestMain(m *testing.M) { apiserver.Main(m) }

var startOnce = sync.OnceFunc(func() { config, api = apiserver.Start(scheme, append(testv1.Definitions(), zoos())) })

// startServer starts kube-apiserver: others do not apply built-in kinds.
func startServer(t testing.TB) {
	t.Helper()
	apiserver.RequireKube(t)
	startOnce()
}

// cluster is a dependents.Cluster. Its zero value is for tests without an API
// server.
type cluster struct {
	client client.Client
	live   client.Reader
}

func (c cluster) GetClient() client.Client    { return c.client }
func (c cluster) GetAPIReader() client.Reader { return c.live }

const name = "web.example.com"

// world is a namespace with an owner, and a Dependents whose calls are counted.
type world struct {
	t     *testing.T
	ns    string
	owner *testv1.Cluster
	clock *clocktesting.FakePassiveClock
	opts  []dependents.Option
	cluster
	*dependents.Dependents

	calls []string // as "write ConfigMap a", whatever the request; reads past the cache as "live get"
	// before is called before each call, and its error is returned in place of the
	// call. after is called with the number of each call.
	before, after func(call string) error
}

func newWorld(t *testing.T, opts ...dependents.Option) *world {
	t.Helper()
	startServer(t)
	w := &world{t: t, ns: apiserver.Namespace(t, api), clock: clocktesting.NewFakePassiveClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), opts: opts}
	w.owner = &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop", UID: "1", Generation: 1}}
	w.restart()
	return w
}

// restart begins with a process that remembers nothing.
func (w *world) restart(opts ...dependents.Option) {
	counted := func(prefix string) client.WithWatch {
		return apiserver.Around(api, func(c apiserver.Call, run func() error) error {
			if c.Verb == "list" { // of definitions
				return run()
			}
			gvk, _ := api.GroupVersionKindFor(c.Object)
			text := prefix + c.Verb + " " + gvk.Kind
			if o, ok := c.Object.(client.Object); ok {
				text += " " + o.GetName()
			}
			w.calls = append(w.calls, text)
			for _, f := range []func() error{func() error { return hook(w.before, text) }, run, func() error { return hook(w.after, text) }} {
				if err := f(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	all := append(append([]dependents.Option{dependents.WithClock(w.clock)}, w.opts...), opts...)
	w.cluster = cluster{counted(""), counted("live ")}
	w.Dependents = dependents.New(name, w.cluster, all...)
}

func hook(f func(string) error, call string) error {
	if f == nil {
		return nil
	}
	return f(call)
}

// writes returns the calls that changed an object since the last call of writes.
func (w *world) writes() (writes []string) {
	for _, c := range w.calls {
		if !strings.Contains(c, "get ") {
			writes = append(writes, c)
		}
	}
	w.calls = nil
	return writes
}

// apply applies an object once.
func (w *world) apply(obj client.Object) dependents.Result {
	w.t.Helper()
	res, err := w.ApplyObject(w.t.Context(), w.owner, obj)
	must(w.t, err)
	return res
}

// settle applies an object until the result is settled.
func (w *world) settle(obj client.Object) dependents.Result {
	w.t.Helper()
	for range 5 {
		if res := w.apply(obj); res.IsSettled() {
			return res
		}
	}
	w.t.Fatalf("%s is not settled after five passes", obj.GetName())
	return dependents.Result{}
}

// configMap returns a ConfigMap with annotations of this name and data, each
// given as a key and a value.
func configMap(annotations, data []string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: pairs(name+"/", annotations)}, Data: pairs("", data)}
}

func pairs(prefix string, list []string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		m[prefix+list[i]] = list[i+1]
	}
	return m
}

// read reads the ConfigMap; nil: it does not exist.
func (w *world) read() *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	err := api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, cm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(w.t, err)
	return cm
}

// foreign applies data of the ConfigMap as another field manager.
func (w *world) foreign(manager string, data ...string) {
	w.t.Helper()
	content := map[string]any{}
	for k, v := range pairs("", data) {
		content[k] = v
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": content}}
	u.SetNamespace(w.ns)
	u.SetName("a")
	must(w.t, api.Apply(w.t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(manager), client.ForceOwnership))
}

// edit changes the ConfigMap with an update of another field manager.
func (w *world) edit(manager string, change func(*corev1.ConfigMap)) {
	w.t.Helper()
	cm := w.read()
	change(cm)
	must(w.t, api.Update(w.t.Context(), cm, client.FieldOwner(manager)))
}

// serve writes the status of a Deployment with one replica, as its controller does.
func (w *world) serve(object string, available int32) {
	w.t.Helper()
	d := &appsv1.Deployment{}
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, d))
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: available, AvailableReplicas: available,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	must(w.t, api.Status().Update(w.t.Context(), d))
}

func deployment(image string, replicas *int32) *appsv1.Deployment {
	labels := map[string]string{"app": "a"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: appsv1.DeploymentSpec{
			Replicas: replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "web", Image: image, Args: []string{"-v", "2"}, Ports: []corev1.ContainerPort{{ContainerPort: 80}}}},
			}},
		},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// changing is a client that changes the objects that it reads.
type changing struct {
	client.Client
	change func(client.Object)
}

func (c changing) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	err := c.Client.Get(ctx, key, obj, opts...)
	c.change(obj)
	return err
}

// same fails the test if got differs from want.
func same(t tester, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// tester is the common part of testing.T and rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
}
