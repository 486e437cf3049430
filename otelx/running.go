package otelx

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

type observer struct {
	options
	tracer  trace.Tracer       // nil: off
	metrics *metrics           // nil: off
	class   func(error) string // classifies the errors of a standalone chain
	report  sync.Once          // guards the report of the first panic
}

// bound is an observer of one link, with the data that is computed once.
type bound struct {
	*observer
	link        *chain.Link
	spanName    string
	spanOptions []trace.SpanStartOption
	position    []attribute.KeyValue // the point and the link
	logValues   []any
}

// contain recovers a panic. Each function that uses a tracer, a meter or a
// logger defers it.
func (o *observer) contain() {
	if v := recover(); v != nil {
		o.report.Do(func() { otel.Handle(fmt.Errorf("otelx: a tracer, a meter or a logger panicked: %v", v)) })
	}
}

// traced reports whether links have spans or events.
func (o *observer) traced(ctx context.Context) bool {
	return o.tracer != nil && trace.SpanFromContext(ctx).IsRecording()
}

func (o *observer) measured(ctx context.Context) (on bool) {
	if o.metrics == nil {
		return false
	}
	defer o.contain()
	return o.metrics.enabled(ctx)
}

func (o *observer) logs(ctx context.Context) bool {
	return !o.noLogs && logr.FromContextOrDiscard(ctx).GetSink() != nil
}

// logged reports whether the logger of ctx shows lines of the verbosity.
func logged(ctx context.Context, verbosity int) bool {
	return logr.FromContextOrDiscard(ctx).V(verbosity).Enabled()
}

// logged is false if log lines are off or the logger panics.
func (o *observer) logged(ctx context.Context, verbosity int) (on bool) {
	if o.noLogs {
		return false
	}
	defer o.contain()
	return logged(ctx, verbosity)
}

// running is the state of an observer in one pass or one call of a standalone
// chain. It is the context of the inner links.
type running struct {
	context.Context
	o         *observer
	outer     *running    // of another observer or an outer pass; nil: none
	link      *chain.Link // nil: a standalone chain
	span      trace.Span  // of the pass; nil: none
	recording bool
	class     func(error) string
	logs      [pass.Pass + 1]bool // by pass.Whole
	logsStop  bool                // whether a change of the verdict is logged
	measured  bool

	mu       sync.Mutex
	open     []*chain.Link // the running links that show notes, innermost last; nil: none shows notes
	openRoom [8]*chain.Link
	notes    []note
}

type note struct {
	link *chain.Link
	text string
}

type runningKey struct{}

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

// reconciler returns "" for a standalone chain.
func (p *running) reconciler() string {
	if p.link == nil {
		return ""
	}
	return p.link.Name
}

// enter records the start of a link that shows notes.
func (p *running) enter(link *chain.Link) {
	if p.open == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = append(p.open, link)
}

// add adds a note to the innermost running link. It drops a note if each
// running link has maxList notes on average.
func (p *running) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.open); len(p.notes) < maxList*n {
		p.notes = append(p.notes, note{p.open[n-1], safe(text, maxText)})
	}
}

// leave records the end of a link, and returns its notes.
func (p *running) leave(link *chain.Link) (texts []string) {
	if p.open == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, l := range slices.Backward(p.open) { // a link on another goroutine may end after an outer one
		if l == link {
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

// shows reports whether the link has an event, a span or log lines.
func (b *bound) shows(p *running) bool {
	return p.logs[pass.Of(b.link)] || b.tracer != nil && (b.linkSpans || pass.Of(b.link) == 0)
}
