package otelx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
)

// describe puts on the span of a pass what only a recorded one has.
func (o *observer) describe(ctx context.Context, span trace.Span, start chain.PassStart) {
	if key := start.Key(); key != "" {
		span.SetAttributes(AttrKey.String(key))
	}
	if o.attributes == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			o.exception(span, EventAttributesPanic, nil, v)
		}
	}()
	span.SetAttributes(o.attributes(ctx, start.Resource)...)
}

// exitSpan tells the spans of how the link was left.
func (b *bound) exitSpan(ctx context.Context, p *pass, l *left) {
	if own, ok := ctx.(*spanContext); ok && own.o == b.observer && own.link == b.link {
		b.end(own.span, l)
		return
	}
	switch {
	case p != nil && p.link == b.link:
		if p.span != nil {
			b.end(p.span, l)
		}
	case b.linkSpans || b.link.Kind != chain.LinkKind: // has a span of its own, or would have if it were recorded; or is a point
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

// event puts a link that was left on a span.
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

// simple tells whether there is nothing to say but that the link proceeded, which is what most do.
func (l *left) simple() bool {
	return l.verdict == chain.VerdictProceed && l.reason == "" && l.Panic == nil
}

// proceeded is what the event of a link that proceeded is made with. All but the duration is known before, and it is used
// again and again: whoever implements spans has to read options by trace.NewEventConfig, which copies.
type proceeded struct {
	duration *attribute.KeyValue
	options  []trace.EventOption
}

func (b *bound) newProceeded() *proceeded {
	all := append(b.where, verdictProceed, AttrDuration.Float64(0))
	return &proceeded{duration: &all[len(all)-1], options: []trace.EventOption{trace.WithAttributes(all...)}}
}

var verdictProceed = AttrVerdict.String(chain.VerdictProceed)

// end ends the span of what was left.
func (b *bound) end(span trace.Span, l *left) {
	if l.simple() {
		span.SetAttributes(verdictProceed)
	} else if span.IsRecording() {
		span.SetAttributes(l.outcome(l.stopped(make([]attribute.KeyValue, 0, 6)))...)
		if l.failed() {
			span.SetStatus(codes.Error, l.reason)
			b.exception(span, EventException, l.Err, l.Panic)
		}
	}
	span.End()
}

// outcome adds how a link was left.
func (l *left) outcome(all []attribute.KeyValue) []attribute.KeyValue {
	all = append(all, AttrVerdict.String(l.verdict))
	if l.reason != "" {
		all = append(all, AttrReason.String(l.reason))
	}
	if retry := l.retry(); retry != "" {
		all = append(all, AttrRetry.String(retry))
	}
	if l.failed() {
		all = append(all, AttrErrorType.String(errorType(l.Err, l.Panic)))
	}
	return all
}

// stopped says where a pass stopped, if it did.
func (l *left) stopped(all []attribute.KeyValue) []attribute.KeyValue {
	if l.link.Kind != chain.Pass {
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

// failed tells whether an error or a panic is to be told of here. An error that a link let through is none of its own.
func (l *left) failed() bool {
	return l.Panic != nil || l.Err != nil && l.verdict == chain.VerdictError
}

// retry is how soon to try again, in a word, if it was decided here.
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

// exception puts an error, or the value of a panic, on a span.
func (o *observer) exception(span trace.Span, event string, err error, panicked any) {
	all := []attribute.KeyValue{exceptionType.String(errorType(err, panicked))}
	if o.text > 0 {
		all = append(all, exceptionMessage.String(o.textOf(err, panicked)))
	}
	span.AddEvent(event, trace.WithAttributes(all...))
}

// errorType is the class of an error or of a panic: the code that Azure gave, or else a Go type, that of the cause where
// the error only wraps one. Methods of foreign errors may panic.
func errorType(err error, panicked any) (class string) {
	if err == nil {
		return fmt.Sprintf("%T", panicked)
	}
	defer func() {
		if recover() != nil {
			class = fmt.Sprintf("%T", err)
		}
	}()
	if response := (*azcore.ResponseError)(nil); errors.As(err, &response) && response != nil && response.ErrorCode != "" {
		return response.ErrorCode
	}
	if p := (*chain.PanicError)(nil); errors.As(err, &p) && p != nil {
		return fmt.Sprintf("%T", p.Value)
	}
	for {
		switch fmt.Sprintf("%T", err) {
		case "*fmt.wrapError", "*fmt.wrapErrors", "*errors.joinError":
		default:
			return fmt.Sprintf("%T", err)
		}
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			if i := slices.IndexFunc(joined.Unwrap(), func(e error) bool { return e != nil }); i >= 0 {
				inner = joined.Unwrap()[i]
			}
		}
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}

// textOf is the text of an error or of a panic, cut off where the option says.
func (o *observer) textOf(err error, panicked any) string {
	var text string
	if err != nil {
		text = fmt.Sprint(err) // which survives errors that panic
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
