package otelx

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

// observer makes spans, metrics and log lines for a reconciler or a chain.
type observer struct {
	options
	tracer  trace.Tracer       // nil: off
	metrics *metrics           // nil: off
	class   func(error) string // classifies an error if the reconciler does not
	report  sync.Once          // reports a panic of the tracer, the meter or the logger
}

// bound is an observer of one link. It holds everything that is computed from
// the link once.
type bound struct {
	*observer
	link        *chain.Link
	verbosity   int // of log lines
	spanName    string
	spanOptions []trace.SpanStartOption
	where       []attribute.KeyValue // the point and the link
	logValues   []any
}

var (
	_ chain.Observer = &observer{}
	_ pass.Doubler   = &observer{}
	_ pass.Starter   = &bound{}
)

// New makes an observer. One observer serves all reconcilers and chains of a
// program. Without options it uses the logger of each context and the global
// providers, which may be set later. If everything is off it returns nil, which
// is no observer and costs nothing at run time. If the meter refuses an
// instrument, New reports the error to the global error handler
// (otel.SetErrorHandler) and leaves the instrument out.
//
// A panic of a tracer, a meter or a logger stays inside the observer. It costs
// the span, measurement or log line, and nothing else. The observer reports the
// first one to the global error handler.
func New(opts ...Option) chain.Observer {
	if o := newObserver(opts); !o.off() {
		return o
	}
	return nil
}

func newObserver(opts []Option) *observer {
	o := &observer{options: options{
		tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider(),
		pointVerbosity: DefaultPointVerbosity, linkVerbosity: DefaultLinkVerbosity,
	}}
	for _, opt := range opts {
		if opt != nil {
			opt(&o.options)
		}
	}
	o.tracer = tracerOf(o.tracers)
	o.metrics = metricsOf(o.meters)
	o.class = o.errors.Class
	return o
}

// off reports whether all of spans, metrics and log lines are off for good.
func (o *observer) off() bool { return o.tracer == nil && o.metrics == nil && o.quiet }

// tracerOf returns the tracer of a provider, or nil if the provider is off for
// good. Only the type of a tracer shows that: the global tracer does nothing
// until an SDK is installed.
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

// metricsOf makes the instruments of a provider. It returns nil if the provider
// is off.
func metricsOf(p metric.MeterProvider) *metrics {
	if p == nil {
		return nil
	}
	return newMetrics(p.Meter(scope, metric.WithInstrumentationVersion(scopeVersion)))
}

// contain is deferred around every use of a tracer, a meter or a logger. It
// stops a panic.
func (o *observer) contain() {
	if v := recover(); v != nil {
		o.report.Do(func() { otel.Handle(fmt.Errorf("otelx: a tracer, a meter or a logger panicked: %v", v)) })
	}
}

// Enabled implements [chain.Observer]. It reports whether any signal is on for
// a chain that stands alone.
func (o *observer) Enabled(ctx context.Context) (on bool) {
	defer o.contain()
	return o.traced(ctx) || o.metrics != nil && o.metrics.enabled(ctx) || !o.quiet && logged(ctx, o.linkVerbosity)
}

// traced reports whether the links of a chain that stands alone have spans or
// events.
func (o *observer) traced(ctx context.Context) bool {
	return o.tracer != nil && (o.asks() || trace.SpanFromContext(ctx).IsRecording())
}

// measured reports whether there are metrics.
func (o *observer) measured(ctx context.Context) (on bool) {
	if o.metrics == nil {
		return false
	}
	defer o.contain()
	return o.metrics.enabled(ctx)
}

// Doubles implements pass.Doubler.
func (o *observer) Doubles(other chain.Observer) bool {
	p, ok := other.(*observer)
	return ok && !o.quiet && !p.quiet
}

// asks reports whether each point and link asks the sampler.
func (o *observer) asks() bool { return o.linkSpans && o.ask && o.tracer != nil }

// Start implements pass.Starter.
func (b *bound) Start(ctx context.Context, start pass.Start) (context.Context, bool) {
	var span trace.Span
	if b.tracer != nil {
		ctx, span = b.startSpan(ctx)
	}
	recording := span != nil && span.IsRecording()
	stops := b.logs(ctx)
	if !recording && !stops && !b.asks() && !b.measured(ctx) {
		if span != nil {
			b.endSpan(span)
		}
		return ctx, false
	}
	return b.begin(ctx, &running{link: b.link, span: span, recording: recording, stops: stops}, start), true
}

// begin does the work of Start for a pass that is observed. It is a separate
// function so that an unobserved pass does not pay for it.
func (b *bound) begin(ctx context.Context, p *running, start pass.Start) context.Context {
	if p.recording {
		b.describe(ctx, p.span, start)
	}
	if p.stops {
		ctx = b.logStart(ctx, start)
	}
	ctx = b.run(ctx, p)
	if start.ErrorClass != nil {
		p.class = start.ErrorClass
	}
	p.enter(b.link)
	return ctx
}

// run completes p, and returns the context of its links.
func (b *bound) run(ctx context.Context, p *running) context.Context {
	p.Context, p.o, p.outer, p.class = ctx, b.observer, runningIn(ctx), b.class
	p.measured = b.measured(ctx)
	p.logs[0] = b.logged(ctx, b.linkVerbosity)
	points := b.logged(ctx, b.pointVerbosity)
	p.logs[pass.Point], p.logs[pass.Pass] = points, points
	if p.recording || points || p.logs[0] || p.link == nil && b.traced(ctx) {
		return p.listen()
	}
	return p
}

// Bind prepares the data about a link while its chain is composed.
func (o *observer) Bind(link *chain.Link) chain.Observer { return o.bind(link) }

func (o *observer) bind(link *chain.Link) *bound {
	b := &bound{observer: o, link: link, verbosity: o.pointVerbosity, spanName: link.Name}
	if pass.Of(link) == pass.Pass {
		b.spanName = "reconcile " + link.Name
		b.spanOptions = []trace.SpanStartOption{trace.WithAttributes(AttrReconciler.String(link.Name))}
		return b
	}
	add := func(attr attribute.Key, log, value string) {
		b.where = append(b.where, attr.String(value))
		b.logValues = append(b.logValues, log, value)
	}
	if link.Point != "" {
		add(AttrPoint, LogPoint, link.Point)
	}
	if pass.Of(link) == 0 {
		b.verbosity = o.linkVerbosity
		add(AttrLink, LogLink, link.Name)
		if link.Point != "" {
			b.spanName = link.Point + " " + link.Name
		}
	}
	b.spanOptions = []trace.SpanStartOption{trace.WithAttributes(b.where...)}
	return b
}

// Enter implements [chain.Observer], for callers that do not bind.
func (o *observer) Enter(ctx context.Context, link *chain.Link) context.Context {
	return o.bind(link).Enter(ctx, link)
}

// Exit implements [chain.Observer], for callers that do not bind.
func (o *observer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	o.bind(link).Exit(ctx, link, exit)
}

// Enter implements [chain.Observer].
func (b *bound) Enter(ctx context.Context, _ *chain.Link) context.Context {
	p := runningIn(ctx).of(b.observer)
	if p == nil { // the outermost link of a chain that stands alone
		p = &running{}
		ctx = b.run(ctx, p)
	}
	if b.shows(p) {
		p.enter(b.link)
	}
	if p.logs[pass.Of(b.link)] {
		b.logEnter(ctx)
	}
	if b.linkSpans && b.tracer != nil && (b.ask || trace.SpanFromContext(ctx).IsRecording()) {
		if inner, span := b.startSpan(ctx); span != nil {
			return &spanContext{inner, span, b.link, p, runningIn(ctx)}
		}
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
	span := b.spanOf(ctx, p)
	logs := p.logs[whole] || whole == pass.Pass && p.stops
	if span == nil && !p.measured && !logs {
		return
	}
	l := b.left(p, exit)
	if span != nil {
		b.exitSpan(ctx, p, span, &l)
	}
	if p.measured {
		b.measure(ctx, p, &l)
	}
	if logs {
		b.logExit(ctx, p, &l, exit.Result)
	}
}
