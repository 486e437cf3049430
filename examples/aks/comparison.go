package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// compare prints what two runs sent to Azure.
func compare(out io.Writer, with, without *Simulation) {
	row := func(name string, a, b string) { fmt.Fprintf(out, "%-44s %12s %16s\n", name, a, b) }
	a, b := with.cloud.Tally(), without.cloud.Tally()
	count := func(name string, n, m int) { row(name, strconv.Itoa(n), strconv.Itoa(m)) }

	row("", "with checks", "without checks")
	count("requests sent to Azure", a.Sent, b.Sent)
	for _, verb := range keys(a.Verbs, b.Verbs) {
		count("  "+verb, a.Verbs[verb], b.Verbs[verb])
	}
	count("answered by an error", a.Failed, b.Failed)
	for _, kind := range keys(a.Failures, b.Failures) {
		count("  "+kind, a.Failures[kind], b.Failures[kind])
	}
	row("all ready at", with.end(), without.end())
}

func keys(a, b map[string]int) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
