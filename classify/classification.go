package classify

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/reason"
)

// Classification says what to do about a failure. It is made by [Table.Link], [Default] and [Failure.As] only; the zero
// Classification is no decision, and a chain that is run by [Compose] never gives it. It never changes: With and
// WithAfter give a new one.
type Classification struct {
	d  *decision
	at *chain.Link // the link that decided, noted by Compose
}

type decision struct {
	retry         Retry
	canceled      bool
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

// Retry is how soon to try again; [Unset] only for the zero Classification.
func (c Classification) Retry() Retry { return c.decision().retry }

// After is how long the service asked to wait, at most an hour; 0 if it did not.
func (c Classification) After() time.Duration { return c.decision().after }

// Code is the service's word for the error, as it came; empty if there was none.
func (c Classification) Code() string { return c.decision().code }

// Rule is the name of the row, the link or the part of [Default] that decided.
func (c Classification) Rule() string { return c.decision().rule }

// Message is the text of the service or of the error, for people. It is empty only for the zero Classification.
func (c Classification) Message() string {
	d := c.decision()
	switch {
	case d.message != "" || c.IsZero():
		return d.message
	case d.status != 0:
		return "the service gave no message (" + statusText(d.status) + ")"
	case d.code != "":
		return "the service gave no message"
	}
	return "the error has no text"
}

// Severity returns the severity of the Retry, and [None] for a canceled pass.
func (c Classification) Severity() Severity {
	if c.Canceled() {
		return None
	}
	return c.Retry().Severity()
}

// Canceled reports whether nothing failed: the pass was canceled by its own context, as at a shutdown. Nothing should be
// written about it. Its Retry is [Fast], for callers that do not ask.
func (c Classification) Canceled() bool { return c.decision().canceled }

// Fault is a mistake that was made while classifying, for logs; usually nil. If a link panicked (a *chain.PanicError),
// returned an error or did not decide, the Retry is [Slow] and Rule names the link. A negative delay changes neither.
func (c Classification) Fault() error { return c.decision().fault }

// With returns c with another Retry, for links that adjust the decision of next. [Unset], an invalid Retry and a zero c
// change nothing.
func (c Classification) With(r Retry) Classification {
	if c.d == nil || !r.decided() {
		return c
	}
	d := *c.d
	d.retry = r
	return Classification{d: &d}
}

// WithAfter returns c with another delay, cut to between 0 (none) and an hour; all else stays. A negative delay is a
// mistake: it counts as none, and [Classification.Fault] says so. A zero c stays zero.
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

// Describe implements [chain.Described]: the verdict is the Retry in words, or "canceled"; the reason is the Rule. Links
// that the classification only passed through did "proceed".
func (c Classification) Describe(link *chain.Link) (verdict, reason string) {
	if link != nil && link.Kind == chain.LinkKind && c.at != nil && c.at != link {
		return chain.VerdictProceed, ""
	}
	if c.Canceled() {
		return "canceled", c.Rule()
	}
	return c.Retry().String(), c.Rule()
}

// String is for logs: "slow after 30s, rule Conflict: the pool is busy".
func (c Classification) String() string {
	if c.IsZero() {
		return c.Retry().String()
	}
	var b strings.Builder
	verdict, rule := c.Describe(nil)
	b.WriteString(verdict)
	if after := c.After(); after > 0 {
		b.WriteString(" after " + after.String())
	}
	b.WriteString(", rule " + rule)
	// A row without a name is known by its code already.
	if code := c.Code(); code != "" && code != rule {
		b.WriteString(", code " + code)
	}
	b.WriteString(": " + c.Message())
	return b.String()
}

// Reason is one word for machines, always valid as the reason of a Kubernetes condition. It is the code if that is valid.
// Otherwise it is the code with "_" for each invalid character, and with the prefix "Code" if it does not start with a
// letter. Without a code it is made of the words of the Rule, and "Failed" is the last resort.
func (c Classification) Reason() string {
	if reason.Valid(c.Code()) {
		return c.Code()
	}
	if repaired := repairedCode(c.Code()); repaired != "" {
		return repaired
	}
	if words := camelCase(c.Rule()); words != "" {
		return words
	}
	return "Failed"
}

// repairedCode makes a valid reason of a code that has at least one letter or digit; of others, "".
func repairedCode(code string) string {
	b := make([]byte, 0, min(len(code), reason.Max)+len("Code"))
	word := false
	for _, r := range code {
		if len(b) == 0 && (r >= 0x80 || !letter(byte(r))) {
			b = append(b, "Code"...)
		}
		switch {
		case r < 0x80 && (letter(byte(r)) || digit(byte(r))):
			word = true
			b = append(b, byte(r))
		case r == ',' || r == ':':
			b = append(b, byte(r))
		default:
			b = append(b, '_')
		}
		if len(b) >= reason.Max {
			break
		}
	}
	if !word {
		return ""
	}
	b = b[:min(len(b), reason.Max)]
	if last := &b[len(b)-1]; *last == ',' || *last == ':' {
		*last = '_'
	}
	return string(b)
}

// camelCase makes a valid reason of the words of a rule: "RedisIsBusy" of "Redis is busy". Without any word it is "".
func camelCase(rule string) string {
	var b []byte
	start := true
	for i := 0; i < len(rule) && len(b) < reason.Max; i++ {
		c := rule[i]
		if !letter(c) && !digit(c) {
			start = true
			continue
		}
		if len(b) == 0 && digit(c) {
			b = append(b, "Rule"...)
		}
		if start && 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		start = false
		b = append(b, c)
	}
	return string(b)
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
