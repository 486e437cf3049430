package flow_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

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
