package otelx

import "go.opentelemetry.io/otel/attribute"

// scope is the name of the instrumentation scope, under which the SDK lists the
// telemetry of this package.
const scope = "github.com/windlass-go/windlass/otelx"

// Attributes of spans, events and metrics. All are strings except the duration.
// An attribute without a value is left out.
const (
	// AttrReconciler is the name of the reconciler: a kind of resource.
	AttrReconciler = attribute.Key("windlass.reconciler")
	// AttrKey is the key of the resource. Only the span of a pass has it.
	AttrKey = attribute.Key("windlass.key")
	// AttrPoint is the extension point, as "PreCheck". On the span of a pass it
	// is the point where the pass stopped, and AttrLink is the link that
	// stopped it.
	AttrPoint = attribute.Key("windlass.point")
	// AttrLink is the name of the link, as the chain lists it. Without it, the
	// event, span or measurement is about a whole point or pass.
	AttrLink = attribute.Key("windlass.link")
	// AttrVerdict is the verdict: proceed, block, skip, error, panic, or
	// another one that the result describes.
	AttrVerdict = attribute.Key("windlass.verdict")
	// AttrReason is the reason of the verdict, one word.
	AttrReason = attribute.Key("windlass.reason")
	// AttrRetry is when to try again: fast, slow, very slow, on change.
	AttrRetry = attribute.Key("windlass.retry")
	// AttrDuration is the duration in seconds, including all inner links. Only
	// events have it; a span has its own start and end time.
	AttrDuration = attribute.Key("windlass.duration")
	// AttrErrorType is OpenTelemetry's attribute for the class of an error; see
	// classify.Errors.Class.
	AttrErrorType = attribute.Key("error.type")
)

// Names of events on spans.
const (
	// EventLink is the end of a link.
	EventLink = "windlass.link"
	// EventException is an error or a panic, with [OpenTelemetry's attributes for exceptions].
	//
	// [OpenTelemetry's attributes for exceptions]: https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-spans/
	EventException = "exception"
	// EventAttributesPanic reports that the function given to
	// [WithPassAttributes] panicked.
	EventAttributesPanic = "windlass.attributes.panic"

	exceptionType    = attribute.Key("exception.type")
	exceptionMessage = attribute.Key("exception.message")
)

// Metrics.
const (
	// MetricDuration is a histogram, in seconds, of how long passes, points and
	// links take, by reconciler, point and link.
	MetricDuration = "windlass.duration"
	// MetricDecisions counts the verdicts of passes, points and links, by
	// reconciler, point, link, verdict and reason.
	MetricDecisions = "windlass.decisions"
)

// Keys of log lines.
const (
	LogReconciler = "reconciler" // the name of the reconciler
	LogKey        = "key"        // the key of the resource
	LogPoint      = "point"      // the extension point
	LogLink       = "link"       // the link; absent if the line is about a whole point or pass
	LogReason     = "reason"     // the reason of the verdict; the verdict is the message
	LogRetry      = "retry"      // when to try again
	LogDuration   = "duration"   // the duration, in seconds
	LogErrorType  = "errorType"  // the code or the type of an error
	LogError      = "error"      // the text of the error; only with WithErrorText
)
