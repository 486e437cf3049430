package howto_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/windlass-go/windlass/examples/howto/api/v1"
	guarded "github.com/windlass-go/windlass/examples/howto/guarded"
	manykinds "github.com/windlass-go/windlass/examples/howto/manykinds"
	secret "github.com/windlass-go/windlass/examples/howto/secret"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// The files that readers paste set their reconcilers up.
func TestSetUp(t *testing.T) {
	for name, setUp := range map[string]func(ctrl.Manager) error{"guarded": guarded.SetUp, "manykinds": manykinds.SetUp, "secret": secret.SetUp} {
		if err := setUp(newManager(t)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGuardedDeletion deletes the cluster, the Secret and the database, in each order.
// All of them go.
func TestGuardedDeletion(t *testing.T) {
	config := startServer(t)
	mgr := managerOf(t, config)
	if err := guarded.SetUp(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	api, err := client.NewWithWatch(config, client.Options{Scheme: mgr.GetScheme()})
	if err != nil {
		t.Fatal(err)
	}
	for i, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		name := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("order-", i)}
		database := &v1.Database{ObjectMeta: name, Spec: v1.DatabaseSpec{Cluster: name.Name, PasswordSecret: name.Name}}
		objects := []client.Object{&v1.Cluster{ObjectMeta: name}, &corev1.Secret{ObjectMeta: name}, database}
		lists := []client.ObjectList{&v1.ClusterList{}, &corev1.SecretList{}, &v1.DatabaseList{}}
		for _, obj := range objects {
			if err := api.Create(ctx, obj); err != nil {
				t.Fatal(err)
			}
		}
		untilSeen(t, api, database, lists[2], func(obj client.Object) bool {
			return meta.IsStatusConditionTrue(obj.(*v1.Database).Status.Conditions, "Ready")
		})
		for _, j := range order {
			if err := api.Delete(ctx, objects[j]); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
		}
		for j := range objects {
			untilSeen(t, api, objects[j], lists[j], nil)
		}
	}
}

// untilSeen returns when accept accepts an object, or when the object is gone and
// accept is nil.
func untilSeen(t *testing.T, api client.WithWatch, obj client.Object, list client.ObjectList, accept func(client.Object) bool) {
	t.Helper()
	switch err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); {
	case apierrors.IsNotFound(err) && accept == nil:
		return
	case err != nil:
		t.Fatal(err)
	case accept != nil && accept(obj):
		return
	}
	events, err := api.Watch(t.Context(), list, client.InNamespace(obj.GetNamespace()), client.MatchingFields{"metadata.name": obj.GetName()},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: obj.GetResourceVersion()}})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type == watch.Deleted && accept == nil || event.Type == watch.Modified && accept != nil && accept(event.Object.(client.Object)) {
			return
		}
	}
	t.Fatalf("the watch of %T %s ended", obj, obj.GetName())
}

// newManager returns a manager that is not started, so no request is sent. It finds
// mistakes of the set-up.
func newManager(t *testing.T) ctrl.Manager {
	t.Helper()
	return managerOf(t, &rest.Config{Host: "http://127.0.0.1:1"})
}

// managerOf returns a manager of a cluster. The caller starts it.
func managerOf(t *testing.T, cluster *rest.Config) ctrl.Manager {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	names := true // several tests of a process set a kind up
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:     scheme,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &names},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// startServer starts a small API server with the kinds of the how-to pages.
func startServer(t *testing.T) *rest.Config {
	t.Helper()
	file, stop, err := smallserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	t.Cleanup(func() { _ = os.Remove(file) })
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{
		definition("Cluster", "clusters"), definition("Database", "databases")}, MaxTime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func definition(kind, plural string) *apiextensions.CustomResourceDefinition {
	open := true
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1.GroupVersion.Group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: v1.GroupVersion.Group,
			Names: apiextensions.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural},
			Scope: apiextensions.NamespaceScoped,
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: v1.GroupVersion.Version, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open}},
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}
