package classify

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/text"
)

// Classification is the decision about a failure. Only [Compose], [Table.Link]
// and [Failure.As] make one. The zero Classification is not a decision, and a
// handler of Compose never returns it. A Classification never changes: With and
// WithAfter return a new one.
type Classification struct{ d *decision }

type decision struct {
	retry         Retry
	canceled      bool
	keepsStatus   bool
	status        int
	after         time.Duration
	code, message string
	rule          string
	fault         error
}

// zero holds the answers of the zero Classification.
var zero decision

func (c Classification) decision() *decision {
	if c.d == nil {
		return &zero
	}
	return c.d
}

// IsZero reports whether c is the zero Classification, which is no decision.
func (c Classification) IsZero() bool { return c.d == nil }

// Retry returns how soon to retry. It is [Unset] only for the zero
// Classification.
func (c Classification) Retry() Retry { return c.decision().retry }

// After returns the delay before the retry: the longer one of the service's
// delay and that of the row ([Rule.After]), or the one that a link set. It is at
// most an hour; 0 means none.
func (c Classification) After() time.Duration { return c.decision().after }

// Code returns the service's word for the error, up to 1,024 bytes; empty for
// none. [Failure.Code], which rules compare, has all of it.
func (c Classification) Code() string { return c.decision().code }

// Rule returns the name of the row or the link that decided.
func (c Classification) Rule() string { return c.decision().rule }

// Message returns the text of the service or of the error. It is the raw text:
// it may have several lines and hold secrets. To show it, use
// [Classification.String]. It is empty only for the zero Classification.
func (c Classification) Message() string {
	d := c.decision()
	switch {
	case d.message != "" || c.IsZero():
		return d.message
	case d.status != 0:
		status := strings.TrimSpace(fmt.Sprint("HTTP ", d.status, " ", http.StatusText(d.status)))
		return "the service gave no message (" + status + ")"
	case d.code != "":
		return "the service gave no message"
	}
	return "the error has no text"
}

// Severity returns the severity of the Retry. It is empty for a canceled pass.
func (c Classification) Severity() Severity {
	if c.Canceled() {
		return ""
	}
	return c.Retry().Severity()
}

// Canceled reports whether nothing failed: the pass was canceled by its own
// context, as at a shutdown. Callers should not report it. Its Retry is [Fast],
// for callers that do not check Canceled.
func (c Classification) Canceled() bool { return c.decision().canceled }

// KeepsStatus reports whether the engine leaves the conditions of the resource
// as they are: a row with KeepStatus decided, or a link called
// [Classification.WithStatusKept].
func (c Classification) KeepsStatus() bool { return c.decision().keepsStatus }

// Fault returns the error of a link or a rule, for logs; usually nil. If a link
// panicked (a *chain.PanicError), returned an error or did not decide, the
// Retry is [Slow] and Rule names the link. A negative delay is a fault that
// changes neither.
func (c Classification) Fault() error { return c.decision().fault }

// With returns c with another Retry, for links that adjust the decision of
// next. [Unset], an invalid Retry and a zero c change nothing.
func (c Classification) With(r Retry) Classification {
	if c.d == nil || !r.decided() {
		return c
	}
	d := *c.d
	d.retry = r
	return Classification{d: &d}
}

// WithAfter returns c with another delay, cut to between 0 (none) and an hour;
// all else stays. A negative delay counts as none, and [Classification.Fault]
// reports it. A zero c stays zero.
func (c Classification) WithAfter(after time.Duration) Classification {
	if c.d == nil {
		return c
	}
	d := *c.d
	d.after = min(max(after, 0), maxAfter)
	if after < 0 && d.fault == nil {
		d.fault = fmt.Errorf("the delay %s is negative and counts as none", after)
	}
	return Classification{d: &d}
}

// WithStatusKept returns c as a decision that leaves the conditions of the
// resource as they are. Use it for an error that is expected to end within
// moments, so that the resource does not flap. Traces and logs show the error.
// A zero c stays zero.
func (c Classification) WithStatusKept() Classification {
	if c.d == nil {
		return c
	}
	d := *c.d
	d.keepsStatus = true
	return Classification{d: &d}
}

// Describe returns the verdict for [chain.Exit.Verdict]: the Retry in words, or
// "canceled". The reason is the Rule.
func (c Classification) Describe() (verdict, reason string) {
	if c.Canceled() {
		return verdictCanceled, c.Rule()
	}
	return c.Retry().String(), c.Rule()
}

// String returns a line for logs: "slow after 30s, rule Conflict: the pool is
// busy". The line has no control characters and no known secrets, and at most
// 2,000 bytes.
func (c Classification) String() string {
	if c.IsZero() {
		return c.Retry().String()
	}
	var b strings.Builder
	verdict, rule := c.Describe()
	b.WriteString(verdict)
	if after := c.After(); after > 0 {
		b.WriteString(" after " + after.String())
	}
	b.WriteString(", rule " + text.Line(rule, text.Name))
	// The rule of a row without a name is its code.
	if code := c.Code(); code != "" && code != rule {
		b.WriteString(", code " + text.Line(code, text.Name))
	}
	b.WriteString(": " + c.Message())
	return text.Line(b.String(), text.Quote)
}

// Reason returns one word for machines, which is always valid as the reason of
// a Kubernetes condition. It is the code if that is valid. Otherwise it is the
// code with "_" for each invalid character, and with the prefix "Code" if it
// does not start with a letter. Without a code Reason joins the words of the
// Rule. The last resort is "Failed".
func (c Classification) Reason() string {
	if word := reason.Of(c.Code()); word != "" {
		return word
	}
	return cmp.Or(reason.OfWords(c.Rule()), "Failed")
}
