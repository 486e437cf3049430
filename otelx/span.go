package otelx

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

// startSpan starts the span of a link, a point or a pass. span is nil if the
// tracer panics.
func (b *bound) startSpan(ctx context.Context) (inner context.Context, span trace.Span) {
	inner = ctx
	defer b.contain()
	return b.tracer.Start(ctx, b.spanName, b.spanOptions...)
}

// endSpan ends a span that records nothing.
func (b *bound) endSpan(span trace.Span) {
	defer b.contain()
	span.End()
}

// spanContext is the context of a link that has its own span. With it, Exit
// ends the span of this link and this observer, and no other span.
type spanContext struct {
	context.Context
	span trace.Span
	link *chain.Link
	p    *running
	near *running // answers for runningKey, so that spans that nest do not make the search longer
}

// Value implements context.Context.
func (s *spanContext) Value(key any) any {
	if _, ok := key.(runningKey); ok {
		return s.near
	}
	return s.Context.Value(key)
}

// describe adds the attributes of a recorded pass to its span.
func (b *bound) describe(ctx context.Context, span trace.Span, start pass.Start) {
	defer b.contain()
	if key := start.Key(); key != "" {
		span.SetAttributes(AttrKey.String(safe(key, maxText)))
	}
	if b.attributes == nil {
		return
	}
	attributes, exit := b.attributesOf(ctx, start.Resource)
	if exit.Panic != nil {
		b.exception(span, EventAttributesPanic, &left{class: classOf(nil, exit), text: b.textOf(exit)})
	}
	span.SetAttributes(attributes...)
}

// attributesOf calls the function of [WithPassAttributes].
func (o *observer) attributesOf(ctx context.Context, resource any) (all []attribute.KeyValue, exit chain.Exit) {
	defer func() { exit.Panic = recover() }()
	return o.attributes(ctx, resource), exit
}

// own returns the context of the link's own span; nil: the link has none. It
// compares no spans: those of the SDK that record nothing are not comparable.
func (b *bound) own(ctx context.Context, p *running) *spanContext {
	if own, ok := ctx.(*spanContext); ok && own.p == p && own.link == b.link {
		return own
	}
	return nil
}

// spanOf returns the span that shows the end of the link; nil: none. It is the
// link's own span, or that of the pass or of the context.
func (b *bound) spanOf(ctx context.Context, p *running) trace.Span {
	if b.tracer == nil {
		return nil
	}
	if own := b.own(ctx, p); own != nil {
		return own.span
	}
	switch {
	case p.link == b.link:
		return p.span
	case b.linkSpans || pass.Of(b.link) != 0: // has its own span, recorded or not, or is a point
		return nil
	case p.link != nil:
		if p.recording {
			return p.span
		}
	default:
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			return span
		}
	}
	return nil
}

// exitSpan ends the span of the link, or adds an event to the span of the pass
// or of the context.
func (b *bound) exitSpan(ctx context.Context, p *running, span trace.Span, l *left) {
	if p.link == b.link || b.own(ctx, p) != nil {
		b.finish(span, l)
	} else {
		b.event(span, l)
	}
}

// event adds the end of a link to a span.
func (b *bound) event(span trace.Span, l *left) {
	defer b.contain()
	all := append(make([]attribute.KeyValue, 0, len(b.where)+2), b.where...)
	all = append(all, AttrDuration.Float64(l.elapsed.Seconds()))
	span.AddEvent(EventLink, trace.WithAttributes(l.outcome(all)...))
}

// finish ends the span of a link, point or pass, even if something panics
// before.
func (b *bound) finish(span trace.Span, l *left) {
	defer b.contain()
	defer span.End()
	if l.simple() {
		span.SetAttributes(verdictProceed)
	} else if span.IsRecording() {
		all := make([]attribute.KeyValue, 0, 8)
		if l.point != "" {
			all = append(all, AttrPoint.String(l.point))
		}
		if l.by != "" {
			all = append(all, AttrLink.String(l.by))
		}
		span.SetAttributes(l.outcome(all)...)
		if l.failed {
			span.SetStatus(codes.Error, l.reason)
			b.exception(span, EventException, l)
		}
	}
}

var verdictProceed = AttrVerdict.String(chain.VerdictProceed)

// outcome appends the attributes of how the link ended.
func (l *left) outcome(all []attribute.KeyValue) []attribute.KeyValue {
	if l.simple() {
		return append(all, verdictProceed)
	}
	add := func(key attribute.Key, value string) {
		if value != "" {
			all = append(all, key.String(value))
		}
	}
	add(AttrVerdict, l.verdict)
	add(AttrReason, l.reason)
	add(AttrRetry, l.retry)
	add(AttrMessage, l.message)
	if len(l.waitingFor) > 0 {
		all = append(all, AttrWaitingFor.StringSlice(l.waitingFor))
	}
	if len(l.notes) > 0 {
		all = append(all, AttrNotes.StringSlice(l.notes))
	}
	add(AttrErrorType, l.class)
	return all
}

// exception adds an error, or the value of a panic, to a span.
func (o *observer) exception(span trace.Span, event string, l *left) {
	all := []attribute.KeyValue{exceptionType.String(l.class)}
	if l.text != "" {
		all = append(all, exceptionMessage.String(l.text))
	}
	span.AddEvent(event, trace.WithAttributes(all...))
}
