package otelx_test

import (
	"context"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// Wrong arguments panic at set-up, with a text that names the fix.
func TestSetUpPanics(t *testing.T) {
	cases := map[string]struct {
		do   func()
		want string
	}{
		"NilHandler": {func() {
			nothing := func(chain.Handler[int, int]) chain.Handler[int, int] { return nil }
			chain.New(otelx.Log("audit", nothing)).Then(func(context.Context, int) (int, error) { return 0, nil })
		}, "chain: Then: link 1 of 1, audit, returned a nil handler"},
		"ErrorText": {func() { otelx.WithErrorText(0) }, "otelx: WithErrorText(0): give at least 1 byte"},
		"Lines": {func() {
			with := func(opts ...otelx.Option) flow.Option { return flow.WithObserver((&recording{}).observer(opts...)) }
			flow.New("Pool", operations, extensions, flow.WithObserver(derives{}), with(otelx.WithoutLogs()), with(), with(otelx.WithoutLogs()), with())
		}, "flow: New: Pool: observers 3 and 5 both write the log lines of each pass: leave one of them out, or give it " +
			"otelx.WithoutLogs; ctrlx adds an observer, whose options ctrlx.WithTelemetry sets"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { mustEqual(t, name, any(tc.want), recover()) }()
			tc.do()
		})
	}
	otelx.New(nil) // ignores the nil option
}
