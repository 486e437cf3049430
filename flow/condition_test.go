package flow_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

const mostOfAMessage = 32768 // bytes, the limit of Kubernetes

func TestLongMessages(t *testing.T) {
	cases := map[string]struct {
		reason  string
		message string
		want    string
	}{
		"Short":  {"a short message stays as it is", "wait", "wait"},
		"Fits":   {"a message of the largest size stays as it is", strings.Repeat("x", mostOfAMessage), strings.Repeat("x", mostOfAMessage)},
		"Long":   {"a longer message is cut, and reports the rest", strings.Repeat("x", mostOfAMessage+1), strings.Repeat("x", mostOfAMessage-23) + "... (24 bytes more)"},
		"Runes":  {"the cut is between characters", strings.Repeat("é", mostOfAMessage), strings.Repeat("é", mostOfAMessage/2-12) + "... (32,792 bytes more)"},
		"Broken": {"invalid bytes are replaced", strings.Repeat("\x80", 2*mostOfAMessage), strings.Repeat("\uFFFD", 10915) + "... (54,621 bytes more)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out := blocked(t, checks.Block("Long", tc.message))
			for _, c := range out.Conditions() {
				mustEqual(t, tc.reason, tc.want, c.Message)
				if len(c.Message) > mostOfAMessage {
					t.Errorf("%s: %d bytes", tc.reason, len(c.Message))
				}
			}
			mustEqual(t, "the message of the outcome is the same", tc.want, out.Message())
		})
	}
}

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
				if !checks.ValidReason(c.Reason) || len(c.Message) > mostOfAMessage || utf8.ValidString(code+message) && !utf8.ValidString(c.Message) {
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
