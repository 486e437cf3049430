package flowtest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

type (
	world   = flowtest.World[*Pool]
	ops     = flow.Operations[*Pool]
	ext     = flow.Extensions[*Pool]
	request = flow.Request[*Pool]
)

// judge is a test that may fail without failing the test it is used in. It keeps what it is told.
type judge struct {
	rapid.TB // what is not below is not called
	told     []string
	fatal    bool
}

func (*judge) Helper() {}

func (j *judge) Errorf(format string, args ...any) {
	j.told = append(j.told, fmt.Sprintf(format, args...))
}

func (j *judge) Fatalf(format string, args ...any) {
	j.fatal = true
	j.Errorf(format, args...)
	runtime.Goexit()
}

// judged is what a test fails with; empty: it passes.
func judged(test func(t rapid.TB)) (told string, fatal bool) {
	j := &judge{}
	done := make(chan struct{})
	go func() { // FailNow ends it
		defer close(done)
		test(j)
	}()
	<-done
	return strings.Join(j.told, "\n"), j.fatal
}

// mustFail fails unless a test fails with each of the texts.
func mustFail(t *testing.T, reason string, test func(t rapid.TB), texts ...string) {
	t.Helper()
	told, _ := judged(test)
	if told == "" {
		t.Errorf("%s: the test passes", reason)
	}
	for _, text := range texts {
		if !strings.Contains(told, text) {
			t.Errorf("%s: %q is not in:\n%s", reason, text, told)
		}
	}
}

func mustEqual(t *testing.T, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// run runs a world until it is over.
func run(w *world) func(rapid.TB) { return func(t rapid.TB) { w.Run(t) } }

// doing are operations that are done at once.
func doing() ops {
	return ops{
		Apply:      func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Delete:     func(context.Context, *request) (flow.Progress, error) { return flow.Done(), nil },
		Deleting:   func(p *Pool) bool { return p.Deleted },
		Generation: func(p *Pool) int64 { return p.Generation },
	}
}

// keeping are the same with tokens that are kept with the resource.
func keeping() ops {
	o := doing()
	o.Token = func(p *Pool) (string, int64) { return p.Token, p.TokenOf }
	o.SetToken = func(_ context.Context, p *Pool, token string, generation int64) error {
		p.Token, p.TokenOf = token, generation
		return nil
	}
	return o
}

// newWorld has a pool and operations.
func newWorld(o ops) (*world, *Pool) {
	p := &Pool{Size: 1, Generation: 1}
	return &world{Resource: p, Operations: o}, p
}
