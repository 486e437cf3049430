package main

import (
	"io"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// compare prints the requests of two runs, and the requests about databases by
// the state of the cluster.
func compare(out io.Writer, with, without *Simulation) {
	rows := sim.Comparison{Out: out}
	rows.Row("", "with checks", "without checks")
	rows.Requests(with.azure.Tally(), without.azure.Tally())

	a, b := with.azure.Databases(), without.azure.Databases()
	rows.Count("passes over databases", sum(with.passes), sum(without.passes))
	rows.Counts(byState(with.passes), byState(without.passes))
	rows.Count("requests about databases", a.Sent, b.Sent)
	rows.Counts(byState(with.azure.Requests), byState(without.azure.Requests))
	rows.Row("all ready at", with.engine.End(with.Done()), without.engine.End(without.Done()))
}

// byState adds a description to each count. States without a count are zero.
func byState(counts map[string]int) map[string]int {
	described := map[string]int{}
	for _, state := range states {
		described["while the cluster is "+string(state)] = counts[string(state)]
	}
	return described
}

func sum(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}
