package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
	"github.com/windlass-go/windlass/otelx"
)

// drain is a span processor that does nothing, so that only the making of spans
// is measured.
type drain struct{}

func (drain) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (drain) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (drain) Shutdown(context.Context) error                  { return nil }
func (drain) ForceFlush(context.Context) error                { return nil }

func provider(sampler sdktrace.Sampler) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithSpanProcessor(drain{}))
}

var always, never = provider(sdktrace.AlwaysSample()), provider(sdktrace.NeverSample())

// spans returns an observer that makes spans, but no metrics and no log lines.
func spans(p trace.TracerProvider, opts ...otelx.Option) chain.Observer {
	return otelx.New(append(opts, otelx.WithTracerProvider(p), otelx.WithMeterProvider(nil), otelx.WithoutLogs())...)
}

type handler = chain.Handler[int, int]

// pass is a link that only calls next.
func pass(next handler) handler {
	return func(ctx context.Context, n int) (int, error) { return next(ctx, n) }
}

func end(_ context.Context, n int) (int, error) { return n, nil }

// links returns a chain of n links that only call next.
func links(n int) (c chain.Chain[int, int]) {
	for i := range n {
		c = c.Append(chain.Named(fmt.Sprintf("link%d", i), pass))
	}
	return c
}

type pool struct{}

// pools returns a pass of a reconciler with ten checks that proceed.
func pools(opts ...flow.Option) func(ctx context.Context) {
	var guards checks.Chain[*pool]
	for i := range 10 {
		guards = guards.Append(checks.Check(fmt.Sprintf("check%d", i), func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
			return checks.Proceed(), nil
		}))
	}
	r := flow.New("Pool", flow.Operations[*pool]{
		Key:   func(*pool) string { return "pool" },
		Apply: func(context.Context, *flow.Request[*pool]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*pool]{PreCheck: guards}, opts...)
	p := &pool{}
	return func(ctx context.Context) { r.Reconcile(ctx, p) }
}

// tenEvents makes the span of a pass with ten links by hand: Start, ten
// AddEvent with the same attributes, End.
func tenEvents(tracer trace.Tracer) func(ctx context.Context) {
	return func(ctx context.Context) {
		_, span := tracer.Start(ctx, "reconcile Pool", trace.WithAttributes(otelx.AttrReconciler.String("Pool")))
		span.SetAttributes(otelx.AttrKey.String("pool"))
		for range 10 {
			span.AddEvent(otelx.EventLink, trace.WithAttributes(
				otelx.AttrPoint.String("PreCheck"), otelx.AttrLink.String("check0"), otelx.AttrVerdict.String("proceed"), otelx.AttrDuration.Float64(1e-6)))
		}
		span.SetAttributes(otelx.AttrVerdict.String("ready"), otelx.AttrReason.String("Succeeded"))
		span.End()
	}
}

// costs holds pairs of functions whose times are compared in one run. The bounds are in
// main.go.
var costs = []struct {
	name string
	a, b func(ctx context.Context)
}{
	{"noop provider/bare chain of ten", call(links(10).Observe(spans(tracenoop.NewTracerProvider()))), call(links(10))},
	{"quiet chain of ten/bare and two log-level checks", quiet(10), bareAndChecks(10)},
	{"quiet chain of fifty/bare and two log-level checks", quiet(50), bareAndChecks(50)},
	{"recorded pass with ten events/the pass and the span by hand", pools(flow.WithObserver(spans(always))), both(pools(), tenEvents(always.Tracer("x")))},
	{"recorded chain of ten/the chain and the span by hand", recordedChain(), both(call(links(10)), tenOnParent())},
	{"recorded child span/bare Start and End", childSpan(), bareSpan()},
}

func call(c chain.Chain[int, int]) func(context.Context) {
	h := c.Then(end)
	return func(ctx context.Context) { _, _ = h(ctx, 1) }
}

func both(a, b func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		a(ctx)
		b(ctx)
	}
}

func quietContext(ctx context.Context) context.Context {
	return logr.NewContext(ctx, logr.FromSlogHandler(slog.NewTextHandler(io.Discard, nil)))
}

var quietCtx = quietContext(context.Background())

func quiet(n int) func(context.Context) {
	o := otelx.New(otelx.WithTracerProvider(always), otelx.WithMeterProvider(nil))
	h := call(links(n).Observe(o))
	return func(context.Context) { h(quietCtx) }
}

func bareAndChecks(n int) func(context.Context) {
	h := call(links(n))
	return func(context.Context) {
		for range 2 {
			if logr.FromContextOrDiscard(quietCtx).V(2).Enabled() {
				panic("the level is on")
			}
		}
		h(quietCtx)
	}
}

func parent() context.Context {
	ctx, _ := always.Tracer("x").Start(context.Background(), "parent")
	return ctx
}

// recordedChain calls a chain of ten links within a recorded span.
func recordedChain() func(context.Context) {
	h, tracer := call(links(10).Observe(spans(always))), always.Tracer("x")
	return func(ctx context.Context) {
		ctx, span := tracer.Start(ctx, "chain")
		h(ctx)
		span.End()
	}
}

func tenOnParent() func(context.Context) {
	tracer := always.Tracer("x")
	return func(ctx context.Context) {
		_, span := tracer.Start(ctx, "chain")
		for range 10 {
			span.AddEvent(otelx.EventLink, trace.WithAttributes(otelx.AttrLink.String("link0"), otelx.AttrVerdict.String("proceed"), otelx.AttrDuration.Float64(1e-6)))
		}
		span.End()
	}
}

func childSpan() func(context.Context) {
	h := call(chain.New(otelx.Span("child", pass, otelx.WithTracerProvider(always))))
	ctx := parent()
	return func(context.Context) { h(ctx) }
}

func bareSpan() func(context.Context) {
	tracer, ctx := always.Tracer("x"), parent()
	opts := []trace.SpanStartOption{trace.WithAttributes(otelx.AttrLink.String("child"))}
	done := []attribute.KeyValue{otelx.AttrVerdict.String("proceed")}
	return func(context.Context) {
		_, span := tracer.Start(ctx, "child", opts...)
		span.SetAttributes(done...)
		span.End()
	}
}

func times(f func(context.Context)) func() {
	ctx := context.Background()
	return func() { f(ctx) }
}

func BenchmarkTelemetry(b *testing.B) {
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(ratio.Of(times(c.a), times(c.b), ratio.Options{Samples: 200}), "x")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	on := logr.FromSlogHandler(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.Level(-8)}))
	logging := logr.NewContext(context.Background(), on)
	count := func(f func(context.Context), ctx context.Context) float64 {
		return testing.AllocsPerRun(200, func() { f(ctx) })
	}
	bare := count(pools(), context.Background())
	cases := map[string]struct {
		f    func(context.Context)
		ctx  context.Context
		most float64
	}{
		"Unsampled": {pools(flow.WithObserver(spans(never))), context.Background(), bare + 3},
		"Quiet":     {quiet(10), quietCtx, 0},
		"Noop":      {call(links(10).Observe(spans(tracenoop.NewTracerProvider()))), context.Background(), 0},
		"Chain":     {recordedChain(), context.Background(), count(tenOnParent(), context.Background()) + 8},
		"Recorded":  {pools(flow.WithObserver(spans(always))), context.Background(), count(tenEvents(always.Tracer("x")), context.Background()) + 8},
		"LogPair":   {call(chain.New(otelx.Log("audit", pass))), logging, 8},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := count(tc.f, tc.ctx); got > tc.most {
				t.Errorf("%v allocations, want at most %v", got, tc.most)
			} else {
				t.Logf("%v allocations", got)
			}
		})
	}
}
