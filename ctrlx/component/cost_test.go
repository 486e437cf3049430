package component_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	apidiscovery "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// large is a component with many dependents in sync, half of them Deployments, in
// a manager without an API server.
type large struct {
	manager  *memoryManager
	inner    reconcile.Reconciler
	objects  []client.Object
	writes   int
	uncached int
}

// newLarge returns a component in sync, whose cache is a fake client.
func newLarge(tb testing.TB, n int) *large {
	tb.Helper()
	l := &large{objects: madeObjects(n)}
	shop := &Shop{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "shop", UID: "1", Generation: 1, Finalizers: []string{name + "/finalizer"},
	}}
	// The mapper of controller-runtime is a pointer, too: the client of a pass has the same one.
	mapper := &struct{ meta.RESTMapper }{testrestmapper.TestOnlyStaticRESTMapper(scheme, appsv1.SchemeGroupVersion, corev1.SchemeGroupVersion, testv1.GroupVersion)}
	inner := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithReturnManagedFields().
		WithObjects(shop).WithStatusSubresource(shop).Build()
	l.manager = &memoryManager{cache: &reads{inner}, mapper: mapper, client: &pointer{interceptor.NewClient(inner, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, config apiruntime.ApplyConfiguration, opts ...client.ApplyOption) error {
			l.writes++
			obj := config.(client.Object)
			again := obj.DeepCopyObject().(*unstructured.Unstructured)
			if new(client.ApplyOptions).ApplyOptions(opts).DryRun != nil { // the fake client would store it
				obj.SetUID(types.UID(obj.GetName()))
				return nil
			}
			if err := c.Apply(ctx, config, opts...); err != nil || obj.GetUID() != "" {
				return err
			}
			again.SetUID(types.UID(obj.GetName())) // as the API server does
			again.SetResourceVersion("")
			if again.GetKind() == "Deployment" {
				again.SetGeneration(1)
			}
			err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(again), opts...)
			obj.SetUID(again.GetUID())
			obj.SetGeneration(again.GetGeneration())
			obj.SetResourceVersion(again.GetResourceVersion())
			return err
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			l.writes++
			return c.SubResource(sub).Patch(ctx, obj, p, opts...)
		},
	})}, live: interceptor.NewClient(inner, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			l.uncached++
			return c.Get(ctx, key, obj, opts...)
		},
	})}
	l.restart(tb)
	l.pass(tb)
	for _, obj := range l.objects { // as the controller of Deployments does
		if _, ok := obj.(*appsv1.Deployment); !ok {
			continue
		}
		d := &appsv1.Deployment{}
		err := inner.Get(tb.Context(), client.ObjectKeyFromObject(obj), d)
		d.Status = appsv1.DeploymentStatus{
			Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
			Conditions: []appsv1.DeploymentCondition{{Type: "Available", Status: "True", Reason: "MinimumReplicasAvailable"}},
		}
		if err == nil {
			err = inner.Status().Update(tb.Context(), d)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	for range 3 {
		l.pass(tb)
	}
	if err := inner.Get(tb.Context(), client.ObjectKeyFromObject(shop), shop); err != nil {
		tb.Fatal(err)
	}
	if !meta.IsStatusConditionTrue(shop.Status.Conditions, "Ready") {
		tb.Fatalf("the component is not ready: %+v", shop.Status)
	}
	l.writes, l.uncached = 0, 0
	return l
}

// restart begins with a process that remembers nothing.
func (l *large) restart(tb testing.TB) {
	tb.Helper()
	m := *l.manager
	l.manager = &m
	generator := manifests.GeneratorFunc[*ShopSpec](func(context.Context, string, string, *ShopSpec) ([]client.Object, error) {
		return l.objects, nil
	})
	r := component.New[*Shop](name, generator, component.WithKinds(configMaps, deployments))
	if err := r.SetupWithManager(l.manager); err != nil {
		tb.Fatal(err)
	}
	l.inner = r.Inner()
}

// madeObjects returns the objects that a generator makes.
func madeObjects(n int) []client.Object {
	labels := map[string]string{"app": "shop", "tier": "web"}
	all := make([]client.Object, n)
	for i := range all {
		m := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("object-", i), Labels: labels}
		if i%2 == 1 {
			all[i] = &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"a": "1", "b": "2"}}
			continue
		}
		all[i] = &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "web", Image: "nginx"}},
			}},
		}}
	}
	return all
}

// pass runs a pass over the component.
func (l *large) pass(tb testing.TB) { l.passIn(tb, tb.Context()) }

func (l *large) passIn(tb testing.TB, ctx context.Context) {
	req := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "shop"}}
	if _, err := l.inner.Reconcile(ctx, req); err != nil {
		tb.Fatal(err)
	}
}

// byHand reads each object from the same cache, and makes a digest of its
// manifest.
func (l *large) byHand(tb testing.TB) {
	for _, obj := range l.objects {
		var read client.Object = &corev1.ConfigMap{}
		if _, ok := obj.(*appsv1.Deployment); ok {
			read = &appsv1.Deployment{}
		}
		if err := l.manager.cache.Get(tb.Context(), client.ObjectKeyFromObject(obj), read); err != nil {
			tb.Fatal(err)
		}
		text, err := json.Marshal(obj)
		if err != nil {
			tb.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if hex.EncodeToString(sum[:]) == read.GetAnnotations()["digest"] {
			tb.Fatal("the digest is that of another program")
		}
	}
}

// TestInSyncCost verifies that a pass over 500 dependents in sync writes nothing,
// reads nothing past the cache, and costs little more than reading and digesting
// by hand.
func TestInSyncCost(t *testing.T) {
	n := 500
	if race.Enabled {
		n = 50
	}
	l := newLarge(t, n)
	l.pass(t)
	if l.writes+l.uncached > 0 {
		t.Errorf("a pass over %d objects in sync made %d writes and %d reads past the cache", n, l.writes, l.uncached)
	}
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	byHand := testing.AllocsPerRun(1, func() { l.byHand(t) })
	if got := testing.AllocsPerRun(1, func() { l.pass(t) }); got > 1.1*byHand {
		t.Errorf("a pass makes %.0f allocations, and %.0f by hand", got, byHand)
	}
}

// BenchmarkInSync compares a pass over a component in sync with code by hand that
// reads each object and makes a digest of its manifest, with a cache that only copies.
// It also measures what the operator remembers of each dependent.
func BenchmarkInSync(b *testing.B) {
	l := newLarge(b, 500)
	l.copying(b)
	l.inner = nil
	before := ratio.Heap()
	l.restart(b)
	for b.Loop() {
		l.pass(b)
	}
	b.ReportMetric((ratio.Heap()-before)/500, "B/dependent")
	b.ReportMetric(ratio.Of(func() { l.pass(b) }, func() { l.byHand(b) }, ratio.Options{Samples: 10}), "x-by-hand")
}

// copying makes the cache one that only copies objects, as that of
// controller-runtime does.
func (l *large) copying(tb testing.TB) {
	tb.Helper()
	c := copies{l.manager.cache.Reader, map[client.ObjectKey]client.Object{}}
	for _, obj := range l.objects {
		read := obj.DeepCopyObject().(client.Object)
		if err := c.Get(tb.Context(), client.ObjectKeyFromObject(obj), read); err != nil {
			tb.Fatal(err)
		}
		c.of[client.ObjectKeyFromObject(obj)] = read
	}
	l.manager.cache.Reader = c
}

// copies is a cache that copies an object for each read.
type copies struct {
	client.Reader
	of map[client.ObjectKey]client.Object
}

func (c copies) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	switch read := c.of[key].(type) {
	case *appsv1.Deployment:
		read.DeepCopyInto(into.(*appsv1.Deployment))
	case *corev1.ConfigMap:
		read.DeepCopyInto(into.(*corev1.ConfigMap))
	default:
		return c.Reader.Get(ctx, key, into, opts...)
	}
	return nil
}

// pointer is a client that can be compared, as that of a manager.
type pointer struct{ client.Client }

// memoryManager is a manager that is never started.
type memoryManager struct {
	manager.Manager
	client client.Client
	live   client.Reader
	cache  *reads
	mapper meta.RESTMapper
}

func (m *memoryManager) GetClient() client.Client                       { return m.client }
func (m *memoryManager) GetAPIReader() client.Reader                    { return m.live }
func (m *memoryManager) GetCache() cache.Cache                          { return memoryCache{reads: m.cache} }
func (m *memoryManager) GetRESTMapper() meta.RESTMapper                 { return m.mapper }
func (m *memoryManager) GetScheme() *apiruntime.Scheme                  { return scheme }
func (m *memoryManager) GetConfig() *rest.Config                        { return &rest.Config{} }
func (m *memoryManager) GetHTTPClient() *http.Client                    { return discoveryOnly }
func (m *memoryManager) GetEventRecorder(string) recorder.EventRecorder { return noEvents{} }
func (m *memoryManager) GetLogger() logr.Logger                         { return logr.Discard() }
func (m *memoryManager) Add(manager.Runnable) error                     { return nil }
func (m *memoryManager) Elected() <-chan struct{}                       { return nil }
func (m *memoryManager) GetControllerOptions() ctrlconfig.Controller {
	return ctrlconfig.Controller{SkipNameValidation: new(true)}
}

// memoryCache has all kinds in sync.
type memoryCache struct {
	cache.Cache
	reads *reads
}

// reads is the reader of a cache, which a benchmark replaces.
type reads struct{ client.Reader }

func (c memoryCache) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return c.reads.Get(ctx, key, into, opts...)
}

func (memoryCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return inSyncInformer{}, nil
}

type inSyncInformer struct{ cache.Informer }

func (inSyncInformer) HasSynced() bool { return true }
func (i inSyncInformer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i, nil
}

type noEvents struct{ recorder.EventRecorder }

func (noEvents) Eventf(_, _ apiruntime.Object, _, _, _, _ string, _ ...any) {}

// discoveryOnly answers discovery with the kinds of the component and of its dependents.
var discoveryOnly = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
	group := func(gvk schema.GroupVersionKind) apidiscovery.APIGroupDiscovery {
		return apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: gvk.Group}, Versions: []apidiscovery.APIVersionDiscovery{{
			Version: gvk.Version, Resources: []apidiscovery.APIResourceDiscovery{{
				Resource: gvk.Kind, Scope: apidiscovery.ScopeNamespace, Verbs: []string{"get", "list", "watch"},
				ResponseKind: (*metav1.GroupVersionKind)(&gvk), Subresources: []apidiscovery.APISubresourceDiscovery{{Subresource: "status", ResponseKind: (*metav1.GroupVersionKind)(&gvk)}},
			}},
		}}}
	}
	list := apidiscovery.APIGroupDiscoveryList{Items: []apidiscovery.APIGroupDiscovery{group(deployments), group(testv1.GroupVersion.WithKind("Shop"))}}
	if req.URL.Path == "/api" {
		list.Items = []apidiscovery.APIGroupDiscovery{group(configMaps)}
	}
	body, err := json.Marshal(list)
	return &http.Response{
		StatusCode: http.StatusOK, Request: req, Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}},
	}, err
})}
