package otelx

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/pass"
)

// describe adds the attributes of a recorded pass to its span.
func (o *observer) describe(ctx context.Context, span trace.Span, start pass.Start) {
	if key := start.Key(); key != "" {
		span.SetAttributes(AttrKey.String(key))
	}
	if o.attributes == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			o.exception(span, EventAttributesPanic, &left{Exit: chain.Exit{Panic: v}})
		}
	}()
	span.SetAttributes(o.attributes(ctx, start.Resource)...)
}

// exitSpan ends the span of the link, or adds an event to the span of the pass
// or of the context.
func (b *bound) exitSpan(ctx context.Context, p *running, l *left) {
	if own, ok := ctx.(*spanContext); ok && own.o == b.observer && own.link == b.link {
		b.end(own.span, l)
		return
	}
	switch {
	case p != nil && p.link == b.link:
		if p.span != nil {
			b.end(p.span, l)
		}
	case b.linkSpans || pass.Of(b.link) != 0: // has its own span, recorded or not, or is a point
	case p != nil:
		if p.recording {
			b.event(p.span, l)
		}
	default:
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			b.event(span, l)
		}
	}
}

// event adds the end of a link to a span.
func (b *bound) event(span trace.Span, l *left) {
	if l.simple() {
		e := b.proceeded.Get().(*proceeded)
		*e.duration = AttrDuration.Float64(l.Elapsed.Seconds())
		span.AddEvent(EventLink, e.options...)
		b.proceeded.Put(e)
		return
	}
	all := append(make([]attribute.KeyValue, 0, 7), b.where...)
	all = append(all, AttrDuration.Float64(l.Elapsed.Seconds()))
	span.AddEvent(EventLink, trace.WithAttributes(l.outcome(all)...))
}

// simple reports whether the link only proceeded, as most links do.
func (l *left) simple() bool {
	return l.verdict == chain.VerdictProceed && l.reason == "" && l.Panic == nil
}

// proceeded holds the event options for a link that only proceeded. Everything
// but the duration is known in advance, and the value is reused. That is safe
// because implementations of spans must read options by trace.NewEventConfig,
// which copies them.
type proceeded struct {
	duration *attribute.KeyValue
	options  []trace.EventOption
}

func (b *bound) newProceeded() *proceeded {
	all := append(b.where, verdictProceed, AttrDuration.Float64(0))
	return &proceeded{duration: &all[len(all)-1], options: []trace.EventOption{trace.WithAttributes(all...)}}
}

var verdictProceed = AttrVerdict.String(chain.VerdictProceed)

// end ends the span of a link, point or pass.
func (b *bound) end(span trace.Span, l *left) {
	if l.simple() {
		span.SetAttributes(verdictProceed)
	} else if span.IsRecording() {
		span.SetAttributes(l.outcome(l.stopped(make([]attribute.KeyValue, 0, 6)))...)
		if l.failed() {
			span.SetStatus(codes.Error, l.reason)
			b.exception(span, EventException, l)
		}
	}
	span.End()
}

// outcome appends the attributes of how the link ended.
func (l *left) outcome(all []attribute.KeyValue) []attribute.KeyValue {
	all = append(all, AttrVerdict.String(l.verdict))
	if l.reason != "" {
		all = append(all, AttrReason.String(l.reason))
	}
	if retry := l.retry(); retry != "" {
		all = append(all, AttrRetry.String(retry))
	}
	if l.failed() {
		all = append(all, AttrErrorType.String(l.errorType()))
	}
	return all
}

// stopped appends the point and the link at which a pass stopped, if it did.
func (l *left) stopped(all []attribute.KeyValue) []attribute.KeyValue {
	if pass.Of(l.link) != pass.Pass {
		return all
	}
	if at, ok := l.Result.(interface {
		Point() string
		Link() string
	}); ok {
		if point := at.Point(); point != "" {
			all = append(all, AttrPoint.String(point))
		}
		if link := at.Link(); link != "" {
			all = append(all, AttrLink.String(link))
		}
	}
	return all
}

// failed reports whether the link itself failed or panicked. An error that a
// link only passed on is not its own.
func (l *left) failed() bool {
	return l.Panic != nil || l.Err != nil && (l.verdict == chain.VerdictError || l.verdict == chain.VerdictPanic)
}

// retry returns in a word when to try again, if this link decided it; else it
// returns "".
func (l *left) retry() string {
	if l.verdict == chain.VerdictProceed {
		return ""
	}
	if r, ok := l.Result.(interface{ Retry() classify.Retry }); ok {
		if retry := r.Retry(); retry != classify.Unset {
			return retry.String()
		}
	}
	return ""
}

// exception adds an error, or the value of a panic, to a span.
func (o *observer) exception(span trace.Span, event string, l *left) {
	all := []attribute.KeyValue{exceptionType.String(l.errorType())}
	if o.text > 0 {
		all = append(all, exceptionMessage.String(o.textOf(l.Err, l.Panic)))
	}
	span.AddEvent(event, trace.WithAttributes(all...))
}

// errorType returns the class of the error, or the Go type of the panic's
// value.
func (l *left) errorType() string {
	if l.Err == nil {
		return fmt.Sprintf("%T", l.Panic)
	}
	return l.class(l.Err)
}

// textOf returns the text of an error or of a panic, cut off at the length
// given to [WithErrorText].
func (o *observer) textOf(err error, panicked any) string {
	var text string
	if err != nil {
		text = fmt.Sprint(err) // survives an Error method that panics
	} else {
		text = fmt.Sprint(panicked)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= o.text {
		return text
	}
	cut := o.text
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
