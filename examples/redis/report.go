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

// refusal is an error of a resource.
type refusal struct {
	ref   checks.Ref
	first flow.Outcome
	tries int
}

// refusals returns the errors of a run, in the order of their first occurrence.
func (s *Simulation) refusals() (all []*refusal) {
	for _, p := range s.engine.Passes(checks.Ref{}) {
		if p.State != flow.StateFailed {
			continue
		}
		known := find(all, p.Resource, p.Outcome)
		if known == nil {
			known = &refusal{ref: p.Resource, first: p.Outcome}
			all = append(all, known)
		}
		known.tries++
	}
	return all
}

// find returns the refusal of a resource with the message of an outcome, or
// nil.
func find(all []*refusal, ref checks.Ref, o flow.Outcome) *refusal {
	for _, known := range all {
		if known.ref == ref && known.first.Message() == o.Message() {
			return known
		}
	}
	return nil
}

// String describes the classification of the refusal. A nil refusal did not
// happen.
func (r *refusal) String() string {
	if r == nil {
		return "did not happen"
	}
	o := r.first
	after := ""
	if o.After() > 0 {
		after = fmt.Sprintf(", after %s (Retry-After)", o.After())
	}
	times := "once"
	if r.tries > 1 {
		times = fmt.Sprintf("%d times", r.tries)
	}
	return fmt.Sprintf("%s by rule %s, %s%s; refused %s", o.Retry(), o.Rule(), o.Severity(), after, times)
}

// printRefusals prints the classification of each refusal in two runs.
func printRefusals(out io.Writer, with, without *Simulation) {
	fmt.Fprintf(out, "Classification of each refusal:\n\n")
	others := without.refusals()
	for _, r := range with.refusals() {
		fmt.Fprintf(out, "%s  %s: %s\n", r.ref, r.first.Reason(), r.first.Message())
		fmt.Fprintf(out, "  with rows      %s\n", r)
		fmt.Fprintf(out, "  without rows   %s\n", find(others, r.ref, r.first))
	}
	fmt.Fprintln(out)
}

// printVersions prints the classification of a refusal for other API versions.
func printVersions(out io.Writer, s *Simulation) {
	row := preparing[0]
	handle := classify.Compose(chain.New(busy.Link(), preparing.Link()))
	for _, r := range s.refusals() {
		if r.first.Rule() != row.Name {
			continue
		}
		fmt.Fprintf(out, "The row %s is for API versions %s. The same %s in other versions:\n\n",
			row.Name, row.APIVersions, r.first.Reason())
		for _, version := range []string{"2022-06-01", apiVersion, "2023-08-01", "2024-11-01"} {
			c, _ := handle(context.Background(), classify.NewFailure(r.first.Err(), version, time.Time{}, azure.Errors())) // the error is always nil
			asked := ""
			if version == apiVersion {
				asked = " (the version of this run)"
			}
			fmt.Fprintf(out, "  %s  %s by rule %s%s\n", version, c.Retry(), c.Rule(), asked)
		}
		fmt.Fprintln(out)
	}
}

// compare prints the requests of two runs and the times at which resources
// became ready.
func compare(out io.Writer, with, without *Simulation) {
	c := sim.Comparison{Out: out}
	c.Row("", "with rows", "without rows")
	c.Requests(with.cloud.Tally(), without.cloud.Tally())
	for _, p := range with.engine.Last() {
		c.Row(p.Resource.String()+" ready at", with.engine.ReadyAt(p.Resource), without.engine.ReadyAt(p.Resource))
	}
}
