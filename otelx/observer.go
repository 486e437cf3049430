package otelx

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/run"
)

var (
	_ chain.Observer = &observer{}
	_ pass.Doubler   = &observer{}
	_ pass.Starter   = &bound{}
)

// New makes an observer for all reconcilers and chains of a program. Without
// options it uses the logger of each context and the global providers, which
// may be set later. If every signal is off, New returns nil, which costs
// nothing at run time.
//
// New reports an instrument that the meter refuses to the global error handler
// (otel.SetErrorHandler), and leaves it out. The observer recovers panics of
// tracers, meters and loggers, and reports the first one. A panic loses only
// the span, measurement or log line.
func New(opts ...Option) chain.Observer {
	if o := newObserver(opts); !o.off() {
		return o
	}
	return nil
}

func newObserver(opts []Option) *observer {
	o := &observer{options: options{
		tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}}
	for _, opt := range opts {
		if opt != nil {
			opt(&o.options)
		}
	}
	o.tracer = tracerOf(o.tracers)
	if o.meters != nil {
		o.metrics = newMetrics(o.meters.Meter(scope, metric.WithInstrumentationVersion(scopeVersion)))
	}
	o.class = o.errors.Class
	return o
}

func (o *observer) off() bool { return o.tracer == nil && o.metrics == nil && o.noLogs }

// tracerOf returns nil if the provider is off for good. Only the type shows
// that, because the global tracer records nothing until an SDK is installed.
func tracerOf(p trace.TracerProvider) trace.Tracer {
	if p == nil {
		return nil
	}
	tracer := p.Tracer(scope, trace.WithInstrumentationVersion(scopeVersion))
	if _, off := tracer.(tracenoop.Tracer); off {
		return nil
	}
	return tracer
}

// Enabled implements [chain.Observer]. It reports whether any signal is on for
// a standalone chain.
func (o *observer) Enabled(ctx context.Context) (on bool) {
	defer o.contain()
	return o.traced(ctx) || o.metrics != nil && o.metrics.enabled(ctx) || !o.noLogs && logged(ctx, innerVerbosity)
}

// Doubles implements pass.Doubler.
func (o *observer) Doubles(other chain.Observer) bool {
	p, ok := other.(*observer)
	return ok && !o.noLogs && !p.noLogs
}

// Start implements pass.Starter.
func (b *bound) Start(ctx context.Context, start pass.Start) (context.Context, pass.Extent) {
	var span trace.Span
	if b.tracer != nil {
		ctx, span = b.startSpan(ctx)
	}
	recording := span != nil && span.IsRecording()
	logsStop := b.logs(ctx)
	if !recording && !logsStop && !b.measured(ctx) {
		if span != nil {
			b.finish(span, nil)
		}
		return ctx, pass.Nothing
	}
	return b.begin(ctx, &running{link: b.link, span: span, recording: recording, logsStop: logsStop}, start)
}

// begin starts an observed pass. A separate function saves unobserved passes
// its cost.
func (b *bound) begin(ctx context.Context, p *running, start pass.Start) (context.Context, pass.Extent) {
	if p.recording {
		b.describe(ctx, p.span, start)
		for _, links := range b.links {
			b.addLinks(ctx, p.span, links)
		}
	}
	if p.logsStop {
		ctx = b.logStart(ctx, start)
	}
	ctx = b.prepare(ctx, p)
	if start.ErrorClass != nil {
		p.class = start.ErrorClass
	}
	p.enter(b.link)
	if p.recording || p.measured || p.logs[pass.Point] {
		return ctx, pass.Everything
	}
	return ctx, pass.WholeOnly // its end may be logged
}

// prepare sets the fields of p, and returns the context of the links.
func (b *bound) prepare(ctx context.Context, p *running) context.Context {
	p.Context, p.o, p.outer, p.class = ctx, b.observer, runningIn(ctx), b.class
	p.measured = b.measured(ctx)
	inner := b.logged(ctx, innerVerbosity)
	p.logs = [...]bool{0: inner, pass.Point: inner, pass.Pass: b.logged(ctx, passVerbosity)}
	if inner || b.traced(ctx) {
		p.open = p.openRoom[:0]
		return run.WithNotes(p, p.add)
	}
	return p
}

// Bind returns the observer of one link.
func (o *observer) Bind(link *chain.Link) chain.Observer { return o.bind(link) }

func (o *observer) bind(link *chain.Link) *bound {
	name, point := link.Name, link.Point // both are safe
	b := &bound{observer: o, link: link, spanName: name}
	if pass.Of(link) == pass.Pass {
		b.spanName = "reconcile " + name
		b.spanOptions = []trace.SpanStartOption{trace.WithAttributes(keyReconciler.attr.String(name))}
		return b
	}
	add := func(k keys, value string) {
		b.position = append(b.position, k.attr.String(value))
		b.logValues = append(b.logValues, k.log, value)
	}
	if point != "" {
		add(keyPoint, point)
	}
	if pass.Of(link) == 0 {
		add(keyLink, name)
		if point != "" {
			b.spanName = point + " " + name
		}
	}
	b.spanOptions = []trace.SpanStartOption{trace.WithAttributes(b.position...)}
	return b
}

// Enter is for callers that do not call Bind.
func (o *observer) Enter(ctx context.Context, link *chain.Link) context.Context {
	return o.bind(link).Enter(ctx, link)
}

// Exit is for callers that do not call Bind.
func (o *observer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	o.bind(link).Exit(ctx, link, exit)
}

// Enter implements [chain.Observer].
func (b *bound) Enter(ctx context.Context, _ *chain.Link) context.Context {
	p := runningIn(ctx).of(b.observer)
	if p == nil { // the outermost link of a standalone chain
		p = &running{}
		ctx = b.prepare(ctx, p)
	}
	if b.shows(p) {
		p.enter(b.link)
	}
	if p.logs[pass.Of(b.link)] {
		b.logEnter(ctx)
	}
	if b.linkSpans && b.tracer != nil && trace.SpanFromContext(ctx).IsRecording() {
		inner, span := b.startSpan(ctx)
		return &spanContext{inner, span, b.link, p, runningIn(ctx)}
	}
	return ctx
}

// Exit implements [chain.Observer].
func (b *bound) Exit(ctx context.Context, _ *chain.Link, exit chain.Exit) {
	p := runningIn(ctx).of(b.observer)
	if p == nil {
		return // Enter was not called
	}
	whole := pass.Of(b.link)
	span, ends := b.spanOf(ctx, p)
	logs := p.logs[whole] || whole == pass.Pass && p.logsStop
	if span == nil && !p.measured && !logs {
		return
	}
	e := b.endingOf(p, exit)
	switch {
	case span == nil:
	case ends:
		b.finish(span, &e)
	default:
		b.event(span, &e)
	}
	if p.measured {
		b.measure(ctx, p, &e)
	}
	if logs {
		b.logExit(ctx, p, &e, exit.Result)
	}
}
