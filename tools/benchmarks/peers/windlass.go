package peers

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/otelx"
)

// This library has the same links as the closures nested by hand.

func newChain(n int) chain.Chain[words, pair] { return chain.New(links[:n]...) }

func windlass(n int) func(int) { return calls(newChain(n).Then(end)) }

func windlassDisabled(n int) func(int) { return calls(newChain(n).Observe(disabled{}).Then(end)) }

// disabled is an observer that is not enabled.
type disabled struct{}

func (disabled) Enabled(context.Context) bool                             { return false }
func (disabled) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (disabled) Exit(context.Context, *chain.Link, chain.Exit)            {}

// windlassOtelxQuiet checks in each call for an SDK, which may be installed
// later.
func windlassOtelxQuiet(n int) func(int) { return calls(newChain(n).Observe(otelx.New()).Then(end)) }
