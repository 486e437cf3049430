package otelx

import (
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/windlass-go/windlass/internal/text"
)

// scope is the name of the instrumentation scope. It has the version of module.
const (
	module = "github.com/windlass-go/windlass"
	scope  = module + "/otelx"
)

// scopeVersion is empty if the version is unknown.
var scopeVersion = func() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
}()

// versionIn returns the version of this module in a program, such as "1.2.0",
// or "" if the program was not built from a version.
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

// Attributes of spans, events and metrics. They are strings unless their
// comment gives another type. An attribute without a value is omitted.
const (
	// AttrReconciler is the name of the reconciler: a kind of resource.
	AttrReconciler = attribute.Key("windlass.reconciler")
	// AttrKey is the key of the resource. Only the span of a pass has it.
	AttrKey = attribute.Key("windlass.key")
	// AttrPoint is the extension point, such as "PreCheck". On the span of a
	// pass, it is the point where the pass stopped, and AttrLink is the link
	// that stopped it.
	AttrPoint = attribute.Key("windlass.point")
	// AttrLink is the name of the link, as the chain lists it.
	AttrLink = attribute.Key("windlass.link")
	// AttrVerdict is the verdict. Links and points: proceed, skip, block, wait
	// (an operation is under way), error, panic, or the verdict that the result
	// describes. Classify: how soon to retry. Passes: ready, gone, canceled,
	// block, wait, error or panic.
	AttrVerdict = attribute.Key("windlass.verdict")
	// AttrReason is the reason of the verdict, one word.
	AttrReason = attribute.Key("windlass.reason")
	// AttrRetry is when to retry: fast, slow, very slow, on change.
	AttrRetry = attribute.Key("windlass.retry")
	// AttrMessage is the text of a block, a skip or a wait. For the text of an
	// error, see [WithErrorText].
	AttrMessage = attribute.Key("windlass.message")
	// AttrWaitingFor is a list of strings: the awaited objects of a block.
	AttrWaitingFor = attribute.Key("windlass.waiting_for")
	// AttrNotes is a list of strings: the notes (chain.Note).
	AttrNotes = attribute.Key("windlass.notes")
	// AttrDuration is the duration in seconds, a float, including all inner
	// links. Spans do not have it.
	AttrDuration = attribute.Key("windlass.duration")
	// AttrErrorType is OpenTelemetry's attribute for the class of an error; see
	// classify.Errors.Class.
	AttrErrorType = attribute.Key("error.type")
)

// Names of events on spans.
const (
	// EventLink is the end of a link.
	EventLink = "windlass.link"
	// EventException is an error or a panic, with [OpenTelemetry's attributes
	// for exceptions].
	//
	// [OpenTelemetry's attributes for exceptions]: https://opentelemetry.io/docs/specs/semconv/exceptions/exceptions-spans/
	EventException = "exception"
	// EventAttributesPanic is a panic of the function of [WithPassAttributes].
	EventAttributesPanic = "windlass.attributes.panic"
	// EventLinksPanic is a panic of a function of [WithPassLinks].
	EventLinksPanic = "windlass.links.panic"

	exceptionType    = attribute.Key("exception.type")
	exceptionMessage = attribute.Key("exception.message")
	exceptionStack   = attribute.Key("exception.stacktrace")
)

// Metrics. Passes, points and links have separate instruments, so that a sum
// over one instrument counts each call once. Durations are histograms in
// seconds, verdicts are counters. The attributes are:
//
//   - of all: reconciler;
//   - of points: point; of links: point and link;
//   - of verdicts: verdict and reason.
//
// The reason of a failed pass is the rule that classified the error, because a
// service can send any code. After 100 reasons of a pass, point or link,
// [OtherReason] replaces each new reason.
const (
	MetricPassDuration  = "windlass.pass.duration"
	MetricPassVerdicts  = "windlass.pass.verdicts"
	MetricPointDuration = "windlass.point.duration"
	MetricPointVerdicts = "windlass.point.verdicts"
	MetricLinkDuration  = "windlass.link.duration"
	MetricLinkVerdicts  = "windlass.link.verdicts"

	OtherReason = "other"
)

// keys are the keys of a fact: in spans and metrics, and in log lines. Empty:
// they do not have it.
type keys struct {
	attr attribute.Key
	log  any
}

var (
	keyReconciler = keys{AttrReconciler, "reconciler"}
	keyResource   = keys{AttrKey, "key"}
	keyPoint      = keys{AttrPoint, "point"}
	keyLink       = keys{AttrLink, "link"}
	keyVerdict    = keys{AttrVerdict, "verdict"}
	keyReason     = keys{AttrReason, "reason"}
	keyPrevious   = keys{"", "previous"} // the previous verdict of the resource; only with WithChanges
	keyRetry      = keys{AttrRetry, "retry"}
	keyNext       = keys{"", "nextPass"} // the delay until the next pass; only with WithNextPass
	keyMessage    = keys{AttrMessage, "message"}
	keyWaitingFor = keys{AttrWaitingFor, "waitingFor"}
	keyNotes      = keys{AttrNotes, "notes"}
	keyDuration   = keys{AttrDuration, "duration"}
	keyErrorType  = keys{AttrErrorType, "errorType"}
	keyError      = keys{exceptionMessage, "error"} // the text of the error; only with WithErrorText
	keyStack      = keys{exceptionStack, "stack"}   // of a panic that failed the pass, at most 16 kB
)

// The limits of texts that come from services and users.
const (
	maxWord = text.Name   // a verdict, a reason or a name
	maxText = text.Object // a message, a note or a key

	maxStack = 16_384 // the stack of a panic
	maxList  = 10     // the number of notes or awaited objects
)

// safe returns a text of a service or a user as one line, without secrets.
func safe(foreign string, limit int) string { return text.Line(foreign, limit) }
