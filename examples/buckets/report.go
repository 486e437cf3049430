package main

import (
	"fmt"
	"io"

	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// failures returns the failed passes of a bucket.
func (s *Simulation) failures(bucket string) (failed []sim.Pass) {
	for _, p := range s.engine.Passes(bucketRef(bucket)) {
		if p.State == flow.StateFailed {
			failed = append(failed, p)
		}
	}
	return failed
}

// condition prints the condition Ready after the first error of a bucket, and
// the delay of the next pass.
func (s *Simulation) condition(out io.Writer, run, bucket string) {
	failed := s.failures(bucket)
	p, times := failed[0], "once"
	if n := len(failed); n > 1 {
		times = fmt.Sprintf("%d times", n)
	}
	fmt.Fprintf(out, "  %-14s  %s: %s\n", run, p.Ready.Reason, p.Ready.Message)
	fmt.Fprintf(out, "  %-14s  at %s; again in %s (%s, rule %s); failed %s\n", "",
		flowtest.Stamp(p.At), p.Again, p.Outcome.Retry(), p.Rule, times)
}

// compare prints two runs of a story: the first error of each bucket, the
// calls, the operations and the times.
func compare(out io.Writer, story story, a, b *Simulation, nameA, nameB string) {
	for _, bucket := range story.buckets {
		fmt.Fprintln(out, bucketRef(bucket))
		a.condition(out, nameA, bucket)
		b.condition(out, nameB, bucket)
	}
	fmt.Fprintln(out)

	rows := sim.Comparison{Out: out}
	x, y := a.cloud.Tally(), b.cloud.Tally()
	rows.Row("", nameA, nameB)
	rows.Count("requests sent to the service", x.Sent, y.Sent)
	rows.Counts(x.Methods, y.Methods)
	rows.Count("answered by an error", sum(x.Failures), sum(y.Failures))
	rows.Counts(x.Failures, y.Failures)
	rows.Count("operations started", sum(x.Started), sum(y.Started))
	rows.Counts(x.Started, y.Started)
	for _, bucket := range story.buckets {
		ref := bucketRef(bucket)
		rows.Row(ref.String()+" ready at", a.engine.ReadyAt(ref), b.engine.ReadyAt(ref))
	}
}

func sum(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}
