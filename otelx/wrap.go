package otelx

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/mono"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
)

// Span makes a link that puts a span around link and all its inner links. It
// always asks the sampler, whatever the parent span. The link and the span have
// the given name. Span takes the options of [New] that are about spans. If the
// provider is off, it returns link itself, under that name. A nil link and an
// empty name panic.
func Span[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithoutLogs(), WithMeterProvider(nil)))
	return wrap(name, link, o, func(b *bound, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			inner, span := b.startSpan(ctx)
			if span == nil {
				return h(ctx, req)
			}
			return run.Call(inner, req, h, func(end run.End[Res]) {
				if end.Returned && !span.IsRecording() {
					b.endSpan(span)
					return
				}
				l := b.left(&running{class: b.class}, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic})
				b.finish(span, &l)
			})
		}
	})
}

// Log makes a link that logs the start and the end of link with all its inner
// links, and the verdict. The link has the given name. Log takes the options of
// [New] that are about log lines. A nil link and an empty name panic.
func Log[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithTracerProvider(nil), WithMeterProvider(nil)))
	return wrap(name, link, o, func(b *bound, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			if !o.logged(ctx, o.linkVerbosity) {
				return h(ctx, req)
			}
			inner, start := b.Enter(ctx, b.link), mono.Now()
			return run.Call(inner, req, h, func(end run.End[Res]) {
				b.Exit(inner, b.link, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Elapsed: mono.Now() - start})
			})
		}
	})
}

// wrap makes a link of that name, whose handlers are those of link inside
// around. If o is off, it makes link itself, under that name.
func wrap[Req, Res any](name string, link chain.Middleware[Req, Res], o *observer, around func(*bound, chain.Handler[Req, Res]) chain.Handler[Req, Res]) chain.Middleware[Req, Res] {
	named := chain.Named(name, link)
	if o.off() {
		return named
	}
	b := o.bind(&chain.Link{Name: name})
	return probe.Derived(name, named, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		if h := link(next); h != nil {
			return around(b, h)
		}
		return nil // Then panics and names this link
	})
}
