package run

import (
	"context"
	"sync/atomic"
)

// Passed tells the observers of a link whether the link passed on the decision
// of an inner link. The guard of a link that does not proceed sets it just before
// it returns, and the observers of that link read it just after. The observers
// put it into the context.
type Passed struct {
	outer *Passed // the one of an observed call around this one
	is    atomic.Bool
}

type passedKey struct{}

// PassedKey is the context key of a [*Passed].
var PassedKey any = passedKey{}

// Within sets the Passed of the call around ctx.
func (p *Passed) Within(ctx context.Context) { p.outer = passedOf(ctx) }

func passedOf(ctx context.Context) *Passed {
	if ctx == nil {
		return nil
	}
	p, _ := ctx.Value(PassedKey).(*Passed)
	return p
}

// Observed reports whether an observer of a call around ctx listens.
func Observed(ctx context.Context) bool { return passedOf(ctx) != nil }

// SetPassed tells the observers of all calls around ctx.
func SetPassed(ctx context.Context, is bool) {
	for p := passedOf(ctx); p != nil; p = p.outer {
		p.is.Store(is)
	}
}

// Is returns what was set last. A nil Passed is false.
func (p *Passed) Is() bool { return p != nil && p.is.Load() }
