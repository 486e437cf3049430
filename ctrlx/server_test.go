package ctrlx_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

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

// The tests run against a real API server, one for all of them, each in a namespace of its own.
var (
	config *rest.Config
	scheme = runtime.NewScheme()
	api    client.WithWatch // without a cache
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		assets := os.Getenv("KUBEBUILDER_ASSETS")
		if assets == "" {
			assets, _ = filepath.Abs("../bin/envtest")
		}
		if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
			fmt.Fprintf(os.Stderr, "there is no kube-apiserver in %s: build it with: make envtest (or name a folder in KUBEBUILDER_ASSETS)\n", assets)
			return 1
		}
		log.SetLogger(logr.Discard())
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, testv1.AddToScheme} {
			if err := add(scheme); err != nil {
				panic(err)
			}
		}
		server := &envtest.Environment{BinaryAssetsDirectory: assets, CRDs: testv1.Definitions(), Scheme: scheme}
		var err error
		if config, err = server.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "the API server does not start:", err)
			return 1
		}
		defer func() { _ = server.Stop() }()
		config.QPS = -1
		if api, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// namespace makes a namespace for a test.
func namespace(t testing.TB) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}
