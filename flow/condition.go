package flow

import (
	"fmt"
	"unicode/utf8"

	"github.com/windlass-go/windlass/classify"
)

// Condition is a condition of a Kubernetes resource, in the convention of
// kstatus.
type Condition struct {
	Type     string // Ready, Reconciling or Stalled
	Status   string // True or False
	Reason   string // always valid, see [checks.ValidReason]
	Message  string // at most 32,768 bytes
	Severity classify.Severity
}

// maxMessage is the longest message of a metav1.Condition.
const maxMessage = 32768

// Conditions returns the conditions to write to the resource's status. The
// first is Ready. Beside a Ready that is False there is a second one:
// Reconciling (work or a wait is under way) or Stalled (only a change helps).
// Remove the types that are not in the list from the status. Nil: there is
// nothing to write, because the resource is gone, the pass was canceled, or the
// Outcome is zero.
//
//	StateReady                               Ready=True
//	StateBlocked, StateFailed, OnChange      Ready=False  Stalled=True
//	StateBlocked, StateFailed, sooner        Ready=False  Reconciling=True
//	StateInProgress, StateDeleting           Ready=False  Reconciling=True
//	StateGone, StateCanceled                 -
func (o Outcome) Conditions() []Condition {
	d := o.get()
	c := Condition{Type: "Ready", Status: "False", Reason: d.reason, Message: cutAt(d.message, maxMessage), Severity: d.severity}
	switch d.state {
	case StateReady:
		c.Status = "True"
		return []Condition{c}
	case StateGone, StateCanceled, StateUnknown:
		return nil
	}
	why := c
	why.Type, why.Status = "Reconciling", "True"
	if (d.state == StateBlocked || d.state == StateFailed) && d.retry == classify.OnChange {
		why.Type = "Stalled"
	}
	return []Condition{c, why}
}

// maxQuoted is the longest error text that a message of the flow repeats.
const maxQuoted = 2000

// bounded shortens a text to the length that a message of the flow repeats.
func bounded(text string) string { return cutAt(text, maxQuoted) }

// cutAt shortens a message to a length, and marks the cut.
func cutAt(message string, most int) string {
	if len(message) <= most {
		return message
	}
	mark := fmt.Sprintf("... (cut, %d bytes in all)", len(message))
	end := most - len(mark)
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + mark
}
