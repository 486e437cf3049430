package otelx

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/windlass-go/windlass/chain"
)

// Span makes a link that puts a span around link and all links behind it: it asks the sampler, whatever is around it. The
// link is called name, and so is the span. It takes the options of [New], as far as they are about spans; a provider that
// is off makes it link itself, under that name. A nil link and an empty name panic.
func Span[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithoutLogs(), WithMeterProvider(nil)))
	if link == nil || o.tracer == nil {
		return chain.Named(name, link)
	}
	b := o.bind(&chain.Link{Name: name})
	return chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		h := link(next)
		if h == nil {
			return nil // which the chain refuses, naming the link
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

// finish ends the span of a link that was left.
func (b *bound) finish(span trace.Span, exit chain.Exit) {
	l := b.left(exit)
	b.end(span, &l)
}

// abandon ends the span of a link that was left by a panic, or with its goroutine, and goes on with that.
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

// Log makes a link that logs when link, and all links behind it, are entered and left, and as what. The link is called
// name. It takes the options of [New], as far as they are about log lines. A nil link and an empty name panic.
func Log[Req, Res any](name string, link chain.Middleware[Req, Res], opts ...Option) chain.Middleware[Req, Res] {
	o := newObserver(append(opts[:len(opts):len(opts)], WithTracerProvider(nil), WithMeterProvider(nil)))
	if link == nil || o.quiet {
		return chain.Named(name, link)
	}
	l := &chain.Link{Name: name}
	return chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
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
