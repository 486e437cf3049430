package chaintest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
)

// decided is a result that describes its decision, or panics.
type decided struct{ panics bool }

func (d decided) Describe() (string, string) {
	if d.panics {
		panic("no idea")
	}
	return "block", "NotYet"
}

func TestRecorder(t *testing.T) {
	enter := chaintest.Step{Point: "Apply", Link: "a"}
	left := func(verdict, reason, err string) []chaintest.Step {
		return []chaintest.Step{enter, {Point: "Apply", Link: "a", Left: true, Verdict: verdict, Reason: reason, Err: err}}
	}
	cases := map[string]struct {
		reason string
		end    func() (any, error)
		want   []chaintest.Step
	}{
		"Returns": {"the verdict of a result without Describe is proceed", func() (any, error) { return 1, nil }, left("proceed", "", "")},
		"Fails":   {"the step has the text of the error", func() (any, error) { return nil, errors.New("no") }, left("error", "", "no")},
		"Panics":  {"the step has the panic value", func() (any, error) { panic("out") }, left("panic", "", "out")},
		"Goexit":  {"the verdict of Goexit is not error", func() (any, error) { runtime.Goexit(); return nil, nil }, left("goexit", "", "chain: the goroutine was ended by runtime.Goexit")},
		"Decides": {"the step has the verdict and reason of the result", func() (any, error) { return decided{}, nil }, left("block", "NotYet", "")},
		"NoVerdict": {"the step shows that Describe panics", func() (any, error) { return decided{panics: true}, nil },
			left("(the result panics in Describe)", "", "")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var rec chaintest.Recorder
			a := chain.New(chain.Named("a", func(next chain.Handler[int, any]) chain.Handler[int, any] { return next })).At("Apply").Observe(&rec)
			h := a.Then(func(context.Context, int) (any, error) { return tc.end() })
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				_, _ = h(context.Background(), 1)
			}()
			<-done
			if diff := cmp.Diff(tc.want, rec.Steps()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			rec.Reset()
			if got := rec.String() + fmt.Sprint(rec.Steps()); got != "[]" {
				t.Errorf("after Reset the recorder has %s, want no steps", got)
			}
		})
	}
}
