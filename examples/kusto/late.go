package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Late is the error of a run that timeout was not enough for.
type Late struct {
	Timeout time.Duration
	Waiting []sim.Pass // the last pass of each that is not ready
	Next    string     // what of the script has not happened; empty: all has
}

func (e *Late) Error() string {
	var b strings.Builder
	if len(e.Waiting) == 0 {
		return fmt.Sprintf("all is ready after %s, but not all has happened: %s", e.Timeout, e.Next)
	}
	fmt.Fprintf(&b, "not all is ready after %s:", e.Timeout)
	var groups []*group
	for _, p := range e.Waiting {
		what, why := p.Stopped()
		groups = add(groups, p, what, why, false)
	}
	for _, g := range groups {
		b.WriteString("\n  " + label(g.refs) + some(g.refs) + ": " + g.what)
		if g.why != "" {
			b.WriteString("\n    " + g.why + "\n    " + g.first.Comeback())
		}
	}
	if e.Next != "" {
		b.WriteString("\n  and not all has happened: " + e.Next)
	}
	return b.String()
}

// some names the first few of several resources.
func some(refs []checks.Ref) string {
	const few = 3
	if len(refs) == 1 {
		return ""
	}
	var names []string
	for _, ref := range refs[:min(few, len(refs))] {
		names = append(names, ref.Name)
	}
	more := ""
	if len(refs) > few {
		more = fmt.Sprintf(" and %d more", len(refs)-few)
	}
	return " (" + strings.Join(names, ", ") + more + ")"
}

// late is the error of this run.
func (s *Simulation) late(timeout time.Duration) error {
	e := &Late{Timeout: timeout}
	for _, p := range s.engine.Passes() {
		if p.Outcome.State() != flow.StateReady {
			e.Waiting = append(e.Waiting, p)
		}
	}
	if len(s.script) > 0 {
		next := s.script[0]
		e.Next = fmt.Sprintf("at %s, %s: %s", sim.Stamp(next.at), next.object, next.what)
	}
	return e
}
