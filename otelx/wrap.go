package otelx

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
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
		return func(ctx context.Context, req Req) (res Res, err error) {
			inner, span := b.tracer.Start(ctx, b.spanName, b.spanOptions...)
			returned := false
			defer func() {
				if !returned {
					b.abandon(span, recover())
				}
			}()
			res, err = h(inner, req)
			returned = true
			if !span.IsRecording() {
				span.End()
				return res, err
			}
			b.finish(span, chain.Exit{Result: res, Err: err})
			return res, err
		}
	})
}

// finish ends the span of a link that returned, panicked or ended its
// goroutine.
func (b *bound) finish(span trace.Span, exit chain.Exit) {
	l := b.left(nil, exit)
	b.end(span, &l)
}

// abandon ends the span of a link that panicked or ended its goroutine, and
// then panics again with the same value.
func (b *bound) abandon(span trace.Span, panicked any) {
	exit := chain.Exit{Panic: panicked}
	if panicked == nil {
		exit.Err = chain.ErrGoexit
	}
	b.finish(span, exit)
	if panicked != nil {
		panic(panicked)
	}
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
		told := chain.Watch(o, l, plain)
		return func(ctx context.Context, req Req) (Res, error) {
			if !logged(ctx, o.linkVerbosity) {
				return plain(ctx, req)
			}
			return told(ctx, req)
		}
	})
}
