package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// status holds the conditions of an endpoint from a time.
type status struct {
	from       time.Duration
	conditions []flow.Condition
}

// history returns the conditions of an endpoint over time.
func (s *Simulation) history(ref checks.Ref) (all []status) {
	for _, p := range s.engine.Passes(ref) {
		// An operator writes a status only after a change.
		if c := p.Outcome.Conditions(); len(all) == 0 || !slices.Equal(all[len(all)-1].conditions, c) {
			all = append(all, status{p.At, c})
		}
	}
	return all
}

// printHistory prints the conditions of each endpoint as a table.
func printHistory(out io.Writer, s *Simulation) {
	fmt.Fprintf(out, "Conditions of each endpoint, with the time since when:\n\n")
	for _, p := range s.engine.Last() {
		name := p.Resource.Name
		for _, s := range s.history(p.Resource) {
			ready, also := s.conditions[0], ""
			for _, c := range s.conditions[1:] {
				also += c.Type + "=" + c.Status
			}
			line := fmt.Sprintf("%-8s %5s  Ready=%-5s  %-16s  %-7s  %-20s  %s",
				name, flowtest.Stamp(s.from), ready.Status, also, ready.Severity, ready.Reason, ready.Message)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
			name = ""
		}
	}
	fmt.Fprintln(out)
}

// printRequests prints the requests of two runs to Azure for each endpoint.
func printRequests(out io.Writer, with, without *Simulation) {
	fmt.Fprintf(out, "Requests to Azure. A waiting endpoint is read but not written again. Without Get it would be:\n\n")
	fmt.Fprintf(out, "%-8s %7s %5s %5s %5s %17s\n", "", "passes", "GET", "PUT", "POLL", "PUT without Get")
	for _, p := range with.engine.Last() {
		a, b := with.requests(p.Resource.Name), without.requests(p.Resource.Name)
		fmt.Fprintf(out, "%-8s %7d %5d %5d %5d %17d\n", p.Resource.Name, len(with.engine.Passes(p.Resource)), a.Verbs["GET"], a.Verbs["PUT"], a.Verbs["POLL"], b.Verbs["PUT"])
	}
}
