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
	named := chain.Named(name, link)
	if o.tracer == nil {
		return named
	}
	b := o.bind(&chain.Link{Name: name})
	return probe.Derived(name, named, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		h := link(next)
		if h == nil {
			return nil // Then panics and names this link
		}
		return func(ctx context.Context, req Req) (Res, error) {
			inner, span := b.tracer.Start(ctx, b.spanName, b.spanOptions...)
			return run.Call(inner, req, h, func(end run.End[Res]) {
				if end.Returned && !span.IsRecording() {
					span.End()
					return
				}
				l := b.left(nil, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic})
				b.end(span, &l)
			})
		}
	})
}

// Log makes a link that logs the start and the end of link with all its inner
// links, and the verdict. The link has the given name. Log takes the options of
// [New] that are about log lines. A nil link and an empty name panic.
func Log[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithTracerProvider(nil), WithMeterProvider(nil)))
	named := chain.Named(name, link)
	if o.quiet {
		return named
	}
	l := &chain.Link{Name: name}
	return probe.Derived(name, named, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		plain := link(next)
		if plain == nil {
			return nil
		}
		b := o.bind(l)
		return func(ctx context.Context, req Req) (Res, error) {
			if !logged(ctx, o.linkVerbosity) {
				return plain(ctx, req)
			}
			ctx, start := b.Enter(ctx, l), mono.Now()
			return run.Call(ctx, req, plain, func(end run.End[Res]) {
				b.Exit(ctx, l, chain.Exit{Result: end.Any(), Err: end.Err, Panic: end.Panic, Elapsed: mono.Now() - start})
			})
		}
	})
}
