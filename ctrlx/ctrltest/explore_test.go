package ctrltest_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TestCorrect: the operator without a mistake keeps the rules.
func TestCorrect(t *testing.T) { ctrltest.Explore(t, operator(none)) }

func TestTry(t *testing.T) { ctrltest.Explore(t, operator(os.Getenv("MISTAKE"))) }
