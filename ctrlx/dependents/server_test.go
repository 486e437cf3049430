package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
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
	cache         func(client.Object) // changes what the cache returns; nil: nothing
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
	cached := func(obj client.Object) {
		if w.cache != nil {
			w.cache(obj)
		}
	}
	w.cluster = cluster{changing{counted(""), cached}, counted("live ")}
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

// remove deletes an object once.
func (w *world) remove(obj client.Object) dependents.Result {
	w.t.Helper()
	res, err := w.DeleteObject(w.t.Context(), w.owner, obj)
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

// stale makes a cache return an earlier version of the ConfigMap, and strip one without
// managed fields.
func stale(cm *corev1.ConfigMap) func(client.Object) {
	return func(obj client.Object) { cm.DeepCopyInto(obj.(*corev1.ConfigMap)) }
}

func strip(obj client.Object) { obj.SetManagedFields(nil) }

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

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// users notes who has asked the API server for ConfigMaps.
type users struct {
	mu    sync.Mutex
	asked []string // as "PUT guest"; a watch and a list are of the manager's cache
}

func (u *users) config() *rest.Config {
	c := rest.CopyConfig(config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if strings.Contains(req.URL.Path, "/configmaps") {
				u.mu.Lock()
				u.asked = append(u.asked, req.Method+" "+req.Header.Get("Impersonate-User"))
				u.mu.Unlock()
			}
			return next.RoundTrip(req)
		})
	})
	return c
}

func (u *users) all() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	slices.Sort(u.asked)
	return slices.Compact(slices.Clone(u.asked))
}

// deployed is a manager in a namespace of its own, whose owners have a deployment
// target.
type deployed struct {
	*world
	users
	mgr       ctrl.Manager
	checked   bool              // Apply applies what Check has checked outside of the pass
	redundant *corev1.ConfigMap // an object that Apply deletes; nil: none
	look      atomic.Bool       // Apply is read-only
	passes    atomic.Int64      // of Apply
}

func newDeployed(t *testing.T, edits ...func(*ctrl.Options)) *deployed {
	y := &deployed{world: newWorld(t), redundant: configMap(nil, nil)}
	y.mgr = y.manager(edits...)
	return y
}

func (y *deployed) manager(edits ...func(*ctrl.Options)) ctrl.Manager {
	opts := ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{y.ns: {}}},
	}
	for _, edit := range edits {
		edit(&opts)
	}
	mgr, err := ctrl.NewManager(y.config(), opts)
	must(y.t, err)
	return mgr
}

// start reconciles an owner whose dependents are those of objects.
func (y *deployed) start(web *dependents.Dependents, objects func(size int) []client.Object, hook ctrlx.HookFunc[*testv1.Cluster], opts ...ctrlx.Option) {
	r := ctrlx.New("Cluster", flow.Operations[*testv1.Cluster]{
		Apply: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			y.passes.Add(1)
			for _, obj := range objects(req.Resource.Spec.Size) {
				if !y.checked {
					break
				}
				checked, err := web.Check(y.t.Context(), req.Resource, obj) // outside of the pass
				must(y.t, err)
				if res, err := web.ApplyChecked(ctx, checked[0]); err != nil || res.Object == nil {
					return flow.Progress{}, errors.Join(err, fmt.Errorf("%s: the result is %q", obj.GetName(), res.Outcome))
				}
			}
			if y.redundant != nil {
				if p, err := web.Delete(ctx, req.Resource, y.redundant.DeepCopy()); err != nil || !p.IsDone() {
					return p, err
				}
			}
			d := web
			if y.look.Load() {
				d = web.ReadOnly()
			}
			return d.Apply(ctx, req.Resource, objects(req.Resource.Spec.Size)...)
		},
		Delete: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			return web.Delete(ctx, req.Resource, objects(req.Resource.Spec.Size)...)
		},
	}, flow.Extensions[*testv1.Cluster]{}, opts...)
	if hook != nil {
		r = r.WithPostReadHook(hook)
	}
	must(y.t, r.SetupWithManager(y.mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- y.mgr.Start(ctx) }()
	y.t.Cleanup(func() {
		cancel()
		must(y.t, <-done)
	})
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: y.ns, Name: "shop"}, Spec: testv1.ClusterSpec{Size: 1}}
	must(y.t, api.Create(y.t.Context(), c))
}

// resize gives the owner the size 2, so that a pass applies its dependents.
func (y *deployed) resize() *testv1.Cluster {
	y.t.Helper()
	c := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: y.ns, Name: "shop"}}
	must(y.t, api.Patch(y.t.Context(), c, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":2}}`))))
	return c
}

// becomes waits until the condition Ready of the owner is as wanted, with a part of its
// message, or the owner is "gone". It returns the message.
func (y *deployed) becomes(want, part string) (message string) {
	y.t.Helper()
	y.until(want+": "+part, func() bool {
		c, last := &testv1.Cluster{}, ""
		if err := api.Get(y.t.Context(), client.ObjectKey{Namespace: y.ns, Name: "shop"}, c); apierrors.IsNotFound(err) {
			last = "gone"
		} else if ready := meta.FindStatusCondition(c.Status.Conditions, "Ready"); ready != nil && ready.ObservedGeneration == c.Generation {
			last, message = string(ready.Status)+" "+ready.Reason, ready.Message
		}
		return last == want && strings.Contains(message, part)
	})
	return message
}

// until waits until is returns true.
func (y *deployed) until(what string, is func() bool) {
	y.t.Helper()
	if err := apiserver.Until(y.t.Context(), func(context.Context) (bool, error) { return is(), nil }); err != nil {
		c := &testv1.Cluster{}
		_ = api.Get(y.t.Context(), client.ObjectKey{Namespace: y.ns, Name: "shop"}, c)
		y.t.Fatalf("%s: %v: %v", what, err, c.Status.Conditions)
	}
}

// allow gives a user rights for ConfigMaps.
func (y *deployed) allow(user string, verbs ...string) {
	y.t.Helper()
	meta := metav1.ObjectMeta{Namespace: y.ns, Name: "deployer"}
	must(y.t, api.Create(y.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: verbs},
	}}))
	must(y.t, api.Create(y.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "deployer"},
		Subjects: []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: user}},
	}))
}

// settingsIn returns ConfigMaps of all update policies that write. One of them stays.
func settingsIn(size int) (all []client.Object) {
	for _, policy := range []string{"replace", "ssa-merge", "ssa-override"} {
		cm := configMap([]string{"update-policy", policy}, []string{"size", strings.Repeat("x", size)})
		if cm.Name = policy; policy == "replace" {
			cm.Annotations[name+"/delete-policy"] = "orphan"
		}
		all = append(all, cm)
	}
	return all
}

func as(user string) ctrlx.Option {
	return ctrlx.WithImpersonation(func(*testv1.Cluster) rest.ImpersonationConfig { return rest.ImpersonationConfig{UserName: user} })
}

// TestImpersonation deploys with the rights of a user: nothing is read or written
// with those of the manager.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	y := newDeployed(t)
	user := y.ns + "-deployer"
	y.start(dependents.New(name, y.mgr), settingsIn, nil, as(user))
	y.becomes("False Forbidden", `User "`+user+`" cannot get resource "configmaps"`) // the words of the API server
	y.allow(user, "get", "create", "patch", "delete")
	y.becomes("True Succeeded", "")
	c := y.resize()
	y.becomes("True Succeeded", "")
	for _, obj := range settingsIn(2) {
		cm := &corev1.ConfigMap{}
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: y.ns, Name: obj.GetName()}, cm))
		if cm.Data["size"] != "xx" {
			t.Errorf("%s is not written: %v", cm.Name, cm.Data)
		}
	}
	must(t, api.Delete(t.Context(), c))
	y.becomes("gone", "")
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: y.ns, Name: "replace"}, &corev1.ConfigMap{})) // its policy keeps it
	want := []string{"DELETE " + user, "GET " + user, "PATCH " + user}
	if got := y.all(); !slices.Equal(got, want) {
		t.Errorf("requests by %q, want %q: the manager does not even watch the kind", got, want)
	}
}

// TestWhichClient says whose client a call in a pass with a deployment target uses.
func TestWhichClient(t *testing.T) {
	cases := map[string]struct {
		reason, user string
		make         func(y *deployed) dependents.Cluster // nil: the manager
		early        bool                                 // a hook applies before the target is known
		checked      bool                                 // the reconciler applies what Check has checked
		ready, want  string
	}{
		"Early": {reason: "a client that is not known yet is no reason to use another one", user: "guest", early: true,
			ready: "False HookFailed", want: "not known yet"},
		"Checked": {reason: "Check has asked the manager for the kind, and has no rights", user: "guest", checked: true,
			ready: "False Forbidden", want: `User "guest" cannot get`},
		"CheckedAllowed": {reason: "the user may write what the manager has checked", user: "checker", checked: true,
			ready: "True Succeeded"},
		"OtherManager": {reason: "the library does not know whose rights count", user: "guest",
			make:  func(y *deployed) dependents.Cluster { return y.manager() },
			ready: "False Unknown", want: "New got another manager"},
		"Cluster": {reason: "a cluster that is no manager was chosen", user: "guest",
			make:  func(*deployed) dependents.Cluster { return cluster{api, api} },
			ready: "True Succeeded"},
		"NoIdentity": {reason: "without a user, the manager deploys",
			ready: "True Succeeded"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			y := newDeployed(t)
			y.checked = tc.checked
			of := dependents.Cluster(y.mgr)
			if tc.make != nil {
				of = tc.make(y)
			}
			web := dependents.New(name, of)
			var hook ctrlx.HookFunc[*testv1.Cluster]
			if tc.early {
				hook = func(ctx context.Context, _ client.Client, c *testv1.Cluster) error {
					_, err := web.ApplyObject(ctx, c, settingsIn(1)[0])
					return err
				}
			}
			if tc.user == "checker" {
				y.allow(tc.user, "get", "create", "patch", "delete")
			}
			y.start(web, settingsIn, hook, as(tc.user))
			y.becomes(tc.ready, tc.want)
			list := &corev1.ConfigMapList{}
			must(t, api.List(t.Context(), list, client.InNamespace(y.ns)))
			if written := len(list.Items) > 0; written != (tc.want == "") {
				t.Errorf("%s: the objects are %v", tc.reason, list.Items)
			}
		})
	}
}

// TestFollowed changes the dependents of an owner. An event causes each pass: the next
// one without an event comes a minute later, and after the resync if the owner is Ready.
func TestFollowed(t *testing.T) {
	t.Parallel()
	few := runtime.NewScheme()
	must(t, testv1.AddToScheme(few))
	loose := func(obj client.Object) client.Object {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		must(t, err)
		u := &unstructured.Unstructured{Object: content}
		gvk, _ := api.GroupVersionKindFor(obj)
		u.SetGroupVersionKind(gvk)
		return u
	}
	typed := func(obj client.Object) client.Object { return obj }
	cases := map[string]struct {
		reason string
		scheme *runtime.Scheme
		form   func(client.Object) client.Object
	}{
		"Typed":        {"the manager caches typed objects", scheme, typed},
		"Unstructured": {"an unstructured manifest of a kind with a type is read from the same cache", scheme, loose},
		"NoType":       {"a client that caches unstructured objects reads kinds without a type", few, loose},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			y := newDeployed(t, func(o *ctrl.Options) {
				o.Scheme, o.Client.Cache = tc.scheme, &client.CacheOptions{Unstructured: true}
			})
			y.redundant = nil
			other := deployment("other", nil)
			other.Namespace, other.Name = y.ns, "shop"
			other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "9", Controller: new(true)}}
			must(t, api.Create(t.Context(), other))
			y.start(dependents.New(name, y.mgr), func(int) []client.Object {
				d, cm := deployment("nginx", new(int32(1))), configMap(nil, []string{"k", "1"})
				d.Name, cm.Name = "shop", "shop"
				return []client.Object{tc.form(d), tc.form(cm)}
			}, nil)
			d, cm := &appsv1.Deployment{}, &corev1.ConfigMap{}
			found := func() bool {
				key := client.ObjectKey{Namespace: y.ns, Name: "shop"}
				return api.Get(t.Context(), key, d) == nil && api.Get(t.Context(), key, cm) == nil
			}
			edit := func() {
				t.Helper()
				must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			}
			y.becomes("False DependentNotOurs", "applying failed: Deployment.apps "+y.ns+"/shop: it belongs to Pod "+y.ns+"/other: ")
			must(t, api.Delete(t.Context(), other))
			y.becomes("False InProgress", "waiting for 1 of 2 objects: Deployment.apps "+y.ns+"/shop: it is not ready: LessReplicas: Replicas: 0/1")
			found()
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded\nquota"}}
			must(t, api.Status().Update(t.Context(), d))
			if m := y.becomes("False InProgress", "ReplicaFailure"); !strings.HasSuffix(m, "; ReplicaFailure: exceeded; quota") {
				t.Errorf("%s: the condition ends with the actual problem, as one line: %s", tc.reason, m)
			}
			y.serve("shop", 1)
			y.becomes("True Succeeded", "")

			y.quiet()
			found()
			must(t, api.Delete(t.Context(), cm))
			gone := cm.UID
			y.until("a deleted dependent is created again", func() bool { return found() && cm.UID != gone })
			y.quiet()
			cm.Data["k"] = "edited"
			edit()
			y.until("changed data is corrected", func() bool { return found() && cm.Data["k"] == "1" })
			y.quiet()
			cm.Labels[label] = "thief"
			edit()
			y.becomes("False DependentNotOurs", "")
			found()
			delete(cm.Labels, label)
			edit()
			y.until("it is adopted again", func() bool { return found() && cm.Labels[label] != "" })
			y.becomes("True Succeeded", "")
			y.look.Store(true) // which follows, too
			y.resize()
			y.becomes("True Succeeded", "")
			y.quiet()
			y.serve("shop", 0)
			y.becomes("False InProgress", "")
			must(t, api.Delete(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: y.ns, Name: "shop"}}))
			y.becomes("gone", "")
			for _, obj := range []client.Object{d, cm} {
				if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
					t.Errorf("%s: the owner is gone, and a dependent is left: %v", tc.reason, err)
				}
			}
		})
	}
}

// quiet waits until no pass is left that could notice the next change by chance.
func (y *deployed) quiet() {
	y.t.Helper()
	last, same := y.passes.Load(), 0
	y.until("no more passes", func() bool {
		same++
		if now := y.passes.Load(); now != last {
			last, same = now, 0
		}
		return same > 15
	})
}
