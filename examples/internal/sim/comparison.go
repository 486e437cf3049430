package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// Comparison prints a table that compares two runs, row by row. Out is
// required.
type Comparison struct{ Out io.Writer }

// Row prints a row: its name, and the value in each run.
func (c Comparison) Row(name, a, b string) { fmt.Fprintf(c.Out, "%-44s %12s %16s\n", name, a, b) }

// Count prints a row of numbers.
func (c Comparison) Count(name string, n, m int) { c.Row(name, strconv.Itoa(n), strconv.Itoa(m)) }

// Requests prints the requests to Azure and the errors among them.
func (c Comparison) Requests(a, b armsim.Tally) {
	c.Count("requests sent to Azure", a.Sent, b.Sent)
	c.Counts(a.Verbs, b.Verbs)
	c.Count("answered by an error", a.Failed, b.Failed)
	c.Counts(a.Failures, b.Failures)
}

// Counts prints an indented row for each key of either map, in alphabetical
// order.
func (c Comparison) Counts(a, b map[string]int) {
	all := map[string]int{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.Count("  "+name, a[name], b[name])
	}
}
