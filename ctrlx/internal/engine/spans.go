package engine

import (
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/utils/lru"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Spans remembers the span of the last pass over an object, and the one of the object
// that woke it. It is empty until a pass is recorded, so it costs one atomic load
// otherwise.
type Spans struct{ of atomic.Pointer[spans] }

// maxSpans is the number of objects that Spans remembers: about 2 MB. Further
// objects displace others.
const maxSpans = 5000

type spans struct {
	last  *lru.Cache // of trace.SpanContext, by index.ID: of the last pass
	cause *lru.Cache // the same: of the last pass over the object that woke this one
}

// Start notes the span of the pass over an object, which is recorded. It returns the
// span of the last pass over the object that woke it; the zero SpanContext: none is
// known.
func (s *Spans) Start(id index.ID, span trace.SpanContext) (cause trace.SpanContext) {
	s.of.CompareAndSwap(nil, &spans{lru.New(maxSpans), lru.New(maxSpans)})
	at := s.of.Load()
	at.last.Add(id, span)
	if c, ok := at.cause.Get(id); ok {
		at.cause.Remove(id)
		cause = c.(trace.SpanContext)
	}
	return cause
}

// woken notes that an object is woken because another one has changed.
func (s *Spans) woken(waiter, by index.ID) {
	if at := s.of.Load(); at != nil {
		if span, ok := at.last.Get(by); ok {
			at.cause.Add(waiter, span)
		}
	}
}
