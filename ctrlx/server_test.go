package ctrlx_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The API server of all tests that need one. Each test has its own namespace.
// startServer sets config and api.
var (
	server *envtest.Environment
	config *rest.Config
	scheme = runtime.NewScheme()
	api    client.WithWatch // without a cache
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, testv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// startServer starts the API server when the first test needs it. If the server
// does not start, no test has failed, and the process ends.
var startServer = sync.OnceFunc(func() {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "the API server does not start:", err)
		stopServer()
		os.Exit(1)
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets, _ = filepath.Abs("../bin/envtest")
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		fail(fmt.Errorf("there is no kube-apiserver in %s: build it with: make envtest (or name a folder in KUBEBUILDER_ASSETS)", assets))
	}
	server = &envtest.Environment{
		BinaryAssetsDirectory: assets, CRDs: testv1.Definitions(), Scheme: scheme, ControlPlaneStartTimeout: 2 * time.Minute,
	}
	var err error
	if config, err = server.Start(); err != nil {
		fail(err)
	}
	config.QPS = -1
	if api, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		fail(err)
	}
})

func stopServer() {
	if server != nil {
		_ = server.Stop()
	}
}

// namespace makes a namespace for a test.
func namespace(t testing.TB) string {
	t.Helper()
	startServer()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}
