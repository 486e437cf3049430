package chain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

func TestWhen(t *testing.T) {
	holds := func(_ context.Context, req request) bool { return req.note == "big" }
	inner := step{id: "inner", op: mark}
	c := chain.New(chain.When(holds, inner.named()))

	cases := map[string]struct {
		reason string
		note   string
		want   []string
	}{
		"Holds":     {"the link runs, then what is behind it", "big", []string{"inner> ", "end> ", "end< end(big)", "inner< end(big)inner"}},
		"DoesNot":   {"the link is as if it was not there; what is behind it runs", "small", []string{"end> ", "end< end(small)"}},
		"EveryCall": {"the predicate is asked for each request anew", "big", []string{"inner> ", "end> ", "end< end(big)", "inner< end(big)inner"}},
	}
	h := c.Then(stopped.end())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := trace(func(ctx context.Context, req request) (string, error) {
				req.note = tc.note
				return h(ctx, req)
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// One that is not for this request still passes through all that is behind: chains nest in When without losing links.
func TestWhenAroundChain(t *testing.T) {
	inner := chain.New(step{id: "a", op: pass}.named(), step{id: "b", op: pass}.named())
	for name, holds := range map[string]bool{"Holds": true, "DoesNot": false} {
		t.Run(name, func(t *testing.T) {
			c := chain.New(chain.When(func(context.Context, request) bool { return holds }, inner.Then), step{id: "c", op: pass}.named())
			program := []step{{id: "a", op: pass}, {id: "b", op: pass}, {id: "c", op: pass}}
			if !holds {
				program = program[2:]
			}
			if diff := cmp.Diff(trace(run(program, stopped)), trace(c.Then(stopped.end()))); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}
