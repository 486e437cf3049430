// Package apiserver starts a real API server for the tests of a package.
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		apiserver.Stop()
//		os.Exit(code)
//	}
//
// The first call of [Start] starts the server, so that tests without it stay
// fast. All tests of the package share it. Each test has its own namespace. No
// controller of Kubernetes runs there. [StartSecond] starts another server, and
// [StartControllers] the controllers on it.
package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// cluster is an API server that the first call of start starts.
type cluster struct {
	once   sync.Once
	server *envtest.Environment
	config *rest.Config
}

var first, second cluster

// Scheme returns a new scheme with the types of client-go, of testv1, and of
// further functions. It panics if a function fails.
func Scheme(further ...func(*runtime.Scheme) error) *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range append(further, clientgoscheme.AddToScheme, testv1.AddToScheme) {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// Start returns the configuration of the API server with definitions, and a client
// without a cache. If the server does not start, no test has failed, and the
// process ends. The definitions of the first call count.
func Start(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition) (*rest.Config, client.WithWatch) {
	return first.start(scheme, definitions)
}

// StartSecond returns the same of another API server, which shares nothing with
// that of [Start].
func StartSecond(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition) (*rest.Config, client.WithWatch) {
	return second.start(scheme, definitions)
}

func (c *cluster) start(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition) (*rest.Config, client.WithWatch) {
	c.once.Do(func() {
		c.server = &envtest.Environment{
			BinaryAssetsDirectory: assets(), CRDs: definitions, Scheme: scheme, ControlPlaneStartTimeout: 2 * time.Minute,
		}
		var err error
		if c.config, err = c.server.Start(); err != nil {
			fail(err)
		}
		c.config.QPS = -1
	})
	api, err := client.NewWithWatch(c.config, client.Options{Scheme: scheme})
	if err != nil {
		fail(err)
	}
	return c.config, api
}

// Stop stops the API servers and the controllers that run.
func Stop() {
	stopControllers()
	for _, c := range []*cluster{&first, &second} {
		if c.server != nil {
			_ = c.server.Stop()
		}
	}
}

// Namespace makes a namespace for a test and returns its name.
func Namespace(t testing.TB, api client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// assets returns the folder KUBEBUILDER_ASSETS, or else bin/envtest of the
// repository.
func assets() string {
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	for up, parent := ".", ""; dir == ""; up = filepath.Join(up, "..") {
		abs, err := filepath.Abs(up)
		if err != nil || abs == parent {
			break // the root
		}
		parent = abs
		if _, err := os.Stat(filepath.Join(abs, "go.work")); err == nil {
			dir = filepath.Join(abs, "bin", "envtest")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "kube-apiserver")); err != nil {
		fail(fmt.Errorf("no kube-apiserver in %q: build it with: make envtest (or name a folder in KUBEBUILDER_ASSETS)", dir))
	}
	return dir
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "the API server does not start:", err)
	Stop()
	os.Exit(1)
}
