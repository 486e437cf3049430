package otelx

import (
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/otel/attribute"
)

// scope is the name of the instrumentation scope, under which the SDK lists the
// telemetry of this package. module is the module that sets its version.
const (
	module = "github.com/windlass-go/windlass"
	scope  = module + "/otelx"
)

// scopeVersion is the version of the instrumentation scope; empty: unknown.
var scopeVersion = func() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}()

// versionIn returns the version of this module in a program, such as "1.2.0".
// It is empty if the program was not built from a version of the module.
func versionIn(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path != module {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if version, ok := strings.CutPrefix(m.Version, "v"); ok {
			return version
		}
	}
	return ""
}

// Attributes of spans, events and metrics. All are strings, except where the
// text says otherwise. An attribute without a value is left out.
const (
	// AttrReconciler is the name of the reconciler: a kind of resource.
	AttrReconciler = attribute.Key("windlass.reconciler")
	// AttrKey is the key of the resource. Only the span of a pass has it.
	AttrKey = attribute.Key("windlass.key")
	// AttrPoint is the extension point, as "PreCheck". On the span of a pass it
	// is the point where the pass stopped, and AttrLink is the link that
	// stopped it.
	AttrPoint = attribute.Key("windlass.point")
	// AttrLink is the name of the link, as the chain lists it.
	AttrLink = attribute.Key("windlass.link")
	// AttrVerdict is the verdict. Links and points end with proceed, skip,
	// block, wait (an operation is under way), error or panic, or with another
	// verdict that the result describes. Classify ends with how soon to retry.
	// A pass ends with ready, gone, canceled, block, wait, error or panic.
	AttrVerdict = attribute.Key("windlass.verdict")
	// AttrReason is the reason of the verdict, one word.
	AttrReason = attribute.Key("windlass.reason")
	// AttrRetry is when to try again: fast, slow, very slow, on change.
	AttrRetry = attribute.Key("windlass.retry")
	// AttrMessage is the text of a block, a skip or a wait. The text of an
	// error is not a message; see [WithErrorText].
	AttrMessage = attribute.Key("windlass.message")
	// AttrWaitingFor is a list of strings: the awaited objects of a block.
	AttrWaitingFor = attribute.Key("windlass.waiting_for")
	// AttrNotes is a list of strings: what the link noted with chain.Note.
	AttrNotes = attribute.Key("windlass.notes")
	// AttrDuration is the duration in seconds, a float, including all inner
	// links. Only events have it; a span has its own start and end time.
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

// Metrics. Passes, points and links have instruments of their own, so that a
// sum over one of them counts each call once. A duration is a histogram in
// seconds. Verdicts are a counter. All have the attribute reconciler; those of
// points also point; those of links point and link. Verdicts add verdict and
// reason. The reason of a failed pass is the rule that classified the error,
// because a service can send any code. [OtherReason] stands for all further
// reasons of a pass, point or link that has had 100 different ones.
const (
	MetricPassDuration  = "windlass.pass.duration"
	MetricPassVerdicts  = "windlass.pass.verdicts"
	MetricPointDuration = "windlass.point.duration"
	MetricPointVerdicts = "windlass.point.verdicts"
	MetricLinkDuration  = "windlass.link.duration"
	MetricLinkVerdicts  = "windlass.link.verdicts"

	OtherReason = "other"
)

// Keys of log lines.
const (
	LogReconciler = "reconciler" // the name of the reconciler
	LogKey        = "key"        // the key of the resource
	LogPoint      = "point"      // the extension point; for a pass, where it stopped
	LogLink       = "link"       // the link; for a pass, the link that stopped it
	LogVerdict    = "verdict"    // the verdict, as in AttrVerdict
	LogReason     = "reason"     // the reason of the verdict
	LogRetry      = "retry"      // when to try again
	LogMessage    = "message"    // the text of a block, a skip or a wait
	LogWaitingFor = "waitingFor" // the awaited objects, a list
	LogNotes      = "notes"      // what the link noted with chain.Note, a list
	LogDuration   = "duration"   // the duration, in seconds
	LogErrorType  = "errorType"  // the code or the type of an error
	LogError      = "error"      // the text of the error; only with WithErrorText
)
