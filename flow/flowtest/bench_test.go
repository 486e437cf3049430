package flowtest_test

import (
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// BenchmarkRun measures runs of the world of the first example.
func BenchmarkRun(b *testing.B) {
	passes := 0
	for b.Loop() {
		w := &flowtest.World[*Pool]{Resource: &Pool{}, Extensions: poolExtensions}
		w.Owner.From(0, creating).From(10*time.Second, ready)
		w.Get.From(0, flow.Observation{Presence: checks.Absent})
		w.Apply.Fail(conflict, conflict).Then(flow.InProgress("op-1", 20*time.Second), flow.Done())
		passes += len(w.Run(b).Passes)
	}
	b.ReportMetric(float64(passes)/b.Elapsed().Seconds(), "passes/s")
}

// BenchmarkLongRun measures one run with many passes.
func BenchmarkLongRun(b *testing.B) {
	w := &flowtest.World[*Pool]{Resource: &Pool{}}
	w.Apply.From(0, flow.InProgress("op", time.Second))
	w.RunPasses(b, max(b.N, 1))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "passes/s")
}
