package otelx

import (
	"strconv"
	"testing"

	"github.com/windlass-go/windlass/internal/testing/otelfake"
)

// The series in memory are bounded, and each series is made once.
func TestSeriesInMemory(t *testing.T) {
	m := newMetrics((&otelfake.Meters{}).Meter(""))
	for n := range maxSeries + 10 {
		key := seriesKey{link: strconv.Itoa(n), verdict: "block", reason: "Full"}
		first, again := m.seriesOf(key), m.seriesOf(key)
		if stored := n < maxSeries; first == nil || again == nil || (first == again) != stored {
			t.Fatalf("series %d: the first call returns %p and the second %p, want the same: %t", n, first, again, stored)
		}
	}
	if len(m.series) != maxSeries {
		t.Errorf("%d series are in memory, want %d", len(m.series), maxSeries)
	}
}
