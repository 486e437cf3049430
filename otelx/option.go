package otelx

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/classify"
)

// The default verbosities of log lines; see logr's V. A verbosity that the
// logger does not show costs next to nothing.
const (
	DefaultPointVerbosity = 1 // passes and points
	DefaultLinkVerbosity  = 2 // links
)

// Option configures [New], [Span] and [Log]. An invalid argument panics in the
// function that makes the option. A nil Option is ignored.
type Option func(*options)

type options struct {
	tracers                       trace.TracerProvider
	meters                        metric.MeterProvider
	quiet                         bool // no log lines
	pointVerbosity, linkVerbosity int
	linkSpans, ask                bool
	errors                        classify.Errors
	text                          int // the maximum length of an error text, in bytes; 0: no text
	attributes                    func(context.Context, any) []attribute.KeyValue
	repeated                      func(context.Context, any) bool // nil: no pass is
}

// WithTracerProvider sets the destination of spans. The default is the global
// provider (otel.SetTracerProvider), even if it is set later. Nil turns spans
// off.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.tracers = p } }

// WithMeterProvider sets the destination of metrics. The default is the global
// provider (otel.SetMeterProvider), even if it is set later. Nil turns metrics
// off.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *options) { o.meters = p } }

// WithoutLogs turns log lines off, whatever logger is in the context. A context
// without a logger has the same effect.
func WithoutLogs() Option { return func(o *options) { o.quiet = true } }

// WithLogVerbosity sets the verbosities of the log lines of passes and points,
// and of links. The line of a pass that is blocked or fails stays at verbosity
// 0. A negative verbosity panics.
func WithLogVerbosity(points, links int) Option {
	if points < 0 || links < 0 {
		panic(fmt.Sprintf("otelx: WithLogVerbosity(%d, %d): give 0 or more", points, links))
	}
	return func(o *options) { o.pointVerbosity, o.linkVerbosity = points, links }
}

// WithLinkSpans makes each point and each link a span of its own, in place of
// the event.
func WithLinkSpans() Option { return func(o *options) { o.linkSpans = true } }

// WithLinkSampling asks the sampler for the span of each point and link, even
// if the parent span is not recorded. It is for samplers that decide
// differently about child spans. It has an effect only with [WithLinkSpans].
func WithLinkSampling() Option { return func(o *options) { o.ask = true } }

// WithErrors adds Errors that classify an error (error.type) in a chain that
// stands alone. The passes of a reconciler use the Errors of that reconciler
// (flow.WithErrors).
func WithErrors(errs ...classify.Errors) Option {
	return func(o *options) { o.errors = o.errors.And(errs...) }
}

// WithErrorText puts the texts of errors and panics into spans and log lines,
// and cuts each off after the given number of bytes. The message of a failed
// pass is such a text. The texts come from
// services and people, and may hold secrets. A number below 1 panics.
func WithErrorText(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("otelx: WithErrorText(%d): give at least 1 byte", bytes))
	}
	return func(o *options) { o.text = bytes }
}

// WithPassAttributes adds attributes to the span of each recorded pass. The
// given function computes them from the resource. If it panics, the span gets
// the event [EventAttributesPanic]. A nil function adds none.
func WithPassAttributes(attributes func(ctx context.Context, resource any) []attribute.KeyValue) Option {
	return func(o *options) { o.attributes = attributes }
}

// WithRepeated sets the function that recognizes a blocked or failed pass that
// does not need a line at verbosity 0. An example is a pass that ended like the
// last pass of its resource. The line of such a pass has the verbosity of
// passes, and is never an error of the logger. The function gets the context of
// the pass and its outcome (flow.Outcome). If it panics, the pass is logged at
// verbosity 0. Without the function, or with nil, every blocked or failed pass
// is.
func WithRepeated(repeated func(ctx context.Context, outcome any) bool) Option {
	return func(o *options) { o.repeated = repeated }
}
