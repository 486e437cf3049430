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
)

// observer makes spans, metrics and log lines of what a reconciler or a chain does.
type observer struct {
	options
	tracer  trace.Tracer // nil: off
	metrics *metrics     // nil: off
}

// bound is an observer of one link. What is made of the link is made here, once.
type bound struct {
	*observer
	link        *chain.Link
	verbosity   int // of log lines
	spanName    string
	spanOptions []trace.SpanStartOption
	where       []attribute.KeyValue // which link it is
	logValues   []any
	proceeded   sync.Pool // of *proceeded
}

var (
	_ chain.Binder  = &observer{}
	_ chain.Starter = &bound{}
)

// New makes an observer, one for all reconcilers and chains of a program. Without options it uses the global providers,
// which may be set later, and the logger of each context. If everything is off it gives nil, which is no observer, so that
// nothing is asked at run time. An instrument that the meter refuses is told of to the global error handler
// (otel.SetErrorHandler), and left out.
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
	return o
}

// off tells whether nobody is ever going to listen.
func (o *observer) off() bool { return o.tracer == nil && o.metrics == nil && o.quiet }

// tracerOf is the tracer of a provider, or nil if that is off for good. That a tracer does nothing only its type tells: the
// global one does nothing until an SDK is installed.
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

// Enabled implements [chain.Observer]: whether anybody listens to a chain that stands alone.
func (o *observer) Enabled(ctx context.Context) bool {
	return !o.quiet && logged(ctx, o.linkVerbosity) ||
		o.tracer != nil && (o.asks() || trace.SpanFromContext(ctx).IsRecording()) ||
		o.metrics != nil && o.metrics.enabled(ctx)
}

// asks tells whether each point and link asks the sampler.
func (o *observer) asks() bool { return o.linkSpans && o.ask && o.tracer != nil }

// pass is what is known of a pass under way, in its context.
type pass struct {
	link      *chain.Link
	span      trace.Span // nil: off
	recording bool
}

// passKey is a key of each observer's own: a reconciler may have several.
type passKey struct{ o *observer }

func (o *observer) passOf(ctx context.Context) *pass {
	p, _ := ctx.Value(passKey{o}).(*pass)
	return p
}

// reconciler is the name of the reconciler whose pass it is; empty if it is none.
func (p *pass) reconciler() string {
	if p == nil {
		return ""
	}
	return p.link.Name
}

// Start implements [chain.Starter], for a pass.
func (b *bound) Start(ctx context.Context, start chain.PassStart) (context.Context, bool) {
	p := pass{link: b.link}
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

// begin is what is done only if somebody listens, apart so that it costs nothing if nobody does.
func (b *bound) begin(ctx context.Context, p pass, start chain.PassStart, logs bool) context.Context {
	if p.recording {
		b.describe(ctx, p.span, start)
	}
	if logs {
		ctx = b.logStart(ctx, start)
	}
	return context.WithValue(ctx, passKey{b.observer}, &p)
}

// Bind implements [chain.Binder].
func (o *observer) Bind(link *chain.Link) chain.Observer { return o.bind(link) }

func (o *observer) bind(link *chain.Link) *bound {
	b := &bound{observer: o, link: link, verbosity: o.pointVerbosity, spanName: link.Name}
	b.proceeded.New = func() any { return b.newProceeded() }
	if link.Kind == chain.Pass {
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
	if link.Kind == chain.LinkKind {
		b.verbosity = o.linkVerbosity
		add(AttrLink, LogLink, link.Name)
		if link.Point != "" {
			b.spanName = link.Point + " " + link.Name
		}
	}
	b.spanOptions = []trace.SpanStartOption{trace.WithAttributes(b.where...)}
	b.where, b.logValues = slices.Clip(b.where), slices.Clip(b.logValues) // others append to what they are given
	return b
}

// Enter implements [chain.Observer], for those who do not bind.
func (o *observer) Enter(ctx context.Context, link *chain.Link) context.Context {
	return o.bind(link).Enter(ctx, link)
}

// Exit implements [chain.Observer], for those who do not bind.
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

// spanContext is the context of a link that has a span of its own, so that Exit ends that one and no other, nor one of
// another observer.
type spanContext struct {
	context.Context
	span trace.Span
	o    *observer
	link *chain.Link
}

// Exit implements [chain.Observer].
func (b *bound) Exit(ctx context.Context, _ *chain.Link, exit chain.Exit) {
	logs := !b.quiet && logged(ctx, b.verbosity)
	if b.link.Kind == chain.Point && !b.linkSpans && b.metrics == nil && !logs {
		return // a point is no event on the span of its pass
	}
	l := b.left(exit)
	p := b.passOf(ctx)
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

// left is how a link was left.
type left struct {
	chain.Exit
	link            *chain.Link
	verdict, reason string
}

func (b *bound) left(exit chain.Exit) left {
	l := left{Exit: exit, link: b.link}
	l.verdict, l.reason = exit.Verdict(b.link)
	return l
}

// metricsOf makes the instruments of a provider, or nil if that is off.
func metricsOf(p metric.MeterProvider) *metrics {
	if p == nil {
		return nil
	}
	return newMetrics(p.Meter(scope))
}
