package otelx

import (
	"context"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel"
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

	infos sync.Map // by *chain.Link
	known atomic.Int64
}

var _ chain.Starter = &observer{}

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
	return o.asks() || o.tracer != nil && trace.SpanFromContext(ctx).IsRecording() ||
		o.metrics.enabled(ctx) ||
		!o.quiet && logged(ctx, o.linkVerbosity)
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

// Start implements [chain.Starter].
func (o *observer) Start(ctx context.Context, start chain.PassStart) (context.Context, bool) {
	p := pass{link: start.Link}
	if o.tracer != nil {
		about := o.about(start.Link)
		ctx, p.span = o.tracer.Start(ctx, about.spanName, about.spanOptions...)
		p.recording = p.span.IsRecording()
	}
	logs := !o.quiet && logged(ctx, o.pointVerbosity)
	if !p.recording && !logs && !o.asks() && !o.metrics.enabled(ctx) {
		if p.span != nil {
			p.span.End()
		}
		return ctx, false
	}
	return o.begin(ctx, p, start, logs), true
}

// begin is what is done only if somebody listens, apart so that it costs nothing if nobody does.
func (o *observer) begin(ctx context.Context, p pass, start chain.PassStart, logs bool) context.Context {
	if p.recording {
		o.describe(ctx, p.span, start)
	}
	if logs {
		ctx = o.logStart(ctx, start)
	}
	return context.WithValue(ctx, passKey{o}, &p)
}

// Enter implements [chain.Observer].
func (o *observer) Enter(ctx context.Context, link *chain.Link) context.Context {
	if v := o.verbosity(link); !o.quiet && logged(ctx, v) {
		o.logEnter(ctx, v, link)
	}
	if o.linkSpans && o.tracer != nil && (o.ask || trace.SpanFromContext(ctx).IsRecording()) {
		about := o.about(link)
		inner, span := o.tracer.Start(ctx, about.spanName, about.spanOptions...)
		return &spanContext{inner, span, o, link}
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
func (o *observer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	p := o.passOf(ctx)
	l := left{Exit: exit, link: link, about: o.about(link)}
	l.verdict, l.reason = exit.Verdict(link)
	if o.tracer != nil {
		o.exitSpan(ctx, p, &l)
	}
	if o.metrics != nil {
		o.metrics.record(ctx, p.reconciler(), &l)
	}
	if v := o.verbosity(link); !o.quiet && logged(ctx, v) {
		o.logExit(ctx, v, &l)
	}
}

// left is how a link was left.
type left struct {
	chain.Exit
	link            *chain.Link
	about           *about
	verdict, reason string
}

// about is what is made of a link once, so that nothing of it is made again at each call.
type about struct {
	point, link string
	spanName    string
	spanOptions []trace.SpanStartOption
	logValues   []any
}

// mostAbout is how many links are remembered. A program has some hundreds; who makes chains all the time has no more of it.
const mostAbout = 1 << 14

func (o *observer) about(link *chain.Link) *about {
	if a, ok := o.infos.Load(link); ok {
		return a.(*about)
	}
	a := newAbout(link)
	if o.known.Load() < mostAbout {
		if _, loaded := o.infos.LoadOrStore(link, a); !loaded {
			o.known.Add(1)
		}
	}
	return a
}

func newAbout(link *chain.Link) *about {
	a := &about{point: link.Point}
	switch link.Kind {
	case chain.Pass:
		a.spanName = "reconcile " + link.Name
		a.spanOptions = []trace.SpanStartOption{trace.WithAttributes(AttrReconciler.String(link.Name))}
		return a
	case chain.Point:
		a.spanName = link.Name
	default:
		a.link, a.spanName = link.Name, link.Name
		if link.Point != "" {
			a.spanName = link.Point + " " + link.Name
		}
	}
	a.spanOptions = []trace.SpanStartOption{trace.WithAttributes(a.attributes(nil)...)}
	if a.point != "" {
		a.logValues = append(a.logValues, LogPoint, a.point)
	}
	if a.link != "" {
		a.logValues = append(a.logValues, LogLink, a.link)
	}
	a.logValues = a.logValues[:len(a.logValues):len(a.logValues)] // a sink may append to what it is given
	return a
}

// metricsOf makes the instruments of a provider, or nil if that is off.
func metricsOf(p metric.MeterProvider) *metrics {
	if p == nil {
		return nil
	}
	return newMetrics(p.Meter(scope))
}
