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

// Conditions returns the conditions to write to the resource's status. Of the
// types Ready, Reconciling, Stalled and Finished, remove those that the list
// does not have. Ready comes first. If Ready is False, a second condition is
// Reconciling (the flow retries or polls) or Stalled (only a change helps). A
// final outcome ([Outcome.Final]) adds Finished.
//
// Nil means that there is nothing to write: the resource is gone, its status
// stays as it is ([Outcome.KeepsStatus]), or the Outcome is zero.
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
	second := c
	second.Status = "True"
	finished := second
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
		second.Type = "Stalled"
		return []Condition{c, second, finished}
	case d.retry == classify.OnChange:
		second.Type = "Stalled"
	default:
		second.Type = "Reconciling"
	}
	return []Condition{c, second}
}
