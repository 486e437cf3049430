package otelx_test

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/otelfake"
	"github.com/windlass-go/windlass/otelx"
)

// panics is a log sink that panics at each line.
type panics struct{ logr.LogSink }

func (panics) Init(logr.RuntimeInfo)            {}
func (panics) Info(int, string, ...any)         { panic("the disk is full") }
func (panics) Error(error, string, ...any)      { panic("the disk is full") }
func (panics) Enabled(int) bool                 { return true }
func (p panics) WithValues(...any) logr.LogSink { return p }

// A panicking logger loses its lines, and nothing else. The error handler gets
// one report of each observer.
func TestPanickingLogger(t *testing.T) {
	t.Run("Lines", func(t *testing.T) { panickingLogger(t, panics{}) })
	t.Run("Enabled", func(t *testing.T) { panickingLogger(t, panicsEnabled{}) })
	t.Run("Values", func(t *testing.T) { panickingLogger(t, panicsValues{}) })
}

// panickingLogger compares passes and calls that log to sink with others that
// do not log.
func panickingLogger(t *testing.T, sink logr.LogSink) {
	reported := reports(t)
	want, rec := &recording{}, &recording{}
	for _, name := range []string{"fine", "refused"} {
		flow.New("Pool", operations, extensions, flow.WithObserver(want.observer(otelx.WithLinkSpans()))).Reconcile(t.Context(), &pool{name})
	}
	o := rec.observer(otelx.WithLinkSpans())
	for _, name := range []string{"fine", "refused"} {
		ctx := logr.NewContext(t.Context(), logr.New(sink))
		flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(ctx, &pool{name})
	}
	lines := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
	h := chain.New(around).Observe(lines).Then(func(context.Context, bool) (int, error) { return 7, nil })
	if n, err := h(logr.NewContext(t.Context(), logr.New(sink)), true); n != 7 || err != nil {
		t.Errorf("the result of a standalone chain is %d, %v", n, err)
	}
	mustEqual(t, "spans are the same as without the logger", tree(t, want), tree(t, rec))
	mustEqual(t, "measurements are the same", want.Counts, rec.Counts)
	const report = "otelx: a tracer, a meter or a logger panicked: the disk is full"
	mustEqual(t, "each observer reports its first panic", []string{report, report}, *reported)
}

// panicsEnabled is a log sink whose Enabled panics.
type panicsEnabled struct{ panics }

func (panicsEnabled) Enabled(int) bool                 { panic("the disk is full") }
func (p panicsEnabled) WithValues(...any) logr.LogSink { return p }

// panicsValues is a log sink whose WithValues panics.
type panicsValues struct{ panics }

func (panicsValues) WithValues(...any) logr.LogSink { panic("the disk is full") }

// brokenProvider is a tracer provider. The method at of its tracer or spans
// panics. The spans of "Dropped" record nothing, and their End panics.
type brokenProvider struct {
	tracenoop.TracerProvider
	at string
}

func (p brokenProvider) Tracer(string, ...trace.TracerOption) trace.Tracer {
	return brokenTracer{at: p.at}
}

type brokenTracer struct {
	tracenoop.Tracer
	at string
}

func (b brokenTracer) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := brokenSpan{at: b.at}
	s.panicIn("Start")
	return trace.ContextWithSpan(ctx, s), s
}

type brokenSpan struct {
	tracenoop.Span
	at string
}

func (s brokenSpan) panicIn(method string) {
	if s.at == method || s.at == "Dropped" && method == "End" {
		panic("no " + method)
	}
}

func (s brokenSpan) IsRecording() bool                     { return s.at != "Dropped" }
func (s brokenSpan) SetAttributes(...attribute.KeyValue)   { s.panicIn("SetAttributes") }
func (s brokenSpan) AddEvent(string, ...trace.EventOption) { s.panicIn("AddEvent") }
func (s brokenSpan) AddLink(trace.Link)                    { s.panicIn("AddLink") }
func (s brokenSpan) SetStatus(codes.Code, string)          { s.panicIn("SetStatus") }
func (s brokenSpan) End(...trace.SpanEndOption)            { s.panicIn("End") }

// A panicking tracer or meter changes no outcome, span or line of the other
// signals. The error handler gets one report.
func TestPanickingProviders(t *testing.T) {
	links := otelx.WithPassLinks(func(context.Context) []trace.Link { return make([]trace.Link, 1) })
	cases := map[string][]otelx.Option{
		"Meter":   {otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{Panic: true})},
		"Enabled": {otelx.WithTracerProvider(nil), otelx.WithMeterProvider(&otelfake.Meters{EnabledPanics: true})},
	}
	for _, at := range []string{"Start", "SetAttributes", "AddEvent", "AddLink", "SetStatus", "End", "Dropped"} {
		only := []otelx.Option{otelx.WithTracerProvider(brokenProvider{at: at}), otelx.WithMeterProvider(nil), links}
		cases[at], cases[at+"OfLinks"] = only, append(only[:3:3], otelx.WithLinkSpans())
	}
	for name, opts := range cases {
		t.Run(name, func(t *testing.T) {
			reported := reports(t)
			o := otelx.New(opts...)
			for _, pool := range []*pool{{"fine"}, {"refused"}} {
				want := flow.New("Pool", operations, extensions).Reconcile(t.Context(), pool)
				alone, with := &recording{}, &recording{}
				logs := otelx.New(otelx.WithTracerProvider(nil), otelx.WithMeterProvider(nil))
				flow.New("Pool", operations, extensions, flow.WithObserver(logs)).Reconcile(alone.context(t, 2), pool)
				got := flow.New("Pool", operations, extensions, flow.WithObserver(o)).Reconcile(with.context(t, 2), pool)
				mustEqual(t, pool.name, want.String(), got.String())
				mustEqual(t, "lines are the same as without the provider", alone.lines, with.lines)
			}
			mustEqual(t, "reports to the error handler", 1, len(*reported))
			n, err := otelx.Span("span", around, opts...)(func(context.Context, bool) (int, error) { return 7, nil })(t.Context(), false)
			if n != 7 || err != nil {
				t.Errorf("the result is %d, %v", n, err)
			}
		})
	}
}
