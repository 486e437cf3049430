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

// exitSpan tells the spans of how a link was left.
func (o *observer) exitSpan(ctx context.Context, p *pass, l *left) {
	if own, ok := ctx.(*spanContext); ok && own.o == o && own.link == l.link {
		o.end(own.span, l)
		return
	}
	switch {
	case p != nil && p.link == l.link:
		if p.span != nil {
			o.end(p.span, l)
		}
	case o.linkSpans || l.about.link == "": // has a span of its own, or would have if it were recorded; or is a point
	case p != nil:
		if p.recording {
			o.event(p.span, l)
		}
	default:
		if span := trace.SpanFromContext(ctx); span.IsRecording() {
			o.event(span, l)
		}
	}
}

// event puts a link that was left on a span.
func (o *observer) event(span trace.Span, l *left) {
	n := 4 // exactly as many as there are, since they are copied
	if l.about.point == "" {
		n--
	}
	if l.reason != "" {
		n++
	}
	if l.verdict != chain.VerdictProceed {
		n += 2
	}
	all := append(l.about.attributes(make([]attribute.KeyValue, 0, n)), AttrDuration.Float64(l.Elapsed.Seconds()))
	span.AddEvent(EventLink, trace.WithAttributes(o.outcome(all, l)...))
}

// proceeded is what most links come to, made once.
var proceeded = []attribute.KeyValue{AttrVerdict.String(chain.VerdictProceed)}

// end ends the span of what was left.
func (o *observer) end(span trace.Span, l *left) {
	if l.verdict == chain.VerdictProceed && l.reason == "" && l.Panic == nil {
		span.SetAttributes(proceeded...)
	} else if span.IsRecording() {
		span.SetAttributes(o.outcome(l.stopped(make([]attribute.KeyValue, 0, 6)), l)...)
		if l.failed() {
			span.SetStatus(codes.Error, l.reason)
			o.exception(span, EventException, l.Err, l.Panic)
		}
	}
	span.End()
}

// attributes says which link it is.
func (a *about) attributes(all []attribute.KeyValue) []attribute.KeyValue {
	if a.point != "" {
		all = append(all, AttrPoint.String(a.point))
	}
	if a.link != "" {
		all = append(all, AttrLink.String(a.link))
	}
	return all
}

// outcome adds how a link was left.
func (o *observer) outcome(all []attribute.KeyValue, l *left) []attribute.KeyValue {
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
