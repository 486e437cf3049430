package otelx

import "go.opentelemetry.io/otel/attribute"

// The name of the instrumentation scope, under which the SDK lists what is made here.
const scope = "github.com/windlass-go/windlass/otelx"

// Attributes of spans, events and metrics. All are strings but the duration. One that has nothing to say is left out.
const (
	// AttrReconciler is the name of the reconciler: a kind of resource.
	AttrReconciler = attribute.Key("windlass.reconciler")
	// AttrKey is the key of the resource. It is on the span of a pass and on nothing else.
	AttrKey = attribute.Key("windlass.key")
	// AttrPoint is the extension point, as "PreCheck"; on the span of a pass, where it stopped, and AttrLink by which link.
	AttrPoint = attribute.Key("windlass.point")
	// AttrLink is the name of the link, as the chain lists it; without it what is told is told of the point as a whole.
	AttrLink = attribute.Key("windlass.link")
	// AttrVerdict is how it was left: proceed, block, skip, error, panic, or what else the result says of itself.
	AttrVerdict = attribute.Key("windlass.verdict")
	// AttrReason is the reason of the verdict, one word.
	AttrReason = attribute.Key("windlass.reason")
	// AttrRetry is how soon to try again: fast, slow, very slow, on change.
	AttrRetry = attribute.Key("windlass.retry")
	// AttrDuration is how long it took, in seconds, with all that is behind it. It is on events; a span has its own times.
	AttrDuration = attribute.Key("windlass.duration")
	// AttrErrorType is OpenTelemetry's attribute for the class of an error: the code of an Azure error, or else its Go type.
	AttrErrorType = attribute.Key("error.type")
)

// Names of events on spans.
const (
	// EventLink is a link that was left.
	EventLink = "windlass.link"
	// EventException is an error or a panic, with [OpenTelemetry's attributes for exceptions].
	//
	// [OpenTelemetry's attributes for exceptions]: https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-spans/
	EventException = "exception"
	// EventAttributesPanic says that the function given by [PassAttributes] panicked.
	EventAttributesPanic = "windlass.attributes.panic"

	exceptionType    = attribute.Key("exception.type")
	exceptionMessage = attribute.Key("exception.message")
)

// Metrics.
const (
	// MetricDuration is a histogram, in seconds, of how long passes, points and links take: by reconciler, point and link.
	MetricDuration = "windlass.duration"
	// MetricDecisions counts how passes, points and links were left: by reconciler, point, link, verdict and reason.
	MetricDecisions = "windlass.decisions"
)

// Keys of log lines.
const (
	LogReconciler = "reconciler" // the name of the reconciler
	LogKey        = "key"        // the key of the resource
	LogPoint      = "point"      // the extension point
	LogLink       = "link"       // the link; not there: the point as a whole
	LogReason     = "reason"     // the reason of the verdict, which is the message
	LogRetry      = "retry"      // how soon to try again
	LogDuration   = "duration"   // how long it took, in seconds
	LogErrorType  = "errorType"  // the code or the type of an error
	LogError      = "error"      // its text, by option only
)
