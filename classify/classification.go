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
// and [Failure.As] make one. The zero Classification is no decision. A handler
// of Compose never returns it. A Classification never changes: its With methods
// return a new one.
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

// zero is the decision of the zero Classification.
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

// After returns the delay before the retry; 0 means none. It is the delay of the
// service, at most an hour, or the delay of the row ([Rule.After]), whichever is
// longer. A link can replace it ([Classification.WithAfter]).
func (c Classification) After() time.Duration { return c.decision().after }

// Code returns the error code of the service, cut to 1,024 bytes; empty for
// none. Rules compare the whole code ([Failure.Code]).
func (c Classification) Code() string { return c.decision().code }

// Rule returns the name of the row or the link that decided.
func (c Classification) Rule() string { return c.decision().rule }

// Message returns the raw text of the service or of the error. It may have
// several lines and contain secrets: show [Classification.String] instead. It
// is empty only for the zero Classification.
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

// Canceled reports whether the pass was canceled by its own context, as at a
// shutdown. Nothing failed then, and callers should not report it. Its Retry is
// [Fast], for callers that do not check Canceled.
func (c Classification) Canceled() bool { return c.decision().canceled }

// KeepsStatus reports whether the engine leaves the conditions of the resource
// unchanged. It does if a row with KeepStatus decided, or if a link called
// [Classification.WithStatusKept].
func (c Classification) KeepsStatus() bool { return c.decision().keepsStatus }

// Fault returns the error of a link or a rule, for logs; usually nil. If a link
// panicked (a *chain.PanicError), returned an error or did not decide, the
// Retry is [Slow] and Rule names the link. A negative delay is a Fault, too. It
// changes neither Retry nor Rule.
func (c Classification) Fault() error { return c.decision().fault }

// With returns c with another Retry, for links that adjust the decision of
// next. It returns c unchanged if r is [Unset] or invalid, or if c is zero.
func (c Classification) With(r Retry) Classification {
	if c.d == nil || !r.decided() {
		return c
	}
	d := *c.d
	d.retry = r
	return Classification{d: &d}
}

// WithAfter returns c with another delay; 0 means none. A negative delay counts
// as none, and [Classification.Fault] reports it. A zero c stays zero.
func (c Classification) WithAfter(after time.Duration) Classification {
	if c.d == nil {
		return c
	}
	d := *c.d
	d.after = max(after, 0)
	if after < 0 && d.fault == nil {
		d.fault = fmt.Errorf("the delay %s is negative and counts as none", after)
	}
	return Classification{d: &d}
}

// WithStatusKept returns c with the instruction to leave the conditions of the
// resource unchanged. Use it for an error that ends within moments, so that the
// conditions do not flap. Traces and logs still show the error. A zero c stays
// zero.
func (c Classification) WithStatusKept() Classification {
	if c.d == nil {
		return c
	}
	d := *c.d
	d.keepsStatus = true
	return Classification{d: &d}
}

const verdictCanceled = "canceled"

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
	// A row without a name is named after its code.
	if code := c.Code(); code != "" && code != rule {
		b.WriteString(", code " + text.Line(code, text.Name))
	}
	b.WriteString(": " + c.Message())
	return text.Line(b.String(), text.Quote)
}

// Reason returns one word that is always valid as the reason of a Kubernetes
// condition. It is the code. Each invalid character of the code becomes "_",
// and a code that does not start with a letter gets the prefix "Code". If the
// code has no letters and digits, Reason joins the words of the Rule. If those
// have none either, it returns "Failed".
func (c Classification) Reason() string {
	if word := reason.Of(c.Code()); word != "" {
		return word
	}
	return cmp.Or(reason.OfWords(c.Rule()), "Failed")
}
