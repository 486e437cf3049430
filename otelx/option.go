package otelx

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/classify"
)

// The verbosities of log lines; see logr's V.
const (
	passVerbosity  = 1 // the end of a pass
	innerVerbosity = 2 // its start, points and links
)

// Option configures [New], [Span] and [Log]. An invalid argument panics in the
// function that makes the option. A nil Option is ignored.
type Option func(*options)

type options struct {
	tracers    trace.TracerProvider
	meters     metric.MeterProvider
	noLogs     bool
	linkSpans  bool
	errors     classify.Errors
	text       int // the maximum length of an error text, in bytes; 0: no text
	attributes func(context.Context, any) []attribute.KeyValue
	links      []func(context.Context) []trace.Link
	changes    func(context.Context, any) (previous string, changed bool) // nil: a block and a failure are changes
	next       func(context.Context, func(time.Duration))                 // nil: the delay is not logged
}

// WithTracerProvider sets the destination of spans. The default is the global
// provider (otel.SetTracerProvider), even if it is set later. Nil turns spans
// off.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.tracers = p } }

// WithMeterProvider sets the destination of metrics. The default is the global
// provider (otel.SetMeterProvider), even if it is set later. Nil turns metrics
// off.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *options) { o.meters = p } }

// WithoutLogs turns log lines off, even if the context has a logger.
func WithoutLogs() Option { return func(o *options) { o.noLogs = true } }

// WithLinkSpans makes each point and each link a span. Links then add no
// events.
func WithLinkSpans() Option { return func(o *options) { o.linkSpans = true } }

// WithErrors adds Errors that classify the errors (error.type) of standalone
// chains. Passes use the Errors of their reconciler (flow.WithErrors).
func WithErrors(errs ...classify.Errors) Option {
	return func(o *options) { o.errors = o.errors.And(errs...) }
}

// WithErrorText puts the texts of errors and panics, including the message of a
// failed pass, into spans and log lines, cut to the given number of bytes. They
// may contain secrets of services and people. A number below 1 panics.
func WithErrorText(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("otelx: WithErrorText(%d): give at least 1 byte", bytes))
	}
	return func(o *options) { o.text = bytes }
}

// WithPassAttributes adds the attributes that the function returns for the
// resource to the span of each recorded pass. If the function panics, the span
// gets the event [EventAttributesPanic]. A nil function adds no attributes.
func WithPassAttributes(attributes func(ctx context.Context, resource any) []attribute.KeyValue) Option {
	return func(o *options) { o.attributes = attributes }
}

// WithPassLinks adds the links that the function returns to the span of each
// recorded pass, such as a link to the span of the pass that caused this one. The
// function gets a context with the new span (trace.SpanContextFromContext). Several
// functions add up. If a function panics, the span gets the event [EventLinksPanic]. A
// nil function adds no links.
func WithPassLinks(links func(ctx context.Context) []trace.Link) Option {
	return func(o *options) {
		if links != nil {
			o.links = append(o.links, links)
		}
	}
}

// WithChanges sets the function that recognizes a change of the verdict, so that
// each change logs one line at verbosity 0 and repetitions do not. The function
// gets the context and the outcome (flow.Outcome) of each pass:
//
//   - If it returns changed, the line of the pass has verbosity 0, whatever the
//     verdict is. The line of a failed pass is an error of the logger. A
//     previous verdict that is not empty is added as "previous".
//   - If it returns not changed, the line has the verbosity of passes, and is
//     not an error of the logger.
//
// If it panics, or is nil, each blocked and each failed pass is a change.
func WithChanges(changes func(ctx context.Context, outcome any) (previous string, changed bool)) Option {
	return func(o *options) { o.changes = changes }
}

// WithNextPass adds the delay until the next pass to the log line of each pass, as
// nextPass="in 3m20s". The delay is known only after the pass. So the function
// gets the context of the pass, and write, which writes the line. It calls write
// once, or keeps write and calls it later. Zero and negative delays mean that no pass is
// planned. Nil writes the lines at the end of the pass, without a delay.
func WithNextPass(next func(ctx context.Context, write func(delay time.Duration))) Option {
	return func(o *options) { o.next = next }
}
