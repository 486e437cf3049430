package run

import (
	"context"
	"sync/atomic"
)

// Passed holds whether a link passed on the decision of an inner link. The
// observers of the link put it into the context. The guard of a link that does
// not proceed sets it before it returns, and the observers read it after that.
type Passed struct {
	outer *Passed // of the outer observed call; nil: none
	is    atomic.Bool
}

type passedKey struct{}

// PassedKey is the context key of a [*Passed].
var PassedKey any = passedKey{}

// Within sets the outer Passed to that in ctx.
func (p *Passed) Within(ctx context.Context) { p.outer = passedOf(ctx) }

func passedOf(ctx context.Context) *Passed {
	if ctx == nil {
		return nil
	}
	p, _ := ctx.Value(PassedKey).(*Passed)
	return p
}

// SetPassed sets the Passed in ctx and its outer ones.
func SetPassed(ctx context.Context, is bool) {
	for p := passedOf(ctx); p != nil; p = p.outer {
		p.is.Store(is)
	}
}

// Is returns the value that was set last. For a nil Passed it is false.
func (p *Passed) Is() bool { return p != nil && p.is.Load() }
