package main

import (
	"io"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// compare prints what two runs sent to Azure, and what they asked about databases while the cluster was in which state.
func compare(out io.Writer, with, without *Simulation) {
	rows := sim.Comparison{Out: out}
	rows.Row("", "with checks", "without checks")
	rows.Requests(with.azure.Tally(), without.azure.Tally())

	a, b := with.azure.Databases(), without.azure.Databases()
	rows.Count("passes over databases", sum(with.passes), sum(without.passes))
	rows.Counts(byState(with.passes), byState(without.passes))
	rows.Count("requests about databases", a.Sent, b.Sent)
	rows.Counts(byState(with.azure.Asked), byState(without.azure.Asked))
	rows.Row("all ready at", with.engine.End(with.Done()), without.engine.End(without.Done()))
}

// byState says of counts what they are about, also of those that are zero.
func byState(counts map[string]int) map[string]int {
	said := map[string]int{}
	for _, state := range states {
		said["while the cluster is "+string(state)] = counts[string(state)]
	}
	return said
}

func sum(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}
