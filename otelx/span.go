package otelx

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

// startSpan returns a nil span if the tracer panics.
func (b *bound) startSpan(ctx context.Context) (inner context.Context, span trace.Span) {
	inner = ctx
	defer b.contain()
	return b.tracer.Start(ctx, b.spanName, b.spanOptions...)
}

// spanContext is the context of a link with its own span.
type spanContext struct {
	context.Context
	span    trace.Span
	link    *chain.Link
	p       *running
	nearest *running // saves the search through nested spans
}

func (s *spanContext) Value(key any) any {
	if _, ok := key.(runningKey); ok {
		return s.nearest
	}
	return s.Context.Value(key)
}

// describe adds the attributes of a recorded pass to its span.
func (b *bound) describe(ctx context.Context, span trace.Span, start pass.Start) {
	defer b.contain()
	if key := start.Key(); key != "" {
		span.SetAttributes(keyResource.attr.String(safe(key, maxText)))
	}
	if b.attributes != nil {
		span.SetAttributes(called(b, span, EventAttributesPanic, func() []attribute.KeyValue { return b.attributes(ctx, start.Resource) })...)
	}
}

// addLinks adds the links of a function of [WithPassLinks] to the span of a
// recorded pass.
func (b *bound) addLinks(ctx context.Context, span trace.Span, of func(context.Context) []trace.Link) {
	defer b.contain()
	for _, l := range called(b, span, EventLinksPanic, func() []trace.Link { return of(ctx) }) {
		span.AddLink(l)
	}
}

// called returns the result of a user's function. A panic of it is an event of
// the span.
func called[T any](b *bound, span trace.Span, event string, f func() T) (result T) {
	defer func() {
		if v := recover(); v != nil {
			exit := chain.Exit{Panic: v}
			b.exception(span, event, &ending{class: classOf(nil, exit), text: b.textOf(exit)})
		}
	}()
	return f()
}

// spanOf returns the span for the end of the link: its own, that of the pass or
// that of the context; nil: none. ends reports whether the span ends with the
// link. It compares no spans, because the SDK has spans that are not comparable.
func (b *bound) spanOf(ctx context.Context, p *running) (span trace.Span, ends bool) {
	if b.tracer == nil {
		return nil, false
	}
	if s, ok := ctx.(*spanContext); ok && s.p == p && s.link == b.link {
		return s.span, true
	}
	switch {
	case p.link == b.link:
		return p.span, true
	case b.linkSpans || pass.Of(b.link) != 0: // only the link's own span shows it, or it is a point
	case p.link != nil:
		if p.recording {
			return p.span, false
		}
	default:
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			return span, false
		}
	}
	return nil, false
}

func (b *bound) event(span trace.Span, e *ending) {
	defer b.contain()
	all := append(make([]attribute.KeyValue, 0, len(b.position)+2), b.position...)
	all = append(all, keyDuration.attr.Float64(e.elapsed.Seconds()))
	span.AddEvent(EventLink, trace.WithAttributes(e.appendTo(all)...))
}

// finish ends a span, even if another method of the span panics. e may be nil for
// a span that does not record.
func (b *bound) finish(span trace.Span, e *ending) {
	defer b.contain()
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(e.appendTo(make([]attribute.KeyValue, 0, 2))...) // mostly verdict and reason
		if e.failed {
			span.SetStatus(codes.Error, e.reason)
			b.exception(span, EventException, e)
		}
	}
}

func (e *ending) appendTo(all []attribute.KeyValue) []attribute.KeyValue {
	add := func(k keys, value string) {
		if value != "" && k.attr != "" {
			all = append(all, k.attr.String(value))
		}
	}
	e.each(add, func(k keys, list []string) {
		if len(list) > 0 {
			all = append(all, k.attr.StringSlice(list))
		}
	})
	add(keyErrorType, e.class)
	return all
}

func (o *observer) exception(span trace.Span, event string, e *ending) {
	all := []attribute.KeyValue{exceptionType.String(e.class)}
	if e.text != "" {
		all = append(all, keyError.attr.String(e.text))
	}
	if e.stack != "" {
		all = append(all, keyStack.attr.String(e.stack))
	}
	span.AddEvent(event, trace.WithAttributes(all...))
}
