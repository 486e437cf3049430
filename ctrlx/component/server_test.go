package component_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// The API server of all tests. Each test has its own namespace. startServer sets
// config, api and found.
var (
	config *rest.Config
	scheme = apiserver.Scheme(addShops)
	api    client.WithWatch
	found  *discovery.DiscoveryClient
)

func TestMain(m *testing.M) { apiserver.Main(m) }

var startOnce = sync.OnceFunc(func() {
	shops := testv1.Definition("Shop", "shops", apiextensions.NamespaceScoped)
	config, api = apiserver.Start(scheme, []*apiextensions.CustomResourceDefinition{shops})
	found = discovery.NewDiscoveryClientForConfigOrDie(config)
})

// startServer starts kube-apiserver: others do not apply built-in kinds.
func startServer(t testing.TB) {
	t.Helper()
	apiserver.RequireKube(t)
	startOnce()
}

// ends is a cluster whose reads past the cache are apart.
type ends struct {
	client client.Client
	live   client.Reader
}

func (e ends) GetClient() client.Client    { return e.client }
func (e ends) GetAPIReader() client.Reader { return e.live }

const name = "shop.example.com"

// world is a namespace with a Shop, and a process whose calls are counted.
type world struct {
	t          *testing.T
	ns         string
	shop       *Shop
	opts       []component.Option
	generator  manifests.Generator
	reconciler *component.Reconciler[*Shop]
	ends       ends
	process    *component.Process[*Shop]
	preferred  func() ([]*metav1.APIResourceList, error)

	mu    sync.Mutex
	calls []string // as "write ConfigMap a", whatever the request; reads past the cache as "live get", dry-runs as "try"
	// before is called before each call, and its error is returned in place of the
	// call. after is called after each call, and its error is returned, too.
	before, after func(call string) error
}

func newWorld(t *testing.T, opts ...component.Option) *world {
	t.Helper()
	startServer(t)
	w := &world{t: t, ns: apiserver.Namespace(t, api), opts: opts, generator: inSpec}
	w.preferred = found.ServerPreferredResources
	w.shop = &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop", Finalizers: []string{name + "/finalizer"}}}
	must(t, api.Create(t.Context(), w.shop))
	w.restart()
	return w
}

// inSpec is the generator of the tests: the objects are in the spec. The text
// NAMESPACE stands for the namespace of the test.
var inSpec = manifests.GeneratorFunc[*ShopSpec](func(_ context.Context, namespace, _ string, spec *ShopSpec) (all []client.Object, err error) {
	all = []client.Object{}
	for _, text := range spec.Manifests {
		u, err := parsed(strings.ReplaceAll(text, "NAMESPACE", namespace))
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
})

func parsed(text string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	return u, yaml.Unmarshal([]byte(text), &u.Object)
}

// restart begins with a process that remembers nothing.
func (w *world) restart() {
	counted := func(prefix string) client.Client {
		return apiserver.Around(api, func(c apiserver.Call, run func() error) error {
			gvk, _ := api.GroupVersionKindFor(c.Object)
			text := prefix
			if c.DryRun {
				text += "try "
			}
			text += c.Verb + " " + gvk.Kind
			if o, ok := c.Object.(client.Object); ok {
				text += " " + o.GetName()
			}
			w.mu.Lock()
			w.calls = append(w.calls, text)
			w.mu.Unlock()
			for _, f := range []func() error{func() error { return hook(w.before, text) }, run, func() error { return hook(w.after, text) }} {
				if err := f(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	opts := append([]component.Option{component.WithKinds(
		configMaps, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, schema.GroupVersionKind{Version: "v1", Kind: "Secret"},
	)}, w.opts...)
	w.reconciler, w.ends = component.New[*Shop](name, w.generator, opts...), ends{counted(""), counted("live ")}
	w.process = component.NewProcess(w.reconciler, w.ends, w.preferred)
}

func hook(f func(string) error, call string) error {
	if f == nil {
		return nil
	}
	return f(call)
}

// pass runs one pass over the Shop as the API server has it.
func (w *world) pass() (checks.Result, error) {
	w.t.Helper()
	must(w.t, api.Get(w.t.Context(), client.ObjectKeyFromObject(w.shop), w.shop))
	return w.process.Pass(w.t.Context(), w.shop)
}

// passes runs passes without an error, and returns the result of the last one.
func (w *world) passes(n int) (res checks.Result) {
	w.t.Helper()
	for range n {
		var err error
		res, err = w.pass()
		must(w.t, err)
	}
	return res
}

// refused runs a pass whose error has a text.
func (w *world) refused(text string) {
	w.t.Helper()
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), text) {
		w.t.Errorf("the error of the pass is %v, want %s", err, text)
	}
}

// fail makes each such call end with an error; nil: none does.
func (w *world) fail(call string, err error) {
	w.before = func(c string) error {
		if c == call {
			return err
		}
		return nil
	}
}

// settle runs passes until the set is done.
func (w *world) settle() {
	w.t.Helper()
	res := w.passes(1)
	for n := 1; n < 20 && !res.Proceeds(); n++ {
		res = w.passes(1)
	}
	if !res.Proceeds() {
		w.t.Fatalf("the set is not done after 20 passes: %+v", res)
	}
}

// want sets the manifests of the Shop.
func (w *world) want(manifests ...string) {
	w.t.Helper()
	w.change(func(s *Shop) { s.Spec.Manifests = manifests })
}

// change changes the Shop.
func (w *world) change(change func(*Shop)) {
	w.t.Helper()
	must(w.t, api.Get(w.t.Context(), client.ObjectKeyFromObject(w.shop), w.shop))
	change(w.shop)
	must(w.t, api.Update(w.t.Context(), w.shop))
}

// delete requests the deletion of the Shop, which keeps its finalizer.
func (w *world) delete() {
	w.t.Helper()
	must(w.t, api.Delete(w.t.Context(), w.shop))
}

// writes returns the calls that changed an object since the last call of writes.
func (w *world) writes() (writes []string) {
	for _, c := range w.calls {
		if isWrite(c) {
			writes = append(writes, c)
		}
	}
	w.calls = nil
	return writes
}

// wrote returns the writes of the same time that begin with a verb, without those of
// the status of the Shop.
func (w *world) wrote(verb string) (writes []string) {
	for _, c := range w.writes() {
		if strings.HasPrefix(c, verb) && !strings.HasPrefix(c, "store ") {
			writes = append(writes, c)
		}
	}
	return writes
}

const (
	noFinalizers = `{"metadata":{"finalizers":null}}`
	noLabels     = `{"metadata":{"labels":null}}`
)

// patch merges a text into a ConfigMap.
func (w *world) patch(object, text string) {
	w.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: object}}
	must(w.t, api.Patch(w.t.Context(), cm, client.RawPatch("application/merge-patch+json", []byte(text))))
}

func isWrite(call string) bool {
	return !strings.Contains(call, "get ") && !strings.Contains(call, "list ") && !strings.HasPrefix(call, "try ")
}

// names returns the ConfigMaps of the namespace, with their data k.
func (w *world) names() (all []string) {
	w.t.Helper()
	list := &corev1.ConfigMapList{}
	must(w.t, api.List(w.t.Context(), list, client.InNamespace(w.ns)))
	for _, cm := range list.Items {
		if cm.Name != "kube-root-ca.crt" {
			all = append(all, cm.Name+"="+cm.Data["k"])
		}
	}
	return all
}

// configMap returns the manifest of a ConfigMap with data k and annotations of
// this name, each given as a key and a value.
func configMap(object, k string, annotations ...string) string {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": k}}}
	u.SetName(object)
	all := map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		all[name+"/"+annotations[i]] = annotations[i+1]
	}
	if len(all) > 0 {
		u.SetAnnotations(all)
	}
	text, err := yaml.Marshal(u.Object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// create creates an object of another owner.
func (w *world) create(text string) {
	w.t.Helper()
	u, err := parsed(strings.ReplaceAll(text, "NAMESPACE", w.ns))
	must(w.t, err)
	if u.GetNamespace() == "" {
		u.SetNamespace(w.ns)
	}
	eventually(w.t, "a definition is established a moment before discovery has its type", func() bool {
		err = api.Create(w.t.Context(), u)
		return !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err)
	})
	must(w.t, err)
}

// object reads an object of the namespace, or of a kind without namespaces.
func (w *world) object(gvk schema.GroupVersionKind, object string) *unstructured.Unstructured {
	w.t.Helper()
	u, exists := w.get(gvk, w.ns, object)
	if !exists {
		w.t.Fatalf("the %s %s does not exist", gvk.Kind, object)
	}
	return u
}

// get reads an object, and reports whether it exists.
func (w *world) get(gvk schema.GroupVersionKind, namespace, object string) (*unstructured.Unstructured, bool) {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err := api.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: object}, u)
	must(w.t, client.IgnoreNotFound(err))
	return u, err == nil
}

// exists reports whether an object exists.
func (w *world) exists(gvk schema.GroupVersionKind, namespace, object string) bool {
	w.t.Helper()
	_, exists := w.get(gvk, namespace, object)
	return exists
}

// inner is a Namespace of a set.
const inner = "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n"

// bad is a Secret that the API server refuses, because its data lack a key.
const bad = "apiVersion: v1\nkind: Secret\nmetadata: {name: bad}\ntype: kubernetes.io/tls\n"

// terminates reports whether a Namespace is in deletion.
func (w *world) terminates(ns string) bool {
	w.t.Helper()
	return w.object(namespaces, ns).GetDeletionTimestamp() != nil
}

// finalize ends the deletion of a Namespace, as its controller does.
func (w *world) finalize(ns string) {
	w.t.Helper()
	must(w.t, client.IgnoreNotFound(api.SubResource("finalize").Update(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})))
}

// patience is the longest time that a test waits for a condition.
const patience = apiserver.Patience

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if err := apiserver.Until(t.Context(), func(context.Context) (bool, error) { return holds(), nil }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// edit changes the data of a ConfigMap with an update of another field manager.
func (w *world) edit(object, k string) {
	w.t.Helper()
	cm := w.configMap(object)
	cm.Data = map[string]string{"k": k}
	must(w.t, api.Update(w.t.Context(), cm, client.FieldOwner("kubectl-edit")))
}

// steal gives a ConfigMap to another owner.
func (w *world) steal(object string) {
	w.t.Helper()
	cm := w.configMap(object)
	cm.Labels[name+"/owner-id"] = "thief"
	must(w.t, api.Update(w.t.Context(), cm, client.FieldOwner("thief")))
}

func textOf(obj client.Object) string {
	text, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func clientKey(obj client.Object) client.ObjectKey { return client.ObjectKeyFromObject(obj) }

// same fails the test if got differs from want, and mustBeSame ends it.
func same(t testing.TB, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

func mustBeSame(t testing.TB, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// configMap reads a ConfigMap.
func (w *world) configMap(object string) *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, cm))
	return cm
}

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// operator is a manager with a reconciler for Shops. It waits for
// an event for 30 seconds and more.
type operator struct {
	t     *testing.T
	api   client.WithWatch
	ns    string
	shops *component.Reconciler[*Shop]
	log   logr.Logger

	mu       sync.Mutex
	requests []string                            // without watches
	answered func(*http.Request, *http.Response) // called for each answer, without watches; nil: not called
	passed   func()                              // called by the hook after a pass in sync; nil: not called
}

// patient makes passes wait for a slow API server, because the tests expect each pass.
var patient = component.WithReconciler(ctrlx.WithSyncTimeout(2 * time.Minute))

func newOperator(t *testing.T, set func(*component.Reconciler[*Shop]), opts ...component.Option) *operator {
	t.Helper()
	return startOperator(t, inSpec, nil, set, opts...)
}

// startOperator starts an operator with a generator. It calls answered for each answer
// of the API server to a request of the operator, without watches.
func startOperator(t *testing.T, g manifests.Generator, answered func(*http.Request, *http.Response), set func(*component.Reconciler[*Shop]), opts ...component.Option) *operator {
	t.Helper()
	startServer(t)
	o := &operator{t: t, api: api, ns: apiserver.Namespace(t, api), answered: answered}
	o.shops = component.New[*Shop](name, g, append([]component.Option{patient}, opts...)...)
	if set != nil {
		set(o.shops)
	}
	o.start(config, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}})
	return o
}

// start starts the manager.
func (o *operator) start(config *rest.Config, caches cache.Options) {
	t := o.t
	t.Helper()
	o.shops.WithPostReconcileHook(func(context.Context, client.Client, *Shop) error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.passed != nil {
			o.passed()
		}
		return nil
	})
	c := rest.CopyConfig(config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.URL.Query().Get("watch") != "" {
				return next.RoundTrip(req)
			}
			o.mu.Lock()
			o.requests = append(o.requests, req.Method+" "+req.URL.Path)
			o.mu.Unlock()
			resp, err := next.RoundTrip(req)
			if err == nil && o.answered != nil {
				o.answered(req, resp)
			}
			return resp, err
		})
	})
	mgr := newManager(t, c, ctrl.Options{Scheme: scheme, Cache: caches, Logger: o.log})
	must(t, o.shops.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// newManager returns a manager that serves no metrics.
func newManager(t *testing.T, config *rest.Config, opts ctrl.Options) manager.Manager {
	t.Helper()
	opts.Metrics.BindAddress, opts.Controller.SkipNameValidation = "0", new(true)
	mgr, err := ctrl.NewManager(config, opts)
	must(t, err)
	return mgr
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// world returns the namespace of the operator.
func (o *operator) world() *world { return &world{t: o.t, ns: o.ns} }

// create creates a Shop.
func (o *operator) create(manifests ...string) *Shop {
	o.t.Helper()
	s := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "shop"}, Spec: ShopSpec{Manifests: manifests}}
	must(o.t, o.api.Create(o.t.Context(), s))
	return s
}

// edit changes the Shop as a user does. The operator may write its status meanwhile.
func (o *operator) edit(change func(*Shop)) {
	o.t.Helper()
	s := &Shop{}
	must(o.t, o.api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "shop"}, s))
	before := s.DeepCopyObject().(*Shop)
	change(s)
	must(o.t, o.api.Patch(o.t.Context(), s, client.MergeFrom(before)))
}

// until waits until check returns an empty text. It reads after each event of a
// kind.
func (o *operator) until(list client.ObjectList, check func() string) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), patience)
	defer cancel()
	w, err := o.api.Watch(ctx, list)
	must(o.t, err)
	defer w.Stop()
	for {
		problem := check()
		if problem == "" {
			return
		}
		select {
		case <-w.ResultChan():
		case <-ctx.Done():
			o.t.Fatal(problem)
		}
	}
}

// ready waits until the condition Ready of the Shop has a status, a reason and a
// part of a message.
func (o *operator) ready(want, message string) *Shop {
	o.t.Helper()
	s := &Shop{}
	o.until(&ShopList{}, func() string {
		must(o.t, o.api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "shop"}, s))
		c := meta.FindStatusCondition(s.Status.Conditions, "Ready")
		if c == nil {
			return "no condition Ready, want " + want
		}
		if got := string(c.Status) + " " + c.Reason; got != want || !strings.Contains(c.Message, message) || c.ObservedGeneration != s.Generation {
			return fmt.Sprintf("Ready is %s %q, want %s %q", got, c.Message, want, message)
		}
		return ""
	})
	return s
}

// data waits until a ConfigMap has data k; empty: it does not exist.
func (o *operator) data(object, want string) {
	o.t.Helper()
	o.until(&corev1.ConfigMapList{}, func() string {
		cm := &corev1.ConfigMap{}
		err := o.api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: object}, cm)
		must(o.t, client.IgnoreNotFound(err))
		if got := cm.Data["k"]; got != want {
			return fmt.Sprintf("the ConfigMap %s has %q, want %q", object, got, want)
		}
		return ""
	})
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {shop.example.com/apply-order: "1"}}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// report writes the status of the Deployment, as its controller would.
func (o *operator) report(available int32) {
	o.t.Helper()
	d := &appsv1.Deployment{}
	must(o.t, o.api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "web"}, d))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: available, AvailableReplicas: available, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}, {Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
	}}
	if available == 0 {
		d.Status.Conditions[0].Status = corev1.ConditionFalse
		d.Status.UnavailableReplicas = 1
	}
	must(o.t, o.api.Status().Update(o.t.Context(), d))
}

// quiet fails unless passes over a Shop in sync make no request. A pass needs a
// cause, here a poke.
func (o *operator) quiet(shop *Shop) {
	o.t.Helper()
	passes := make(chan struct{}, 1000)
	o.mu.Lock()
	o.passed = func() { passes <- struct{}{} }
	o.mu.Unlock()
	poke := func() {
		o.t.Helper()
		for len(passes) > 0 {
			<-passes
		}
		if !o.shops.Inner().Poke(client.ObjectKeyFromObject(shop)) {
			o.t.Fatal("the poke is not accepted")
		}
		select {
		case <-passes:
		case <-time.After(patience):
			o.t.Fatal("no pass follows the poke")
		}
	}
	requests := func() []string {
		poke()
		poke() // the first pass has ended
		o.mu.Lock()
		defer o.mu.Unlock()
		requests := slices.DeleteFunc(o.requests, func(r string) bool { return strings.Contains(r, "/events") })
		o.requests = nil
		return requests
	}
	for range 10 { // the events of the first writes cause passes, too
		if len(requests()) == 0 {
			break
		}
	}
	if requests := requests(); len(requests) > 0 {
		o.t.Errorf("a pass in sync makes the requests %q", requests)
	}
}

// Dependents are read and written with the rights of the identity that the option
// names, and not with those of the operator.
func TestImpersonation(t *testing.T) {
	o := newOperator(t, nil, component.WithReconciler(ctrlx.WithImpersonation(func(*Shop) rest.ImpersonationConfig {
		return rest.ImpersonationConfig{UserName: "guest"}
	})))
	o.create(configMap("a", "1"))
	o.ready("False Forbidden", `User "guest" cannot get resource "configmaps"`)
	o.data("a", "")
}

// gone waits until a Shop does not exist.
func (o *operator) gone(shop *Shop) {
	o.t.Helper()
	o.until(&ShopList{}, func() string {
		s := &Shop{}
		if err := o.api.Get(o.t.Context(), client.ObjectKeyFromObject(shop), s); apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("the Shop is not gone: %+v", meta.FindStatusCondition(s.Status.Conditions, "Ready"))
	})
}

// A component has the finalizer of the option, and its dependents have the field
// manager of the option. Each hook gets the client of the manager. Each hook but the
// first one finds the client of the target. A change of a hook to the status is stored.
func TestOptionsAndHooks(t *testing.T) {
	var mu sync.Mutex
	users := map[string]string{}
	user := func(ctx context.Context, c client.Client) string {
		review := &authenticationv1.SelfSubjectReview{}
		if err := c.Create(ctx, review); err != nil {
			return err.Error()
		}
		return review.Status.UserInfo.Username
	}
	hook := func(name string) ctrlx.HookFunc[*Shop] {
		return func(ctx context.Context, c client.Client, s *Shop) error {
			text := user(ctx, c)
			if target, err := ctrlx.ClientFromContext(ctx); err == nil {
				text += " and " + user(ctx, target)
			}
			mu.Lock()
			defer mu.Unlock()
			users[name] = text
			meta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: "Hook", Status: metav1.ConditionTrue, Reason: "Ran", ObservedGeneration: s.Generation})
			return nil
		}
	}
	o := newOperator(t, func(r *component.Reconciler[*Shop]) {
		if last := r.WithPostReadHook(hook("post-read")).WithPreReconcileHook(hook("pre-reconcile")).WithPostReconcileHook(hook("post-reconcile")).
			WithPreDeleteHook(hook("pre-delete")).WithPostDeleteHook(hook("post-delete")); last != r {
			t.Error("a hook is added to another reconciler")
		}
	}, component.WithFinalizer("example.com/keep"), component.WithDependents(dependents.WithFieldOwner("shops")),
		component.WithReconciler(ctrlx.WithImpersonation(func(*Shop) rest.ImpersonationConfig {
			return rest.ImpersonationConfig{UserName: "deployer", Groups: []string{"system:masters"}}
		})))
	o.create(configMap("a", "1"))
	s := o.ready("True Succeeded", "")
	if diff := cmp.Diff([]string{"example.com/keep"}, s.Finalizers); diff != "" || !meta.IsStatusConditionTrue(s.Status.Conditions, "Hook") {
		t.Errorf("the conditions are %+v; the finalizers (-want +got):\n%s", s.Status.Conditions, diff)
	}
	cm := &corev1.ConfigMap{}
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "a"}, cm))
	if len(cm.ManagedFields) != 1 || cm.ManagedFields[0].Manager != "shops" {
		t.Errorf("the field managers are %+v", cm.ManagedFields)
	}
	must(t, api.Delete(t.Context(), s))
	o.gone(s)
	mu.Lock()
	defer mu.Unlock()
	const both = "admin and deployer"
	want := map[string]string{"post-read": "admin", "pre-reconcile": both, "post-reconcile": both, "pre-delete": both, "post-delete": both}
	same(t, want, users, "the users of the clients")
}

// An operator without the right to list and watch a kind, or one that must not watch
// it, applies objects of the kind, and corrects their drift in the next pass. The log
// names a forbidden kind once.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opt    component.Option
		lines  int // of the log
	}{
		"Forbidden": {"the rights lack list and watch", component.WithReconciler(), 1},
		"Option":    {"the developer does not want the watch", component.WithReconciler(ctrlx.WithUnwatchedKinds(schema.GroupKind{Kind: "ConfigMap"})), 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startServer(t)
			var mu sync.Mutex
			var lines []string
			o := &operator{t: t, api: api, ns: apiserver.Namespace(t, api), shops: component.New[*Shop]("shop.example.com", inSpec, tc.opt)}
			o.log = funcr.New(func(_, args string) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(args, "are not watched") {
					lines = append(lines, args)
				}
			}, funcr.Options{})
			user, _ := o.world().user("{apiGroups: ['*'], resources: [shops, shops/status, events], verbs: ['*']}, "+
				"{apiGroups: [''], resources: [configmaps], verbs: [get, create, update, patch, delete]}, {apiGroups: [''], resources: [namespaces], verbs: [get]}, "+
				"{apiGroups: [apiextensions.k8s.io, apiregistration.k8s.io], resources: ['*'], verbs: [get, list]}", &ShopList{})
			o.start(user, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}})
			shop := o.create(configMap("a", "1"), configMap("b", "1"))
			o.ready("True Succeeded", "")
			o.world().edit("a", "drift")
			o.edit(func(s *Shop) { s.Spec.Size++ }) // the next pass
			o.data("a", "1")
			must(t, api.Delete(t.Context(), shop))
			o.gone(shop)
			o.data("a", "")
			mu.Lock()
			defer mu.Unlock()
			if n := len(lines); n != tc.lines || slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(l, `"kind"="ConfigMap"`) }) {
				t.Errorf("%s: %d lines of the log, want %d: %q", tc.reason, n, tc.lines, lines)
			}
		})
	}
}

const (
	role  = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: %s}\n"
	bound = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAMESPACE-user}]\n"
)

// user returns the configuration and the client of a user with rights, once the user
// may list objects of a kind.
func (w *world) user(rules string, list client.ObjectList) (*rest.Config, client.Client) {
	w.t.Helper()
	w.create(fmt.Sprintf(role, "ClusterRole", "NAMESPACE-all") + "rules: [" + rules + "]\n")
	w.create(fmt.Sprintf(role, "ClusterRoleBinding", "NAMESPACE-all") + fmt.Sprintf(bound, "ClusterRole", "NAMESPACE-all"))
	user := rest.CopyConfig(config)
	user.Impersonate.UserName = w.ns + "-user"
	c, err := client.New(user, client.Options{Scheme: scheme})
	must(w.t, err)
	eventually(w.t, "the API server learns of the rights", func() bool { return c.List(w.t.Context(), list) == nil })
	return user, c
}

// The first apply of 59 objects tries and writes each one, and reads none.
func TestFirstApply(t *testing.T) {
	t.Parallel()
	const objects, most = 59, 160
	var all []string
	for i := range objects {
		all = append(all, configMap(fmt.Sprint("a", i), "1"))
	}
	o := newOperator(t, nil)
	o.create(all...)
	o.ready("True Succeeded", "")
	o.mu.Lock()
	defer o.mu.Unlock()
	reads := 0
	for _, r := range o.requests {
		if strings.HasPrefix(r, "GET ") && strings.Contains(r, "/configmaps/") {
			reads++
		}
	}
	if len(o.requests) > most || reads > 0 {
		t.Errorf("%d requests, want at most %d; %d of them read a dependent: %q", len(o.requests), most, reads, o.requests)
	}
}
