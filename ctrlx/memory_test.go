package ctrlx_test

import (
	"context"
	"net/http"
	"reflect"
	"sync/atomic"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// inMemory is a manager without an API server, for measuring what a pass costs besides its reads: those do what the reader of
// controller-runtime's cache does: they look the object up, copy it and set its kind. A part that a pass does not need
// is left nil, and panics.
type inMemory struct {
	manager.Manager
	reader client.Reader
	client client.Client
	writes *atomic.Int64
}

// newInMemory is one whose client and cache read from memory.
func newInMemory(objects ...client.Object) *inMemory {
	s := &store{objects: map[reflect.Type]map[client.ObjectKey]client.Object{}}
	for _, o := range objects {
		s.put(o)
	}
	return &inMemory{reader: s, client: &storeClient{store: s}, writes: &s.writes}
}

func (m *inMemory) GetCache() cache.Cache                          { return memoryCache{Reader: m.reader} }
func (m *inMemory) GetClient() client.Client                       { return m.client }
func (m *inMemory) GetAPIReader() client.Reader                    { return m.reader }
func (m *inMemory) GetScheme() *runtime.Scheme                     { return scheme }
func (m *inMemory) GetConfig() *rest.Config                        { return &rest.Config{} }
func (m *inMemory) GetHTTPClient() *http.Client                    { return discoveryOnly }
func (m *inMemory) GetEventRecorder(string) recorder.EventRecorder { return noEvents{} }
func (m *inMemory) GetLogger() logr.Logger                         { return logr.Discard() }
func (m *inMemory) Add(manager.Runnable) error                     { return nil }
func (m *inMemory) APIResources(context.Context) (*metav1.APIResourceList, error) {
	return allServed, nil
}
func (m *inMemory) GetControllerOptions() (c ctrlconfig.Controller) {
	c.SkipNameValidation = new(true)
	return c
}

// allServed are the resources of the kinds of the tests.
var allServed = &metav1.APIResourceList{APIResources: []metav1.APIResource{{Name: "apps/status", Kind: "App"}, {Name: "clusters/status", Kind: "Cluster"}, {Name: "databases/status", Kind: "Database"}}}

type noEvents struct{ recorder.EventRecorder }

func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// store reads as the cache of a kind does.
type store struct {
	objects map[reflect.Type]map[client.ObjectKey]client.Object
	writes  atomic.Int64
}

func (s *store) put(o client.Object) {
	t := reflect.TypeOf(o)
	if s.objects[t] == nil {
		s.objects[t] = map[client.ObjectKey]client.Object{}
	}
	s.objects[t][client.ObjectKeyFromObject(o)] = o.DeepCopyObject().(client.Object)
}

func (s *store) Get(_ context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	var o client.GetOptions
	o.ApplyOptions(opts)
	gvk, err := apiutil.GVKForObject(out, scheme)
	if err != nil {
		return err
	}
	found, ok := s.objects[reflect.TypeOf(out)][key]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, key.Name)
	}
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy {
		reflect.ValueOf(out).Elem().Set(reflect.ValueOf(found).Elem())
		return nil
	}
	reflect.ValueOf(out).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	out.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// List is asked whether a kind may be listed.
func (s *store) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// storeClient writes what passes write.
type storeClient struct {
	client.Client
	store *store
}

func (c *storeClient) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	return c.store.Get(ctx, key, out, opts...)
}

func (c *storeClient) Status() client.SubResourceWriter { return storeStatus{store: c.store} }

type storeStatus struct {
	client.SubResourceWriter
	store *store
}

func (s storeStatus) Patch(_ context.Context, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
	s.store.writes.Add(1)
	s.store.put(o)
	return nil
}

// memoryCache is of kinds that are watched, and never change.
type memoryCache struct {
	client.Reader
	cache.Informers
}

func (memoryCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return synced{}, nil
}

func (c memoryCache) Get(ctx context.Context, key client.ObjectKey, out client.Object, opts ...client.GetOption) error {
	return c.Reader.Get(ctx, key, out, opts...)
}

type synced struct{ cache.Informer }

func (synced) HasSynced() bool { return true }
func (synced) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return registered{}, nil
}

type registered struct {
	toolscache.ResourceEventHandlerRegistration
}

func (registered) HasSynced() bool { return true }
