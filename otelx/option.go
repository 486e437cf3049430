package otelx

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// The verbosities of log lines where no option says otherwise: see logr's V. A level that the logger does not show costs
// next to nothing.
const (
	DefaultPointVerbosity = 1 // passes and points
	DefaultLinkVerbosity  = 2 // links
)

// Option sets up what [New] makes. One that makes no sense panics in the function that makes it; a nil Option is none.
type Option func(*options)

type options struct {
	tracers                       trace.TracerProvider
	meters                        metric.MeterProvider
	quiet                         bool // no log lines
	pointVerbosity, linkVerbosity int
	linkSpans, ask                bool
	text                          int // the longest error text; 0: none
	attributes                    func(context.Context, any) []attribute.KeyValue
}

// WithTracerProvider says where spans go. Without it, that is the global provider (otel.SetTracerProvider), also if it is
// set later. Nil is off.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *options) { o.tracers = p } }

// WithMeterProvider says where metrics go. Without it, that is the global provider (otel.SetMeterProvider), also if it is
// set later. Nil is off.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *options) { o.meters = p } }

// WithoutLogs writes no log lines, whatever logger is in the context. A context without a logger comes to the same.
func WithoutLogs() Option { return func(o *options) { o.quiet = true } }

// LogVerbosity sets at which verbosity points and links are logged. A negative one panics.
func LogVerbosity(points, links int) Option {
	if points < 0 || links < 0 {
		panic(fmt.Sprintf("otelx: LogVerbosity(%d, %d): give 0 or more", points, links))
	}
	return func(o *options) { o.pointVerbosity, o.linkVerbosity = points, links }
}

// LinkSpans makes each point and each link a span of its own, in place of the event.
func LinkSpans() Option { return func(o *options) { o.linkSpans = true } }

// AskSampler asks the sampler for the span of each point and link, also below one that is not recorded. It is for samplers
// that decide about children in another way than about their parents; it goes with [LinkSpans].
func AskSampler() Option { return func(o *options) { o.ask = true } }

// ErrorText puts the texts of errors and panics into spans and log lines, cut off after a number of bytes. They come from
// services and people, and may hold secrets. A number below 1 panics.
func ErrorText(bytes int) Option {
	if bytes < 1 {
		panic(fmt.Sprintf("otelx: ErrorText(%d): give at least 1 byte", bytes))
	}
	return func(o *options) { o.text = bytes }
}

// PassAttributes adds attributes to the span of each recorded pass, which attributes makes of the resource. If it panics
// the span says so ([EventAttributesPanic]). Nil is none.
func PassAttributes(attributes func(ctx context.Context, resource any) []attribute.KeyValue) Option {
	return func(o *options) { o.attributes = attributes }
}
