package otelx

import (
	"context"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

// running is the state of an observer in a running pass, or in a running call
// of a chain that stands alone. It is the context of the inner links.
type running struct {
	context.Context
	o         *observer
	outer     *running            // of another observer, or of a pass around this one; nil: none
	link      *chain.Link         // the link of the pass; nil: a chain that stands alone
	span      trace.Span          // of the pass; nil: none
	recording bool                // whether span records
	class     func(error) string  // classifies an error
	logs      [pass.Pass + 1]bool // whether links, points and the pass are logged
	stops     bool                // whether a pass that is blocked or fails is logged
	measured  bool                // whether there are metrics

	mu    sync.Mutex
	open  []*chain.Link // the links that show notes and are running, innermost last; nil: none shows notes
	few   [8]*chain.Link
	notes []note // of the running links
}

// note is a text of a running link.
type note struct {
	link *chain.Link
	text string
}

// runningKey is the context key of a *running.
type runningKey struct{}

// Value implements context.Context.
func (p *running) Value(key any) any {
	if _, ok := key.(runningKey); ok {
		return p
	}
	return p.Context.Value(key)
}

// runningIn returns the innermost state of any observer; nil: none.
func runningIn(ctx context.Context) *running {
	p, _ := ctx.Value(runningKey{}).(*running)
	return p
}

// of returns the state of observer o; nil: none.
func (p *running) of(o *observer) *running {
	for p != nil && p.o != o {
		p = p.outer
	}
	return p
}

// reconciler returns the name of the reconciler whose pass it is; empty without
// a pass.
func (p *running) reconciler() string {
	if p.link == nil {
		return ""
	}
	return p.link.Name
}

// listen returns the context of p in which p gets the notes of links.
func (p *running) listen() context.Context {
	p.open = p.few[:0]
	return chain.WithNotes(p, p.add)
}

// enter opens a link that shows its notes.
func (p *running) enter(link *chain.Link) {
	if p.open == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, link)
}

// add adds a note to the innermost running link. A link that makes many notes
// shows the first ones.
func (p *running) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.open); n > 0 && len(p.notes) < maxList*n {
		p.notes = append(p.notes, note{p.open[n-1], safe(text, maxText)})
	}
}

// leave closes a link and returns its notes.
func (p *running) leave(link *chain.Link) (texts []string) {
	if p.open == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.open) - 1; i >= 0; i-- { // a link on its own goroutine may leave late
		if p.open[i] == link {
			p.open = slices.Delete(p.open, i, i+1)
			break
		}
	}
	p.notes = slices.DeleteFunc(p.notes, func(n note) bool {
		if n.link == link {
			texts = append(texts, n.text)
		}
		return n.link == link
	})
	return texts
}

// shows reports whether a link has an event, a span or log lines in p.
func (b *bound) shows(p *running) bool {
	return p.logs[pass.Of(b.link)] || b.tracer != nil && (b.linkSpans || pass.Of(b.link) == 0)
}
