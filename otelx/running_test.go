package otelx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/otelx"
)

// A note belongs to the innermost running link, from before and after its inner
// links. Ten notes are kept for each running link, so two keep twenty.
func TestNotes(t *testing.T) {
	rec := &recording{}
	ctx, s := rec.Tracer("").Start(t.Context(), "request")
	note := func(ctx context.Context, texts ...string) {
		for _, text := range texts {
			chain.Note(ctx, text)
		}
	}
	outer := chain.Named("outer", func(next chain.Handler[bool, int]) chain.Handler[bool, int] {
		return func(ctx context.Context, _ bool) (int, error) {
			note(ctx, "before")
			defer note(ctx, "after")
			return next(ctx, true)
		}
	})
	many := strings.Fields(strings.Repeat("note ", 25))
	inner := chain.Named("inner", func(next chain.Handler[bool, int]) chain.Handler[bool, int] {
		return func(ctx context.Context, _ bool) (int, error) {
			note(ctx, many...)
			return next(ctx, true)
		}
	})
	var late context.Context
	_, _ = chain.New(outer, inner).Observe(rec.observer()).Then(func(ctx context.Context, _ bool) (int, error) {
		late = ctx
		return 0, nil
	})(ctx, true)
	note(late, "after the end") // is lost
	var got []string
	for _, e := range s.(*span).Events {
		got = append(got, e.Attributes["windlass.notes"])
	}
	mustEqual(t, "the notes of inner and outer", []string{`["` + strings.Join(many[:19], `","`) + `"]`, `["before","after"]`}, got)
}

// A note that no link makes belongs to the span of its pass, or of its point if
// points have spans.
func TestNotesOutsideOfLinks(t *testing.T) {
	noting := operations
	noting.Apply = func(ctx context.Context, _ *flow.Request[*pool]) (flow.Progress, error) {
		chain.Note(ctx, "of the operation")
		return flow.Done(), nil
	}
	for name, opts := range map[string][]otelx.Option{"reconcile Pool": nil, "Apply": {otelx.WithLinkSpans()}} {
		rec := &recording{}
		flow.New("Pool", noting, flow.Extensions[*pool]{}, flow.WithObserver(rec.observer(opts...))).Reconcile(t.Context(), &pool{"fine"})
		got := attrs{} // notes by the name of the span
		for _, s := range rec.Spans {
			if notes := s.Attributes["windlass.notes"]; notes != "" {
				got[s.Name] = notes
			}
		}
		mustEqual(t, name+" has the note", attrs{name: `["of the operation"]`}, got)
	}
}

// A link on its own goroutine keeps its notes, although the outer link and another
// call of the same link ended before.
func TestNotesOfGoroutines(t *testing.T) {
	started, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	inner := chain.Named("inner", func(chain.Handler[bool, int]) chain.Handler[bool, int] {
		return func(ctx context.Context, waits bool) (int, error) {
			if waits {
				close(started)
				<-release
			}
			chain.Note(ctx, "late")
			return 1, nil
		}
	})
	outer := chain.Named("outer", func(next chain.Handler[bool, int]) chain.Handler[bool, int] {
		return func(ctx context.Context, _ bool) (int, error) {
			go func() {
				defer close(ended)
				_, _ = next(ctx, true)
			}()
			<-started
			return next(ctx, false)
		}
	})
	rec := &recording{}
	ctx, s := rec.Tracer("").Start(t.Context(), "request")
	h := chain.New(outer, inner).Observe(rec.observer(otelx.WithMeterProvider(nil)))
	_, _ = h.Then(func(context.Context, bool) (int, error) { return 0, nil })(ctx, false)
	close(release)
	<-ended
	var got []string
	for _, e := range s.(*span).Events {
		got = append(got, e.Attributes["windlass.link"]+" "+e.Attributes["windlass.notes"])
	}
	mustEqual(t, "links in the order of their ends, with notes", []string{`inner ["late"]`, "outer ", `inner ["late"]`}, got)
}

// counted is a context that counts the calls of Value.
type counted struct {
	context.Context
	n *int
}

func (c counted) Value(key any) any {
	*c.n++
	return c.Context.Value(key)
}

// derives is an observer that returns a context of its own for each link.
type derives struct{ n *int }

func (derives) Enabled(context.Context) bool                               { return true }
func (d derives) Enter(ctx context.Context, _ *chain.Link) context.Context { return counted{ctx, d.n} }
func (derives) Exit(context.Context, *chain.Link, chain.Exit)              {}

// manyLinks returns a chain of n links.
func manyLinks[Req, Res any](n int, link chain.Middleware[Req, Res]) (c chain.Chain[Req, Res]) {
	for i := range n {
		c = c.Append(chain.Named(fmt.Sprint("link", i), link))
	}
	return c
}

// The spans of links nest, but a link finds its state within a few contexts.
// Otherwise the cost of a link would grow with the length of the chain.
func TestDepth(t *testing.T) {
	searches := func(links int) (n int) {
		e := flow.Extensions[*pool]{Apply: manyLinks(links, passOn)}
		o := (&recording{}).observer(otelx.WithLinkSpans())
		flow.New("Pool", operations, e, flow.WithObserver(o), flow.WithObserver(derives{&n})).Reconcile(t.Context(), &pool{"fine"})
		return n
	}
	if few, many := searches(10), searches(100); many > 11*few {
		t.Errorf("10 links search %d contexts and 100 links search %d, want at most 11 times as many", few, many)
	}
}
