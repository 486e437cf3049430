// Package apiserver starts the API server for the tests of a package.
//
//	func TestMain(m *testing.M) { apiserver.Main(m) }
//
// The first call of [Start] starts the server, so that tests without it stay
// fast. All tests of the package share it. Each test has its own namespace. No
// controller of Kubernetes runs there.
//
// By default the server is that of package smallserver. It has no rights,
// admission, defaults and server-side apply of built-in kinds. Tests that need them call
// [RequireKube]: they run only if WINDLASS_KUBE_APISERVER is set, as make verify
// does. All tests then use the kube-apiserver in the folder KUBEBUILDER_ASSETS,
// or else in bin/envtest. If WINDLASS_TEST_KUBECONFIG names a file, all tests use
// the running server that it connects to. [StartSecond] starts another
// kube-apiserver, and [StartControllers] the controllers on it.
package apiserver

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// The variables that choose the API server.
const (
	kubeVariable       = "WINDLASS_KUBE_APISERVER"
	kubeconfigVariable = "WINDLASS_TEST_KUBECONFIG"
	assetsVariable     = "KUBEBUILDER_ASSETS"
)

// Patience is the longest time that a server may take to start, and that a test
// waits for an event. Only tests that fail wait that long.
const Patience = 10 * time.Minute

// Until asks every 20 ms whether holds is true, up to 9,000 times. It counts the
// questions and not the time, so a machine that is busy has more of it.
func Until(ctx context.Context, holds wait.ConditionWithContextFunc) error {
	for range 9_000 {
		if ok, err := holds(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return context.DeadlineExceeded
}

// cluster is an API server that the first call of start starts.
type cluster struct {
	once   sync.Once
	server *envtest.Environment // nil: not a kube-apiserver
	config *rest.Config
	stop   func()
}

var first, second cluster

// parallel is the number of tests that run at the same time, unless -parallel is
// given: they mostly wait for the API server.
const parallel = "16"

// Main runs the tests of a package, stops the servers and ends the process.
// controller-runtime logs nothing.
func Main(m *testing.M) {
	log.SetLogger(logr.Discard())
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

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

// IsKube reports whether the tests run on kube-apiserver.
func IsKube() bool { return os.Getenv(kubeVariable) != "" }

// RequireKube skips a test that needs kube-apiserver if the tests run on another
// server.
func RequireKube(t testing.TB) {
	t.Helper()
	if !IsKube() {
		t.Skip("it needs kube-apiserver: run make verify, or set " + kubeVariable + "=1 after make envtest")
	}
}

// Start returns the configuration of the API server with definitions, and a client
// without a cache. If the server does not start, no test has failed, and the
// process ends. The definitions of the first call count.
func Start(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition) (*rest.Config, client.WithWatch) {
	switch file := os.Getenv(kubeconfigVariable); {
	case file != "":
		return first.start(scheme, definitions, func() error { return first.connect(file) })
	case IsKube():
		return first.start(scheme, definitions, first.startKube)
	default:
		return first.start(scheme, definitions, first.startSmall)
	}
}

// StartSecond returns the same of another kube-apiserver, which shares nothing with
// the server of [Start].
func StartSecond(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition) (*rest.Config, client.WithWatch) {
	return second.start(scheme, definitions, second.startKube)
}

func (c *cluster) start(scheme *runtime.Scheme, definitions []*apiextensions.CustomResourceDefinition, start func() error) (*rest.Config, client.WithWatch) {
	c.once.Do(func() {
		if err := start(); err != nil {
			fail(err)
		}
		c.config.QPS = -1
		// Definitions that another process installed are updated. If another
		// process installs them at the same time, one of both writes is refused.
		for {
			_, err := envtest.InstallCRDs(c.config, envtest.CRDInstallOptions{CRDs: definitions, Scheme: scheme, MaxTime: Patience})
			if apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) {
				continue
			}
			if err != nil {
				fail(err)
			}
			break
		}
	})
	api, err := client.NewWithWatch(c.config, client.Options{Scheme: scheme})
	if err != nil {
		fail(err)
	}
	return c.config, api
}

// connect connects to a running server.
func (c *cluster) connect(kubeconfig string) (err error) {
	c.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	return err
}

// startKube starts a kube-apiserver.
func (c *cluster) startKube() (err error) {
	c.server = &envtest.Environment{BinaryAssetsDirectory: assets(), ControlPlaneStartTimeout: Patience, ControlPlaneStopTimeout: Patience}
	c.stop = func() { _ = c.server.Stop() }
	c.config, err = c.server.Start()
	return err
}

// startSmall starts the small server.
func (c *cluster) startSmall() error {
	kubeconfig, stop, err := smallserver.Start()
	if err != nil {
		return err
	}
	c.stop = stop
	return c.connect(kubeconfig)
}

// stop stops the API servers and the controllers that run.
func stop() {
	stopControllers()
	for _, c := range []*cluster{&first, &second} {
		if c.stop != nil {
			c.stop()
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
	dir := os.Getenv(assetsVariable)
	if dir == "" {
		dir = filepath.Join(smallserver.Repository(), "bin", "envtest")
	}
	if _, err := os.Stat(filepath.Join(dir, "kube-apiserver")); err != nil {
		fail(fmt.Errorf("no kube-apiserver in %q: build it with: make envtest (or name a folder in %s)", dir, assetsVariable))
	}
	return dir
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "the API server does not start:", err)
	stop()
	os.Exit(1)
}
