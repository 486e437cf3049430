package flow

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Option sets up a [Reconciler]. What makes no sense panics in the function that makes the Option.
type Option func(*options)

type options struct {
	resolver   checks.Resolver
	apiVersion string
	observers  []chain.Observer
	keep       int
	now        func() time.Time
	backoff    *Backoff
}

// WithResolver gives checks a way to find other objects, and resolves owners of which only the cloud ID is known. Nil is
// none.
func WithResolver(resolver checks.Resolver) Option {
	return func(o *options) { o.resolver = resolver }
}

// WithAPIVersion says which version of the API the resources are written for, for checks and for classification. Rules
// for some versions only ([classify.Rule]) know dates, as in "2024-05-01"; with another version, or none, they do not hold.
func WithAPIVersion(version string) Option {
	return func(o *options) { o.apiVersion = version }
}

// WithObserver tells o of each pass, each point and each link ([chain.Kind]). It may be given several times, the first is
// the outermost; the same [chain.Starter] twice panics in [New]. A pass that no observer is enabled for runs as if there was
// none. Nil is none.
func WithObserver(o chain.Observer) Option {
	return func(opt *options) {
		if o != nil {
			opt.observers = append(opt.observers, o)
		}
	}
}

// KeepLast keeps the trace of the last pass of n resources, those that were reconciled last, and since when each has been
// where it is, for [Reconciler.Explain]. An n below 1 panics.
func KeepLast(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("flow: KeepLast(%d): give at least 1", n))
	}
	return func(o *options) { o.keep = n }
}

// WithClock replaces time.Now, for traces and for Retry-After dates. Nil panics.
func WithClock(now func() time.Time) Option {
	if now == nil {
		panic("flow: WithClock: the function is nil")
	}
	return func(o *options) { o.now = now }
}

// WithBackoff makes [Outcome.Again] give the delay of b, which is asked once a pass, with the reconciler's name, a space
// and the resource's key. So one Backoff can serve all reconcilers of an engine, if their names differ. Nil is none; one
// that [NewBackoff] did not make panics.
func WithBackoff(b *Backoff) Option {
	if b != nil && b.steps == nil {
		panic("flow: WithBackoff: the Backoff has no table: make it with NewBackoff")
	}
	return func(o *options) { o.backoff = b }
}
