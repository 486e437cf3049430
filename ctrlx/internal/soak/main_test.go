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

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

var (
	long       = flag.Bool("soak", false, "run the long forms: make soak")
	raceRounds = flag.Int("rounds", 25, "how many rounds the long form of TestRaces has")
	patience   = flag.Duration("patience", 2*time.Minute, "how long it may take until all is as it should be, when nothing disturbs any more")
	seed       = flag.Uint64("seed", 0, "what random numbers begin with; 0: another one each time")
)

var (
	the *server
	api client.WithWatch // without a cache, and with a network that does not fail
)

// What a process of this binary is, if it is not the one with the tests.
const (
	roleVariable   = "WINDLASS_SOAK_ROLE"
	roleOperator   = "operator"
	roleAPIServer  = "apiserver"
	serverVariable = "WINDLASS_SOAK_SERVER" // of which API server the tests make use, in place of one of their own
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	switch os.Getenv(roleVariable) {
	case roleOperator:
		os.Exit(operate())
	case roleAPIServer:
		os.Exit(becomeAPIServer())
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

// newScheme makes one for each manager, which adds to it while others read theirs.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensions.AddToScheme, testv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// size is what differs between the short form of a test and the long one.
func size[T any](short, whenLong T) T {
	if *long {
		return whenLong
	}
	return short
}

// random numbers for a test, which says where they begin.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	return rand.New(rand.NewPCG(s, 1))
}

// between is a duration of at least one and less than the other.
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
