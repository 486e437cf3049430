package otelx_test

import (
	"context"
	"testing"

	"github.com/go-logr/logr"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// An observed chain keeps the laws of chains, whatever is recorded.
func TestLaws(t *testing.T) {
	all, none := &otelfake.Recorder{}, &otelfake.Recorder{Drop: func(string) bool { return true }}
	inSpan := chain.Named("span", func(next chain.Handler[*Database, string]) chain.Handler[*Database, string] {
		return func(ctx context.Context, d *Database) (string, error) {
			ctx, span := all.Tracer("").Start(logr.NewContext(ctx, logr.Discard()), "outer")
			defer span.End()
			return next(ctx, d)
		}
	})
	cases := map[string]struct {
		reason   string
		observer chain.Observer
	}{
		"All":     {"each link has a span, and metrics and log lines are on", otelx.New(otelx.WithTracerProvider(all), otelx.WithMeterProvider(&otelfake.Meters{R: all}), otelx.WithLinkSpans())},
		"Dropped": {"the sampler drops all spans", otelx.New(otelx.WithTracerProvider(none), otelx.WithMeterProvider(nil), otelx.WithLinkSpans(), otelx.WithoutLogs())},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			unlock := func(context.Context, *Database, string, error) {}
			c := chain.New(chain.Recover, inSpan, chain.Finally(unlock)).Observe(tc.observer)
			chaintest.Laws(t, c, rapid.Just(&Database{}), rapid.String(), chaintest.WithKeptResult())
		})
	}
	if len(all.Spans) == 0 {
		t.Error("no span was made")
	}
	for _, s := range all.Spans {
		if s.Ended != 1 {
			t.Fatalf("span %q was ended %d times", s.Name, s.Ended)
		}
	}
}
