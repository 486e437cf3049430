package otelx

import (
	"context"
	"slices"
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
	proceeded   sync.Pool // of *proceeded
}

var (
	_ chain.Observer = &observer{}
	_ pass.Starter   = &bound{}
)

// New makes an observer. One observer serves all reconcilers and chains of a
// program. Without options it uses the logger of each context and the global
// providers, which may be set later. If everything is off it returns nil, which
// is no observer and costs nothing at run time. If the meter refuses an
// instrument, New reports the error to the global error handler
// (otel.SetErrorHandler) and leaves the instrument out.
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
	tracer := p.Tracer(scope)
	if _, off := tracer.(tracenoop.Tracer); off {
		return nil
	}
	return tracer
}

// Enabled implements [chain.Observer]. It reports whether any signal is on for
// a chain that stands alone.
func (o *observer) Enabled(ctx context.Context) bool {
	return !o.quiet && logged(ctx, o.linkVerbosity) ||
		o.tracer != nil && (o.asks() || trace.SpanFromContext(ctx).IsRecording()) ||
		o.metrics != nil && o.metrics.enabled(ctx)
}

// asks reports whether each point and link asks the sampler.
func (o *observer) asks() bool { return o.linkSpans && o.ask && o.tracer != nil }

// running is the state of a running pass, kept in its context.
type running struct {
	link      *chain.Link
	span      trace.Span // nil: off
	recording bool
	class     func(error) string // classifies an error; nil: observer.class does
}

// passKey is the context key of a pass. Each observer has its own key, because
// a reconciler may have several observers.
type passKey struct{ o *observer }

func (o *observer) passOf(ctx context.Context) *running {
	p, _ := ctx.Value(passKey{o}).(*running)
	return p
}

// reconciler returns the name of the reconciler whose pass it is; empty without
// a pass.
func (p *running) reconciler() string {
	if p == nil {
		return ""
	}
	return p.link.Name
}

// Start implements pass.Starter.
func (b *bound) Start(ctx context.Context, start pass.Start) (context.Context, bool) {
	p := running{link: b.link, class: start.ErrorClass}
	if b.tracer != nil {
		ctx, p.span = b.tracer.Start(ctx, b.spanName, b.spanOptions...)
		p.recording = p.span.IsRecording()
	}
	logs := !b.quiet && logged(ctx, b.verbosity)
	if !p.recording && !logs && !b.asks() && !b.metrics.enabled(ctx) {
		if p.span != nil {
			p.span.End()
		}
		return ctx, false
	}
	return b.begin(ctx, p, start, logs), true
}

// begin does the work of Start for a pass that is observed. It is a separate
// function so that an unobserved pass does not pay for it.
func (b *bound) begin(ctx context.Context, p running, start pass.Start, logs bool) context.Context {
	if p.recording {
		b.describe(ctx, p.span, start)
	}
	if logs {
		ctx = b.logStart(ctx, start)
	}
	return context.WithValue(ctx, passKey{b.observer}, &p)
}

// Bind prepares the data about a link while its chain is composed.
func (o *observer) Bind(link *chain.Link) chain.Observer { return o.bind(link) }

func (o *observer) bind(link *chain.Link) *bound {
	b := &bound{observer: o, link: link, verbosity: o.pointVerbosity, spanName: link.Name}
	b.proceeded.New = func() any { return b.newProceeded() }
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
	b.where, b.logValues = slices.Clip(b.where), slices.Clip(b.logValues) // callers append to these slices
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
	if !b.quiet && logged(ctx, b.verbosity) {
		b.logEnter(ctx)
	}
	if b.linkSpans && b.tracer != nil && (b.ask || trace.SpanFromContext(ctx).IsRecording()) {
		inner, span := b.tracer.Start(ctx, b.spanName, b.spanOptions...)
		return &spanContext{inner, span, b.observer, b.link}
	}
	return ctx
}

// spanContext is the context of a link that has its own span. With it, Exit
// ends the span of this link and this observer, and no other span.
type spanContext struct {
	context.Context
	span trace.Span
	o    *observer
	link *chain.Link
}

// Exit implements [chain.Observer].
func (b *bound) Exit(ctx context.Context, _ *chain.Link, exit chain.Exit) {
	logs := !b.quiet && logged(ctx, b.verbosity)
	if pass.Of(b.link) == pass.Point && !b.linkSpans && b.metrics == nil && !logs {
		return // a point adds no event to the span of its pass
	}
	p := b.passOf(ctx)
	l := b.left(p, exit)
	if b.tracer != nil {
		b.exitSpan(ctx, p, &l)
	}
	if b.metrics != nil {
		b.metrics.record(ctx, p.reconciler(), &l)
	}
	if logs {
		b.logExit(ctx, &l)
	}
}

// left describes how a link ended.
type left struct {
	chain.Exit
	link            *chain.Link
	verdict, reason string
	class           func(error) string
}

// left returns how the link ended, in pass p or, if p is nil, in a chain that
// stands alone.
func (b *bound) left(p *running, exit chain.Exit) left {
	l := left{Exit: exit, link: b.link, class: b.class}
	if p != nil && p.class != nil {
		l.class = p.class
	}
	l.verdict, l.reason = exit.Verdict()
	return l
}

// metricsOf makes the instruments of a provider. It returns nil if the provider
// is off.
func metricsOf(p metric.MeterProvider) *metrics {
	if p == nil {
		return nil
	}
	return newMetrics(p.Meter(scope))
}
