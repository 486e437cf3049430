// Package apitest starts the API server of the tests.
package apitest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/examples/operator/config"
	"github.com/windlass-go/windlass/examples/operator/internal/apiserver"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// The tests that need an API server share one, each in its own namespace. The
// definitions are installed. Namespace and RequireKube set Config and API.
var (
	server *envtest.Environment // nil: the small server
	Config *rest.Config
	API    client.WithWatch
	stop   = func() {}
)

// Main runs the tests of a package, and then stops the server.
func Main(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// IsKube reports whether the tests run on kube-apiserver, as in make verify.
func IsKube() bool { return os.Getenv("WINDLASS_KUBE_APISERVER") == "1" }

// RequireKube starts kube-apiserver for a test that needs rights or another
// server. It skips the test on the small server.
func RequireKube(t *testing.T) {
	t.Helper()
	if !IsKube() {
		t.Skip("it needs kube-apiserver: run make verify, or set WINDLASS_KUBE_APISERVER=1 after make envtest")
	}
	if err := start(); err != nil {
		t.Fatal(err)
	}
}

var start = sync.OnceValue(func() error {
	var files []string // of the roles; the small server has none
	begin := startSmall
	if IsKube() {
		begin, files = startKube, []string{"rbac/account.yaml", "rbac/role.yaml"}
	}
	err := begin()
	if err != nil {
		return err
	}
	Config.QPS = -1
	if API, err = apiserver.Connect(Config); err != nil {
		return err
	}
	for _, file := range files {
		objects, err := Load(file)
		for _, obj := range objects {
			err = errors.Join(err, API.Create(context.Background(), obj))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
})

func startSmall() error {
	file, end, err := smallserver.Start()
	if err != nil {
		return err
	}
	stop = end
	Config, err = clientcmd.BuildConfigFromFlags("", file)
	return err
}

func startKube() (err error) {
	built, _ := filepath.Abs("../../../bin/envtest") // a test runs in its folder, demo or cmd
	folder := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), built)
	server = &envtest.Environment{BinaryAssetsDirectory: folder, ControlPlaneStartTimeout: 5 * time.Minute, ControlPlaneStopTimeout: 5 * time.Minute}
	stop = func() { _ = server.Stop() }
	if Config, err = server.Start(); err != nil {
		return fmt.Errorf("no kube-apiserver starts from %s (make envtest builds it, KUBEBUILDER_ASSETS names another folder): %w", folder, err)
	}
	return nil
}

// Load reads the objects of a file.
func Load(file string) (all []*unstructured.Unstructured, err error) {
	data, err := config.Files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(obj); {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, obj)
	}
}

// Namespace creates a namespace for a test.
func Namespace(t *testing.T) string {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := API.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// As returns the connection of another user.
func As(user string) *rest.Config {
	config := rest.CopyConfig(Config)
	config.Impersonate.UserName = user
	return config
}

// Kubeconfig writes the configuration file of kube-apiserver.
func Kubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, server.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Eventually fails the test unless holds returns true before many pauses are
// over. It has no deadline, which a busy machine would miss.
func Eventually(t *testing.T, holds func() (bool, error)) {
	t.Helper()
	pauses := wait.Backoff{Duration: 20 * time.Millisecond, Steps: 9000}
	if err := wait.ExponentialBackoff(pauses, holds); err != nil {
		t.Errorf("it does not happen: %v", err)
	}
}

// Account is the user of the deployed operator.
const Account = "system:serviceaccount:kusto-operator:kusto-operator"
