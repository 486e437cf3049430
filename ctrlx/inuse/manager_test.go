package inuse_test

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// App uses up to two Clusters. Slow says that its operation takes a while.
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AppSpec          `json:"spec,omitempty"`
	Status            v1.ClusterStatus `json:"status,omitempty"`
}

// AppSpec is that of an App.
type AppSpec struct {
	Cluster string `json:"cluster,omitempty"`
	Second  string `json:"second,omitempty"`
	Slow    bool   `json:"slow,omitempty"`
}

// AppList is a list of them.
type AppList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []App `json:"items"`
}

func (a *App) GetConditions() []metav1.Condition    { return a.Status.Conditions }
func (a *App) SetConditions(all []metav1.Condition) { a.Status.Conditions = all }

func (a *App) DeepCopyObject() runtime.Object {
	out := *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), a.Status.Conditions...)
	return &out
}

func (l *AppList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*App))
	}
	return &out
}

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := v1.AddToScheme(s); err != nil {
		panic(err)
	}
	s.AddKnownTypes(v1.GroupVersion, &App{}, &AppList{})
	return s
}()

// server is an API server with the kinds of the tests. It answers discovery for all
// managers, and has the objects of TestKilled.
var server = memoryserver.NewServer(
	memoryserver.Kind{GroupVersionKind: v1.GroupVersion.WithKind("App"), Plural: "apps", Status: true},
	memoryserver.Kind{GroupVersionKind: v1.GroupVersion.WithKind("Cluster"), Plural: "clusters", Status: true},
	memoryserver.Kind{GroupVersionKind: v1.GroupVersion.WithKind("Database"), Plural: "databases", Status: true},
)

// fakeAPI returns a client whose versions are never used again, as those of an
// API server. Its tracker does not record managed fields, which takes a while.
func fakeAPI() client.Client {
	tracker := clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(tracker).WithGlobalResourceVersionCounter().
		WithStatusSubresource(&App{}, &v1.Cluster{}, &v1.Database{}).Build()
}

// idleManager is a manager that is never started.
type idleManager struct {
	manager.Manager
	client client.Client
	live   client.Reader
	cache  cache.Cache
	mapper meta.RESTMapper
}

// newManager returns a manager with a client, a reader past the cache, and a cache that
// reads api.
func newManager(c client.Client, live client.Reader, api client.Reader) *idleManager {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1.GroupVersion})
	for _, kind := range []string{"App", "Cluster", "Database"} {
		mapper.Add(v1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return &idleManager{client: c, live: live, mapper: mapper, cache: &fakeCache{&informertest.FakeInformers{Scheme: scheme}, api}}
}

func (m *idleManager) GetClient() client.Client                       { return m.client }
func (m *idleManager) GetAPIReader() client.Reader                    { return m.live }
func (m *idleManager) GetCache() cache.Cache                          { return m.cache }
func (m *idleManager) GetRESTMapper() meta.RESTMapper                 { return m.mapper }
func (m *idleManager) GetScheme() *runtime.Scheme                     { return scheme }
func (m *idleManager) GetEventRecorder(string) recorder.EventRecorder { return nil }
func (m *idleManager) GetLogger() logr.Logger                         { return logr.Discard() }
func (m *idleManager) GetConfig() *rest.Config                        { return server.Config("operator") }
func (m *idleManager) GetHTTPClient() *http.Client {
	return &http.Client{Transport: m.GetConfig().Transport}
}
func (m *idleManager) Add(manager.Runnable) error { return nil }
func (m *idleManager) GetControllerOptions() (c ctrlconfig.Controller) {
	c.SkipNameValidation = new(true)
	return c
}

// fakeCache reads from a client what it says it watches.
type fakeCache struct {
	*informertest.FakeInformers
	reader client.Reader
}

func (c *fakeCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.reader.Get(ctx, key, obj, opts...)
}

func (c *fakeCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.reader.List(ctx, list, opts...)
}
