package flowtest

import (
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Pass is what came of a pass, as plain data. Times are virtual, since the run began.
type Pass struct {
	At          time.Duration
	State       flow.State
	Point, Link string // where it stopped; empty as in [flow.Outcome]
	Reason      string
	// Ready is the Ready condition of the resource after the pass. A canceled pass leaves it as it was; it is zero before
	// anything was written, and once the resource is gone.
	Ready flow.Condition
	// Since is when Ready got its status, what Kubernetes calls the last transition.
	Since      time.Duration
	WaitingFor []checks.Ref
	// Again is the delay after which the resource is looked at again, if nothing wakes it before; zero: it is not.
	Again time.Duration
	// Requests lists what was asked, in order: "Owner", "Get", "Apply" to begin an operation, "Apply(token)" to poll it,
	// "Delete" likewise, "Resolve(Kind name)", and the names of services ([Service]).
	Requests []string
}

// String is the pass as a line of the timeline.
func (p Pass) String() string {
	at, what, again, requests := p.columns()
	return strings.Join(append(nonEmpty(at, what, again), requests), "  ")
}

func (p *Pass) columns() (at, what, again, requests string) {
	what = p.State.String()
	if p.Point != "" {
		what += " at " + p.Point
	}
	if p.Link != "" {
		what += "/" + p.Link
	}
	switch p.Reason {
	case "", flow.ReasonSucceeded, flow.ReasonInProgress, flow.ReasonDeleting: // the state says so
	default:
		what += ": " + p.Reason
	}
	if p.Again != 0 {
		again = "again in " + short(p.Again)
		for i, ref := range p.WaitingFor {
			again += []string{" or with ", ", "}[min(i, 1)] + ref.String()
		}
	}
	return stamp(p.At), what, again, "[" + strings.Join(p.Requests, " ") + "]"
}

func nonEmpty(texts ...string) (kept []string) {
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return kept
}

// readyOf finds the Ready condition.
func readyOf(conditions []flow.Condition) (c flow.Condition, ok bool) {
	for _, c := range conditions {
		if c.Type == "Ready" {
			return c, true
		}
	}
	return c, false
}
