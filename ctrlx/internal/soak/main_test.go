package soak_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
)

var (
	long     = flag.Bool("soak", false, "run the long forms: make soak")
	patience = flag.Duration("patience", 2*time.Minute, "longest time to settle after the last disturbance")
	seed     = flag.Uint64("seed", 0, "seed of the random numbers; 0: a new one for each run")
)

var (
	the *server
	api client.WithWatch // without a cache, over a network without faults
)

// Roles of a process of this binary. The process with the tests has none.
const (
	roleVariable  = "WINDLASS_SOAK_ROLE"
	roleOperator  = "operator"
	roleAPIServer = "apiserver"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	switch os.Getenv(roleVariable) {
	case roleOperator:
		os.Exit(operate())
	case roleAPIServer:
		os.Exit(becomeAPIServer())
	}
	if !apiserver.IsKube() {
		fmt.Println("all tests are skipped: they need kube-apiserver: run make verify, or set WINDLASS_KUBE_APISERVER=1 after make envtest")
		return
	}
	os.Exit(func() int {
		assets := os.Getenv("KUBEBUILDER_ASSETS")
		if assets == "" {
			assets, _ = filepath.Abs("../../../bin/envtest")
		}
		if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
			fmt.Fprintf(os.Stderr, "there is no kube-apiserver in %s: build it with: make envtest (or name a folder in KUBEBUILDER_ASSETS)\n", assets)
			return 1
		}
		var err error
		if the, err = startServer(assets); err != nil {
			fmt.Fprintln(os.Stderr, "the API server does not start:", err)
			return 1
		}
		defer the.stop()
		if api, err = client.NewWithWatch(the.config, client.Options{Scheme: newScheme()}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// newScheme makes a scheme for each manager, because a manager adds to its
// scheme while others read theirs.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, testv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// size returns short, or whenLong in the long form of a test.
func size[T any](short, whenLong T) T {
	if *long {
		return whenLong
	}
	return short
}

// random returns the random numbers of a test, and logs their seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 1))
}

// between returns a random duration of at least least, and less than most.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// namespace makes a namespace for a test.
func namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "soak-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}
