package otelx

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/mono"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
)

// Span makes a link with the given name that runs link, and all its inner
// links, in a span of that name. The sampler is asked even if the parent span
// is not recorded. Span uses the options of [New] for spans. If the tracer
// provider is off, Span only names link. A nil link and an empty name panic.
func Span[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithoutLogs(), WithMeterProvider(nil)))
	return wrap(name, link, o, func(b *bound, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			inner, span := b.startSpan(ctx)
			if span == nil {
				return h(ctx, req)
			}
			return run.Call(inner, req, h, func(end run.End[Res]) {
				e := b.endingOf(&running{class: b.class}, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic})
				b.finish(span, &e)
			})
		}
	})
}

// Log makes a link with the given name that logs a line when link starts, and a
// line with the verdict when link and all its inner links have ended. Log uses
// the options of [New] for log lines. A nil link and an empty name panic.
func Log[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithTracerProvider(nil), WithMeterProvider(nil)))
	return wrap(name, link, o, func(b *bound, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			if !o.logged(ctx, innerVerbosity) {
				return h(ctx, req)
			}
			inner, start := b.Enter(ctx, b.link), mono.Now()
			return run.Call(inner, req, h, func(end run.End[Res]) {
				b.Exit(inner, b.link, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Elapsed: mono.Now() - start})
			})
		}
	})
}

// wrap makes a link with the given name whose handlers are link's handlers
// inside around. If o is off, wrap only names link.
func wrap[Req, Res any](name string, link chain.Middleware[Req, Res], o *observer, around func(*bound, chain.Handler[Req, Res]) chain.Handler[Req, Res]) chain.Middleware[Req, Res] {
	named := chain.Named(name, link)
	if o.off() {
		return named
	}
	b := o.bind(&chain.New(named).Links()[0])
	return probe.Derived(name, named, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		if h := link(next); h != nil {
			return around(b, h)
		}
		return nil // Then panics and names this link
	})
}
