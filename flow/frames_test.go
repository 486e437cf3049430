package flow_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// library counts the frames of the library between the caller and Reconcile,
// with Reconcile and without the test's own functions.
func library() (frames int, stack string) {
	pcs := make([]uintptr, 100)
	all := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := all.Next()
		stack += f.Function + "\n"
		if !strings.HasSuffix(f.File, "_test.go") {
			frames++
		}
		if !more || strings.HasSuffix(f.Function, ".Reconcile") {
			return frames, stack
		}
	}
}

// The library adds few frames to the stack of a panic.
func TestFrames(t *testing.T) {
	cases := map[string]struct {
		reason string
		most   int
		set    func(o *flow.Operations[*pool], e *ext, at func())
	}{
		"Check": {"the loop of the point calls the check", 7, func(_ *flow.Operations[*pool], e *ext, at func()) {
			e.PreCheck = chain.New(checks.Check("here", func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
				at()
				return checks.Proceed(), nil
			}))
		}},
		"Apply": {"a link on Pass and a link on Apply have a guard each", 10, func(o *flow.Operations[*pool], e *ext, at func()) {
			e.Pass = chain.New(link("lock", hands[*pool, flow.Outcome]))
			e.Apply = chain.New(link("quota", hands[*request, flow.Progress]))
			o.Apply = func(context.Context, *request) (flow.Progress, error) {
				at()
				return flow.Done(), nil
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, e := &cloud{}, ext{}
			o := c.operations()
			frames, stack := 0, ""
			tc.set(&o, &e, func() { frames, stack = library() })
			if out := flow.New("Pool", o, e).Reconcile(t.Context(), &pool{}); out.State() != flow.StateReady {
				t.Fatal(out)
			}
			if frames == 0 || frames > tc.most {
				t.Errorf("%s: %d frames of the library, want at most %d:\n%s", tc.reason, frames, tc.most, stack)
			}
		})
	}
}

// The stack of a panic begins at the function that panicked, however many links
// are around it.
func TestStackOfPanic(t *testing.T) {
	for _, observed := range []bool{false, true} {
		t.Run(fmt.Sprintf("observed=%t", observed), func(t *testing.T) {
			var e ext
			for range 100 {
				e.Apply = e.Apply.Append(link("through", hands[*request, flow.Progress]))
			}
			c := &cloud{}
			o := c.operations()
			o.Apply = culprit
			opts := []flow.Option{}
			if observed {
				opts = append(opts, flow.WithObserver(&recorder{}), flow.WithExplanations(1))
			}
			out := flow.New("Pool", o, e, opts...).Reconcile(t.Context(), &pool{})
			p, _ := out.Err().(*chain.PanicError)
			if p == nil {
				t.Fatalf("no panic: %v", out.Err())
			}
			lines := strings.Split(string(p.Stack), "\n")
			for i, line := range lines {
				if strings.Contains(line, "flow_test.culprit") {
					if i > 10 {
						t.Errorf("%d lines come before the function that panicked:\n%s", i, strings.Join(lines[:i+1], "\n"))
					}
					return
				}
			}
			t.Errorf("the function that panicked is not in the stack:\n%s", p.Stack)
		})
	}
}

func culprit(context.Context, *request) (flow.Progress, error) { panic("on purpose") }

// hands passes its request to next.
func hands[Req, Res any](ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
	return next(ctx, req)
}
