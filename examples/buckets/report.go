package main

import (
	"fmt"
	"io"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// record remembers the errors of each bucket, and when it was ready first. It
// is a sim.Watcher around another.
type record struct {
	sim.Watcher
	first map[checks.Ref]sim.Pass // the first pass that failed
	times map[checks.Ref]int      // how many failed
	ready map[checks.Ref]time.Duration
}

func newRecord(w sim.Watcher) *record {
	return &record{
		Watcher: w,
		first:   map[checks.Ref]sim.Pass{},
		times:   map[checks.Ref]int{},
		ready:   map[checks.Ref]time.Duration{},
	}
}

// Passed implements sim.Watcher.
func (r *record) Passed(p sim.Pass) {
	_, ready := r.ready[p.Ref]
	switch {
	case p.Outcome.State() == flow.StateFailed:
		if r.times[p.Ref]++; r.times[p.Ref] == 1 {
			r.first[p.Ref] = p
		}
	case p.Outcome.State() == flow.StateReady && !ready:
		r.ready[p.Ref] = p.At
	}
	r.Watcher.Passed(p)
}

// readyAt says when a resource was ready first.
func (s *Simulation) readyAt(ref checks.Ref) string {
	if at, ready := s.record.ready[ref]; ready {
		return sim.Stamp(at)
	}
	return "not in time"
}

// condition prints the condition Ready after the first error of a bucket, and
// when the bucket is tried again.
func (s *Simulation) condition(out io.Writer, run, bucket string) {
	ref := bucketRef(bucket)
	p := s.record.first[ref]
	for _, c := range p.Outcome.Conditions() {
		if c.Type == "Ready" {
			fmt.Fprintf(out, "  %-14s  %s: %s\n", run, c.Reason, c.Message)
		}
	}
	times := "once"
	if n := s.record.times[ref]; n > 1 {
		times = fmt.Sprintf("%d times", n)
	}
	fmt.Fprintf(out, "  %-14s  at %s; %s; failed %s\n", "", sim.Stamp(p.At), p.Comeback(), times)
}

// compare prints two runs of a story side by side: the first error of each
// bucket, the calls, the operations and the times.
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
		rows.Row(ref.String()+" ready at", a.readyAt(ref), b.readyAt(ref))
	}
}

func sum(counts map[string]int) (n int) {
	for _, m := range counts {
		n += m
	}
	return n
}
