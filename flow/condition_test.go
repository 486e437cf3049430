package flow_test

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/reason"
)

const mostOfAMessage = 32768 // bytes, the limit of Kubernetes

func blocked(t *testing.T, res checks.Result) flow.Outcome {
	return pass(t, func(_ *cloud, e *ext, _ *pool) {
		e.PreCheck = chain.New(returns[*checks.Request[*pool]]("gate", res, nil))
	})
}

// Kubernetes accepts the conditions of every text of a service or a check.
func TestConditionsAreValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(0, 2000, -1), rapid.StringMatching(`[A-Za-z0-9_,: .-]{0,20}`))
		code, message := text.Draw(rt, "code"), text.Draw(rt, "message")
		for _, out := range []flow.Outcome{
			pass(t, func(c *cloud, _ *ext, _ *pool) {
				c.getErr = response(rapid.SampledFrom([]int{0, 200, 409, 500}).Draw(rt, "status"), code)
			}),
			blocked(t, checks.Block(code, message)),
		} {
			for _, c := range out.Conditions() {
				if !reason.Valid(c.Reason) || len(c.Message) > mostOfAMessage || utf8.ValidString(code+message) && !utf8.ValidString(c.Message) {
					rt.Fatalf("Kubernetes refuses %+v", c)
				}
			}
		}
	})
}

// Two passes with the same outcome have the same conditions, so an engine
// writes them once.
func TestConditionsAreStable(t *testing.T) {
	clk, c := &clock{noon}, &cloud{getErr: response(429, "TooManyRequests", "Retry-After", "30")}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithClock(clk.now), flow.WithExplanations(1), flow.WithBackoff(flow.NewBackoff()))
	first := r.Reconcile(t.Context(), &pool{}).Conditions()
	for range 3 {
		clk.advance(1e9)
		mustEqual(t, "the conditions do not depend on the time", first, r.Reconcile(t.Context(), &pool{}).Conditions())
	}
}
