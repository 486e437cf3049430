package flow

import "github.com/windlass-go/windlass/classify"

// Condition is a condition of a Kubernetes resource, in the convention of
// kstatus.
type Condition struct {
	Type     string // Ready, Reconciling, Stalled or Finished
	Status   string // True or False
	Reason   string // always valid, see [checks.ValidReason]
	Message  string // one line, at most 32,768 bytes; see [Outcome.Message]
	Severity classify.Severity
}

// Conditions returns the conditions to write to the resource's status. The
// first is Ready. Beside a Ready that is False there is a second one:
// Reconciling (work or a wait is under way) or Stalled (only a change helps).
// An outcome that is final ([Outcome.Final]) has the condition Finished, too.
// Remove the types that are not in the list from the status. Nil: there is
// nothing to write, because the resource is gone, the status stays as it is
// ([Outcome.KeepsStatus]), or the Outcome is zero.
//
//	StateReady                               Ready=True
//	StateFinished                            Ready=True                  Finished=True
//	StateBlocked, StateFailed, Never         Ready=False  Stalled=True   Finished=True
//	StateBlocked, StateFailed, OnChange      Ready=False  Stalled=True
//	StateBlocked, StateFailed, sooner        Ready=False  Reconciling=True
//	StateInProgress, StateDeleting           Ready=False  Reconciling=True
//	StateGone, StateCanceled, StateIgnored   -
func (o Outcome) Conditions() []Condition {
	d := o.get()
	c := Condition{Type: "Ready", Status: "False", Reason: d.reason, Message: o.Message(), Severity: d.severity}
	beside := c
	beside.Status = "True"
	finished := beside
	finished.Type = "Finished"
	switch {
	case o.KeepsStatus(), d.state == StateGone, d.state == StateUnknown:
		return nil
	case d.state == StateReady:
		c.Status = "True"
		return []Condition{c}
	case d.state == StateFinished:
		c.Status = "True"
		return []Condition{c, finished}
	case d.retry == classify.Never:
		beside.Type = "Stalled"
		return []Condition{c, beside, finished}
	case d.retry == classify.OnChange:
		beside.Type = "Stalled"
	default:
		beside.Type = "Reconciling"
	}
	return []Condition{c, beside}
}
