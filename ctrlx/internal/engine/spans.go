package engine

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Spans remembers the span of the last pass over an object, and the span of the
// pass that woke an object. It has entries only while passes are recorded, so it
// costs one atomic load otherwise.
type Spans struct {
	n  atomic.Int32 // the number of entries
	mu sync.Mutex
	of map[index.ID]*passSpan
}

// maxSpans is the number of objects that Spans remembers: about 2 MB. Further
// objects displace others.
const maxSpans = 5000

// passSpan is the entry of an object.
type passSpan struct {
	next  trace.SpanContext // of the pass that woke the object
	cause trace.SpanContext // of the pass that caused the last pass
	pass  trace.SpanContext // of the last pass
	open  bool              // the last pass is under way
	wrote string            // the version that the last pass wrote; empty: none
	by    trace.SpanContext // of the pass that wrote the last event; zero: none did

	// before and beforeWrote are pass and wrote of the pass before, whose event may
	// come late.
	before      trace.SpanContext
	beforeWrote string
}

// Begin notes that a pass over an object begins.
func (s *Spans) Begin(id index.ID) {
	s.change(id, func(p *passSpan) {
		next := passSpan{cause: p.next}
		if p.wrote != "" {
			next.before, next.beforeWrote = p.pass, p.wrote
		}
		*p = next
	})
}

// Start notes the span of the pass over an object, which is recorded. It returns
// the span of the pass that caused this one; the zero SpanContext: none is known.
func (s *Spans) Start(id index.ID, span trace.SpanContext) (cause trace.SpanContext) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.entry(id)
	p.pass, p.open = span, true
	return p.cause
}

// Wrote notes the version that the pass over an object wrote.
func (s *Spans) Wrote(id index.ID, version string) {
	s.change(id, func(p *passSpan) { p.wrote = version })
}

// End notes that the pass over an object has ended.
func (s *Spans) End(id index.ID) { s.change(id, func(p *passSpan) { p.open = false }) }

// changed notes an event of an object. The event may come before the answer to the
// write. So an event in which the spec is as before, while the pass is under way,
// counts as the write of the pass: the pass owns the status.
func (s *Spans) changed(id index.ID, old, now client.Object) {
	s.change(id, func(p *passSpan) {
		p.by = trace.SpanContext{}
		switch {
		case now == nil:
		case p.beforeWrote != "" && now.GetResourceVersion() == p.beforeWrote:
			p.by = p.before
		case now.GetResourceVersion() == p.wrote, p.open && old != nil && old.GetGeneration() == now.GetGeneration():
			p.by = p.pass
		}
	})
}

// wakesNow notes that the last pass over an object wakes its waiters itself.
func (s *Spans) wakesNow(id index.ID) { s.change(id, func(p *passSpan) { p.by = p.pass }) }

// woken notes that an object is woken because another one has changed.
func (s *Spans) woken(waiter, by index.ID) {
	if s.n.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.of[by]; p != nil && p.by.IsValid() {
		s.entry(waiter).next = p.by
	}
}

// change changes the entry of an object, if there is one. An entry without a span
// is dropped.
func (s *Spans) change(id index.ID, do func(*passSpan)) {
	if s.n.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.of[id]
	if p == nil {
		return
	}
	do(p)
	if !p.next.IsValid() && !p.cause.IsValid() && !p.pass.IsValid() && !p.before.IsValid() {
		delete(s.of, id)
		s.n.Store(int32(len(s.of)))
	}
}

// entry returns the entry of an object, and makes it if there is none. It is
// called with the lock held.
func (s *Spans) entry(id index.ID) *passSpan {
	p := s.of[id]
	if p != nil {
		return p
	}
	if s.of == nil {
		s.of = map[index.ID]*passSpan{}
	}
	for other := range s.of {
		if len(s.of) < maxSpans {
			break
		}
		delete(s.of, other)
	}
	p = &passSpan{}
	s.of[id] = p
	s.n.Store(int32(len(s.of)))
	return p
}
