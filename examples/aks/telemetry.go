package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdkresource "go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
	"github.com/windlass-go/windlass/otelx"
)

// setUp makes an observer that sends spans, metrics and log lines. Give it to
// each reconciler with flow.WithObserver, pass the context to each pass, and
// call stop at the end. To send them to a collector, use the exporters of
// otlptracehttp and otlpmetrichttp.
func setUp(ctx context.Context, spans sdktrace.SpanExporter, metrics sdkmetric.Exporter, lines slog.Handler, opts ...otelx.Option) (
	_ context.Context, _ chain.Observer, stop func(context.Context) error) {
	service := sdkresource.NewSchemaless(attribute.String("service.name", "windlass-example-aks"))
	// The exporter receives spans in batches. Virtual time is faster than an
	// exporter, so a span waits for it here. Remove WithBlocking in a real
	// program.
	tracers := sdktrace.NewTracerProvider(sdktrace.WithResource(service), sdktrace.WithBatcher(spans, sdktrace.WithBlocking()))
	// The exporter receives metrics once a minute and at the end.
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(service), sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metrics)))
	// Log lines use the logger of the context.
	ctx = logr.NewContext(ctx, logr.FromSlogHandler(lines))
	observer := otelx.New(append(opts, otelx.WithTracerProvider(tracers), otelx.WithMeterProvider(meters))...)
	// Shutdown sends the rest.
	return ctx, observer, func(ctx context.Context) error { return errors.Join(tracers.Shutdown(ctx), meters.Shutdown(ctx)) }
}

// printTelemetry runs the simulation. It prints spans and metrics to out, and the
// log lines to errOut.
func printTelemetry(out, errOut io.Writer) error {
	spans, err := stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint())
	if err != nil {
		return err
	}
	metrics, err := stdoutmetric.New(stdoutmetric.WithWriter(out), stdoutmetric.WithPrettyPrint())
	if err != nil {
		return err
	}
	var e *sim.Engine
	now := func() string { return flowtest.Stamp(e.Elapsed()) }
	// The span's own times are real times.
	at := otelx.WithPassAttributes(func(context.Context, any) []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("example.at", now())}
	})
	// The lines have points and links (logr's V(n) is slog's level -n). The
	// virtual time replaces time and level.
	lines := slog.NewTextHandler(errOut, &slog.HandlerOptions{
		Level: slog.Level(-2),
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey:
				return slog.String("at", now())
			case slog.LevelKey:
				return slog.Attr{}
			}
			return a
		},
	})
	ctx, observer, stop := setUp(context.Background(), spans, metrics, lines, at)
	e = simulate(true, flow.WithObserver(observer))
	e.RunUntil(ctx, time.Hour, e.AllReady)
	if !e.AllReady() {
		err = e.NotReady(time.Hour)
	}
	return errors.Join(err, stop(ctx))
}
