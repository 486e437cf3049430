package flowtest

import (
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Pass is the result of a pass, as plain data. Times are virtual, since the
// beginning of the run.
type Pass struct {
	Resource    checks.Ref // zero in a World, which has one resource
	At          time.Duration
	State       flow.State
	Point, Link string // where the pass stopped; empty as in [flow.Outcome]
	Reason      string
	Retry       classify.Retry // how soon a block or an error is retried
	Rule        string         // the rule that classified the error; empty without an error
	// Final reports that no pass follows until the spec changes or the resource
	// is deleted.
	Final bool
	Note  string // the note of [Engine.Add]; empty in a World
	// Ready is the Ready condition of the resource after the pass. A pass that
	// keeps the status ([flow.Outcome.KeepsStatus]) does not change it. It is
	// zero before the first write, and after the resource is gone.
	Ready flow.Condition
	// Since is the time at which the status of Ready changed last, which
	// Kubernetes calls lastTransitionTime.
	Since      time.Duration
	WaitingFor []checks.Ref
	// WaitsForSelf reports that a change of the status requeues the resource.
	WaitsForSelf bool
	// Following lists the objects and sets whose changes requeue the resource,
	// even if it is Ready. The timeline does not show them.
	Following []checks.Ref
	// Again is the delay after which the resource is requeued, if no event
	// wakes it earlier. Zero means that it is not requeued.
	Again time.Duration
	// Requests lists the requests in order: "Owner", "Get", "Apply" to begin an
	// operation, "Apply(token)" to poll it, "Delete" likewise, "Resolve(Kind
	// name)", "List(every Kind)", and the names of services ([Service]). It is empty outside a
	// World.
	Requests []string
}

// String returns the pass as a line of the timeline.
func (p Pass) String() string {
	var parts []string
	for _, part := range []string{Stamp(p.At), object(p.Resource), p.what(), p.again(), p.requests()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}

func object(ref checks.Ref) string {
	if ref == (checks.Ref{}) {
		return ""
	}
	return ref.String()
}

func (p *Pass) what() string {
	what := p.State.String()
	if p.Point != "" {
		what += " at " + p.Point
	}
	if p.Link != "" {
		what += " by " + p.Link
	}
	switch p.Reason {
	case "", flow.ReasonSucceeded, flow.ReasonInProgress, flow.ReasonDeleting: // the state has the same meaning
	default:
		what += ": " + p.Reason
	}
	if p.Note != "" {
		what += "; " + p.Note
	}
	return what
}

func (p *Pass) again() string {
	var events []string
	for _, ref := range p.WaitingFor {
		events = append(events, ref.String())
	}
	if p.WaitsForSelf {
		events = append(events, "its status")
	}
	with := strings.Join(events, ", ")
	switch {
	case p.Final || p.Again == 0 && with == "":
		return ""
	case with == "":
		return "again in " + short(p.Again)
	case p.Again == 0:
		return "again with " + with
	}
	return "again in " + short(p.Again) + " or with " + with
}

// requests returns the requests in brackets, or "" outside of a World, which
// alone records them.
func (p *Pass) requests() string {
	if p.Requests == nil && p.Resource != (checks.Ref{}) {
		return ""
	}
	return "[" + strings.Join(p.Requests, " ") + "]"
}

// readyOf returns the Ready condition.
func readyOf(conditions []flow.Condition) (c flow.Condition, ok bool) {
	for _, c := range conditions {
		if c.Type == "Ready" {
			return c, true
		}
	}
	return c, false
}
