package flow

import (
	"fmt"
	"unicode/utf8"

	"github.com/windlass-go/windlass/classify"
)

// Condition is a condition as Kubernetes resources have it, in the convention of kstatus.
type Condition struct {
	Type     string // Ready, Reconciling or Stalled
	Status   string // True or False
	Reason   string // always valid, see [checks.ValidReason]
	Message  string // at most 32,768 bytes
	Severity classify.Severity
}

// maxMessage is what metav1.Condition allows.
const maxMessage = 32768

// Conditions is what to write to the resource's status: Ready, and with a Ready that is False either Reconciling (it is
// worked or waited on) or Stalled (only a change helps). A type that is not in the list should not be in the status
// either. Nil: there is nothing to write, since the resource is gone or the pass was canceled.
//
//	StateReady                               Ready=True
//	StateBlocked, StateFailed, OnChange      Ready=False  Stalled=True
//	StateBlocked, StateFailed, sooner        Ready=False  Reconciling=True
//	StateInProgress, StateDeleting           Ready=False  Reconciling=True
//	StateGone, StateCanceled                 -
func (o Outcome) Conditions() []Condition {
	d := o.get()
	c := Condition{Type: "Ready", Status: "False", Reason: d.reason, Message: cut(d.message), Severity: d.severity}
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

// cut shortens a message to what Kubernetes allows, and says so.
func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	mark := fmt.Sprintf("... (cut, %d bytes in all)", len(message))
	end := maxMessage - len(mark)
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + mark
}
