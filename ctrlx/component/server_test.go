package component_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
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

// settle runs passes until the set is done.
func (w *world) settle() {
	w.t.Helper()
	var last checks.Result
	for range 20 {
		res, err := w.pass()
		must(w.t, err)
		if last = res; res.Proceeds() {
			return
		}
	}
	w.t.Fatalf("the set is not done after 20 passes: %+v", last)
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

// release removes the finalizers of a ConfigMap.
func (w *world) release(object string) {
	w.t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: object}}
	must(w.t, api.Patch(w.t.Context(), cm, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
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
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, u))
	return u
}

// exists reports whether an object exists.
func (w *world) exists(gvk schema.GroupVersionKind, namespace, object string) bool {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err := api.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: object}, u)
	if !apierrors.IsNotFound(err) {
		must(w.t, err)
	}
	return err == nil
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
func same(t tester, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

func mustBeSame(t tester, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// tester is the common part of testing.T and rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// configMap reads a ConfigMap.
func (w *world) configMap(object string) *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, cm))
	return cm
}
