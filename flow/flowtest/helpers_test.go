package flowtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"github.com/windlass-go/windlass/internal/testing/fake"
)

type (
	world   = flowtest.World[*Pool]
	ops     = flow.Operations[*Pool]
	ext     = flow.Extensions[*Pool]
	request = flow.Request[*Pool]
)

// failuresOf returns the failures of a test, or "" if it passes, and whether one of
// them ended it.
func failuresOf(test func(t rapid.TB)) (failures string, fatal bool) {
	recorded := &fake.T{}
	fatal = true
	recorded.Run(func() {
		test(recorded)
		fatal = false
	})
	return recorded.Reported(), fatal
}

// mustFail fails unless the failures of a test contain each of the texts.
func mustFail(t *testing.T, reason string, test func(t rapid.TB), texts ...string) {
	t.Helper()
	failures, _ := failuresOf(test)
	if failures == "" {
		t.Errorf("%s: the test passes", reason)
	}
	for _, text := range texts {
		if !strings.Contains(failures, text) {
			t.Errorf("%s: want %q in:\n%s", reason, text, failures)
		}
	}
}

func mustEqual(t *testing.T, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// run calls World.Run.
func run(w *world) func(rapid.TB) { return func(t rapid.TB) { w.Run(t) } }

// underWay is an operation of a second.
var underWay = flow.InProgress("op", time.Second)

// doing returns operations that are done at once.
func doing() ops {
	return ops{
		Apply:      func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Delete:     func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Deleting:   func(p *Pool) bool { return p.Deleted },
		Generation: func(p *Pool) int64 { return p.Generation },
	}
}

// newWorld makes a world with a pool and operations.
func newWorld(o ops) (*world, *Pool) {
	p := &Pool{Size: 1, Generation: 1}
	return &world{Resource: p, Operations: o}, p
}
