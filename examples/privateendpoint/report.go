package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// history remembers what stood in the status of each resource, as an operator would have seen it. It is a sim.Watcher
// in front of another one.
type history struct {
	sim.Watcher
	order []checks.Ref
	seen  map[checks.Ref][]status
}

// status is what stood in the status from a time on.
type status struct {
	from       time.Duration
	conditions []flow.Condition
}

// Passed implements sim.Watcher.
func (h *history) Passed(p sim.Pass) {
	if h.seen == nil {
		h.seen = map[checks.Ref][]status{}
	}
	all := h.seen[p.Ref]
	if all == nil {
		h.order = append(h.order, p.Ref)
	}
	// An operator writes a status only if it has changed.
	if c := p.Outcome.Conditions(); len(all) == 0 || !slices.Equal(all[len(all)-1].conditions, c) {
		h.seen[p.Ref] = append(all, status{p.At, c})
	}
	h.Watcher.Passed(p)
}

// print prints it as a table.
func (h *history) print(out io.Writer) {
	fmt.Fprintf(out, "What stood in the status of each endpoint, since when:\n\n")
	for _, ref := range h.order {
		name := ref.Name
		for _, s := range h.seen[ref] {
			ready, also := s.conditions[0], ""
			for _, c := range s.conditions[1:] {
				also += c.Type + "=" + c.Status
			}
			line := fmt.Sprintf("%-8s %5s  Ready=%-5s  %-16s  %-7s  %-20s  %s",
				name, sim.Stamp(s.from), ready.Status, also, ready.Severity, ready.Reason, ready.Message)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
			name = ""
		}
	}
	fmt.Fprintln(out)
}

// printRequests prints what two runs sent to Azure for each endpoint.
func printRequests(out io.Writer, with, without *Simulation) {
	fmt.Fprintf(out, "What was sent to Azure. An endpoint that waits is looked at and not written again, as one without Get would be:\n\n")
	fmt.Fprintf(out, "%-8s %7s %5s %5s %5s %17s\n", "", "passes", "GET", "PUT", "POLL", "PUT without Get")
	for _, p := range with.engine.Passes() {
		a, b := with.requests(p.Ref.Name), without.requests(p.Ref.Name)
		fmt.Fprintf(out, "%-8s %7d %5d %5d %5d %17d\n", p.Ref.Name, p.Try, a.Verbs["GET"], a.Verbs["PUT"], a.Verbs["POLL"], b.Verbs["PUT"])
	}
}
