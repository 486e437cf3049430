package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/windlass-go/windlass/examples/internal/armsim"
)

// Comparison prints what two runs of the same came to, row by row. Out is required.
type Comparison struct{ Out io.Writer }

// Row prints a row: what it is about, and what that was in either run.
func (c Comparison) Row(name, a, b string) { fmt.Fprintf(c.Out, "%-44s %12s %16s\n", name, a, b) }

// Count is a row of numbers.
func (c Comparison) Count(name string, n, m int) { c.Row(name, strconv.Itoa(n), strconv.Itoa(m)) }

// Requests is the rows of what was sent to Azure, and of what that was answered by.
func (c Comparison) Requests(a, b armsim.Tally) {
	c.Count("requests sent to Azure", a.Sent, b.Sent)
	c.Counts(a.Verbs, b.Verbs)
	c.Count("answered by an error", a.Failed, b.Failed)
	c.Counts(a.Failures, b.Failures)
}

// Counts is a row for each key of either map, in order. They are indented, as the parts of the row before.
func (c Comparison) Counts(a, b map[string]int) {
	all := map[string]int{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c.Count("  "+name, a[name], b[name])
	}
}
