package main

import (
	"io"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// compare prints what two runs sent to Azure.
func compare(out io.Writer, with, without *Simulation) {
	rows := sim.Comparison{Out: out}
	a, b := with.cloud.Tally(), without.cloud.Tally()
	rows.Row("", "with checks", "without checks")
	rows.Count("requests sent to Azure", a.Sent, b.Sent)
	rows.Counts(a.Verbs, b.Verbs)
	rows.Count("answered by an error", a.Failed, b.Failed)
	rows.Counts(a.Failures, b.Failures)
	rows.Row("all ready at", with.end(), without.end())
}
