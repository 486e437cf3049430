package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// record remembers what each resource was refused with, and when it was ready. It is a sim.Watcher in front of another.
type record struct {
	sim.Watcher
	refusals []*refusal // in the order in which they first came
	ready    map[checks.Ref]time.Duration
}

// refusal is an error of a resource.
type refusal struct {
	ref   checks.Ref
	first flow.Outcome
	tries int
}

// Passed implements sim.Watcher.
func (r *record) Passed(p sim.Pass) {
	switch p.Outcome.State() {
	case flow.StateFailed:
		r.failed(p)
	case flow.StateReady:
		if r.ready == nil {
			r.ready = map[checks.Ref]time.Duration{}
		}
		if _, known := r.ready[p.Ref]; !known {
			r.ready[p.Ref] = p.At
		}
	}
	r.Watcher.Passed(p)
}

func (r *record) failed(p sim.Pass) {
	known := r.find(p.Ref, p.Outcome)
	if known == nil {
		known = &refusal{ref: p.Ref, first: p.Outcome}
		r.refusals = append(r.refusals, known)
	}
	known.tries++
}

// find is the refusal of a resource with the words of an outcome; nil if there was none.
func (r *record) find(ref checks.Ref, o flow.Outcome) *refusal {
	for _, known := range r.refusals {
		if known.ref == ref && known.first.Message() == o.Message() {
			return known
		}
	}
	return nil
}

// String is what the refusal was taken for.
func (r *refusal) String() string {
	if r == nil {
		return "did not happen"
	}
	o := r.first
	after := ""
	if o.After() > 0 {
		after = fmt.Sprintf(", but after %s, as Azure said", o.After())
	}
	times := "once"
	if r.tries > 1 {
		times = fmt.Sprintf("%d times", r.tries)
	}
	return fmt.Sprintf("%s by rule %s, %s%s; refused %s", o.Retry(), o.Rule(), o.Severity(), after, times)
}

// printRefusals prints what each refusal of two runs was taken for.
func printRefusals(out io.Writer, with, without *Simulation) {
	fmt.Fprintf(out, "What each refusal was taken for:\n\n")
	for _, r := range with.record.refusals {
		fmt.Fprintf(out, "%s  %s: %s\n", r.ref, r.first.Reason(), r.first.Message())
		fmt.Fprintf(out, "  with the rows   %s\n", r)
		fmt.Fprintf(out, "  without them    %s\n", without.record.find(r.ref, r.first))
	}
	fmt.Fprintln(out)
}

// printVersions prints what the row for API versions would make of the refusal that it is for, if others had been asked.
func printVersions(out io.Writer, s *Simulation) {
	row := preparing[0]
	handle := classify.Compose(chain.New(busy.Link(), preparing.Link()))
	for _, r := range s.record.refusals {
		if r.first.Rule() != row.Name {
			continue
		}
		fmt.Fprintf(out, "The row %s is for API versions %s. With others, the same %s would have been:\n\n",
			row.Name, row.APIVersions, r.first.Reason())
		for _, version := range []string{"2022-06-01", apiVersion, "2023-08-01", "2024-11-01"} {
			c, _ := handle(context.Background(), classify.NewFailure(r.first.Err(), version, time.Time{}, azure.Errors())) // gives no error
			asked := ""
			if version == apiVersion {
				asked = ", and this was asked"
			}
			fmt.Fprintf(out, "  %s  %s by rule %s%s\n", version, c.Retry(), c.Rule(), asked)
		}
		fmt.Fprintln(out)
	}
}

// compare prints what two runs sent to Azure, and when each resource was ready.
func compare(out io.Writer, with, without *Simulation) {
	c := sim.Comparison{Out: out}
	c.Row("", "with rows", "without them")
	c.Requests(with.cloud.Tally(), without.cloud.Tally())
	for _, p := range with.engine.Passes() {
		c.Row(p.Ref.String()+" ready at", with.readyAt(p.Ref), without.readyAt(p.Ref))
	}
}

// readyAt is when a resource was ready first, for a person.
func (s *Simulation) readyAt(ref checks.Ref) string {
	at, ready := s.record.ready[ref]
	if !ready {
		return "not in time"
	}
	return sim.Stamp(at)
}
