package chain_test

import (
	"context"
	"flag"
	"strconv"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	oteltrace "go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// All laws hold with the telemetry of package otelx, enabled and disabled.
func TestLawsUnderTelemetry(t *testing.T) {
	fewerChecks(t, 5)
	all := &otelfake.Recorder{}
	none := &otelfake.Recorder{Drop: func(string) bool { return true }}
	logger := funcr.New(func(string, string) {}, funcr.Options{Verbosity: 9})
	cases := map[string]struct {
		reason   string
		observer chain.Observer
		tracers  oteltrace.TracerProvider // makes the span around the call
		off      bool
	}{
		"Events": {"all signals are on: events on the outer span, metrics, log lines", otelx.New(otelx.WithTracerProvider(all),
			otelx.WithMeterProvider(&otelfake.Meters{R: all})), all, false},
		"Spans": {"each link has a span", otelx.New(otelx.WithTracerProvider(all), otelx.WithLinkSpans()), all, false},
		"Sampled": {"each link asks the sampler, which drops its span", otelx.New(otelx.WithTracerProvider(none), otelx.WithLinkSpans(),
			otelx.WithLinkSampling()), none, false},
		"Dropped": {"the sampler drops all spans, and no other signal is on", otelx.New(otelx.WithTracerProvider(none), otelx.WithMeterProvider(nil),
			otelx.WithoutLogs()), none, false},
		"Off": {"New returns no observer, so Then composes the links once", otelx.New(otelx.WithTracerProvider(tracenoop.NewTracerProvider()),
			otelx.WithMeterProvider(nil), otelx.WithoutLogs()), tracenoop.NewTracerProvider(), true},
	}
	for name, tc := range cases {
		then := func(c links, end handler) handler {
			h := c.Observe(tc.observer).Then(end)
			return func(ctx context.Context, req request) (string, error) {
				ctx, span := tc.tracers.Tracer("").Start(logr.NewContext(ctx, logger), "around")
				defer span.End()
				return h(ctx, req)
			}
		}
		composes := 2
		if tc.off {
			composes = 1
		}
		for law, holds := range laws {
			t.Run(name+"/"+law, rapid.MakeCheck(func(t *rapid.T) { holds(t, then, composes) }))
		}
	}
	for _, s := range all.Spans {
		if s.Ended != 1 {
			t.Fatalf("span %q was ended %d times", s.Name, s.Ended)
		}
	}
	if len(all.Spans) == 0 || len(none.Spans) == 0 {
		t.Error("no span was made")
	}
}

// fewerChecks divides the number of checks of rapid, for a test that runs rapid
// many times.
func fewerChecks(t *testing.T, fraction int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	checks, err := strconv.Atoi(before)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(max(1, checks/fraction)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
