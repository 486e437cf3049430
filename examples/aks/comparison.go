package main

import (
	"io"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// compare prints the requests of two runs to Azure.
func compare(out io.Writer, with, without *Simulation) {
	rows := sim.Comparison{Out: out}
	rows.Row("", "with checks", "without checks")
	rows.Requests(with.cloud.Tally(), without.cloud.Tally())
	rows.Row("all ready at", with.engine.End(with.engine.AllReady()), without.engine.End(without.engine.AllReady()))
}
