package main

import (
	"context"

	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/otelx"
)

// Nothing differs: the links are those that are nested by hand.

func newChain(n int) chain.Chain[words, pair] { return chain.New(links[:n]...) }

func windlass(n int) func(int) { return calls(newChain(n).Then(end)) }

func windlassDisabled(n int) func(int) { return calls(newChain(n).Observe(deaf{}).Then(end)) }

// deaf is an observer that is not enabled.
type deaf struct{}

func (deaf) Enabled(context.Context) bool                             { return false }
func (deaf) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (deaf) Exit(context.Context, *chain.Link, chain.Exit)            {}

func windlassOtelxOff(n int) func(int) {
	off := otelx.New(otelx.WithTracerProvider(tracenoop.NewTracerProvider()), otelx.WithMeterProvider(nil), otelx.WithoutLogs())
	return calls(newChain(n).Observe(off).Then(end))
}

// windlassOtelxQuiet asks in each call, since an SDK may be installed later.
func windlassOtelxQuiet(n int) func(int) { return calls(newChain(n).Observe(otelx.New()).Then(end)) }
