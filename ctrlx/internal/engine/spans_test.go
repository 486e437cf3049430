package engine

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

func spanOf(n byte) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{n}, SpanID: trace.SpanID{n}})
}

// A pass links to the pass that wrote the change which woke it.
func TestSpans(t *testing.T) {
	a, b := index.ID{Kind: "N", Name: "a"}, index.ID{Kind: "N", Name: "b"} // b waits for a
	version := func(v string, generation int64) client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: v, Generation: generation}}
	}
	event := func(s *Spans, v string, generation int64) {
		s.changed(a, version("1", 1), version(v, generation))
		s.woken(b, a)
	}
	recorded := func(s *Spans) { s.Begin(a); s.Start(a, spanOf(1)) }
	cases := map[string]struct {
		reason string
		do     func(s *Spans)
		want   trace.SpanContext
	}{
		"Write": {"the pass wrote the version", func(s *Spans) { recorded(s); s.Wrote(a, "2"); s.End(a); event(s, "2", 1) }, spanOf(1)},
		"Early": {"the event comes before the answer", func(s *Spans) { recorded(s); event(s, "2", 1); s.Wrote(a, "2"); s.End(a) }, spanOf(1)},
		"Late": {"the event comes after the start of the next pass", func(s *Spans) {
			recorded(s)
			s.Wrote(a, "2")
			s.End(a)
			s.Begin(a)
			event(s, "2", 1)
			s.Start(a, spanOf(4))
		}, spanOf(1)},
		"LateStart": {"the event comes during the next pass", func(s *Spans) {
			recorded(s)
			s.Wrote(a, "2")
			s.End(a)
			s.Begin(a)
			s.Start(a, spanOf(4))
			event(s, "2", 1)
		}, spanOf(1)},
		"User":       {"a user changed the spec", func(s *Spans) { recorded(s); event(s, "2", 2); s.End(a) }, trace.SpanContext{}},
		"Later":      {"another writer changed the status later", func(s *Spans) { recorded(s); s.Wrote(a, "2"); s.End(a); event(s, "3", 1) }, trace.SpanContext{}},
		"Deleted":    {"the object is gone", func(s *Spans) { recorded(s); s.changed(a, version("1", 1), nil); s.woken(b, a) }, trace.SpanContext{}},
		"Unrecorded": {"the pass that wrote is not recorded", func(s *Spans) { recorded(s); s.End(a); s.Begin(a); s.Wrote(a, "2"); event(s, "2", 1) }, trace.SpanContext{}},
		"Root":       {"the pass wakes its waiters without a write", func(s *Spans) { recorded(s); s.wakesNow(a); s.woken(b, a) }, spanOf(1)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &Spans{}
			tc.do(s)
			s.Begin(b)
			if got := s.Start(b, spanOf(2)); !got.Equal(tc.want) {
				t.Errorf("%s: the span links to %v, want %v", tc.reason, got.SpanID(), tc.want.SpanID())
			}
			s.Begin(b)
			if got := s.Start(b, spanOf(3)); got.IsValid() {
				t.Errorf("%s: the next pass links to %v, too", tc.reason, got.SpanID())
			}
		})
	}
}

// The number of entries is bounded, and unrecorded passes leave none.
func TestSpansBounded(t *testing.T) {
	s := &Spans{}
	id := func(i int) index.ID { return index.ID{Kind: "N", Name: fmt.Sprint(i)} }
	for i := range maxSpans + 10 {
		s.Start(id(i), spanOf(1))
	}
	if n := len(s.of); n != maxSpans || int(s.n.Load()) != n {
		t.Errorf("there are %d entries, and %d are counted", n, s.n.Load())
	}
	for i := range maxSpans + 10 {
		s.Begin(id(i))
	}
	if len(s.of) != 0 || s.n.Load() != 0 {
		t.Errorf("%d entries are left", len(s.of))
	}
	if n := testing.AllocsPerRun(100, func() { s.Begin(id1); s.woken(id1, id1); s.Wrote(id1, "1"); s.End(id1) }); n != 0 {
		t.Errorf("a pass that is not recorded allocates %v times", n)
	}
}

var id1 = index.ID{Kind: "N", Name: "1"}
