package engine

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

func spanOf(n byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{n}, SpanID: trace.SpanID{n}})
}

// A pass links once to the last pass over the object that woke it.
func TestSpans(t *testing.T) {
	a, b := index.ID{Kind: "N", Name: "a"}, index.ID{Kind: "N", Name: "b"} // b waits for a
	s := &Spans{}
	if n := testing.AllocsPerRun(100, func() { s.woken(b, a) }); n != 0 {
		t.Errorf("without a recorded pass, a wake-up allocates %v times", n)
	}
	want := func(reason string, span byte, cause trace.SpanContext) {
		t.Helper()
		if got := s.Start(b, spanOf(span)); !got.Equal(cause) {
			t.Errorf("%s: the span links to %v, want %v", reason, got.SpanID(), cause.SpanID())
		}
	}
	s.Start(a, spanOf(1))
	want("nothing woke it", 2, trace.SpanContext{})
	s.woken(b, a)
	s.Start(a, spanOf(3))
	want("the pass that ended before the wake-up", 4, spanOf(1))
	want("the next pass has another cause", 5, trace.SpanContext{})
	s.woken(b, index.ID{Kind: "N", Name: "foreign"})
	want("no pass over the awaited object is recorded", 6, trace.SpanContext{})
	for i := range maxSpans + 10 {
		s.Start(index.ID{Kind: "N", Name: fmt.Sprint(i)}, spanOf(1))
	}
	if n := s.of.Load().last.Len(); n != maxSpans {
		t.Errorf("there are %d entries, want %d", n, maxSpans)
	}
}
