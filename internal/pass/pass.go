// Package pass connects the engine that runs passes with observers of this
// library that need more than chain.Observer.
package pass

import (
	"context"

	"github.com/windlass-go/windlass/chain"
)

// Starter is an observer that decides at the start of each pass whether to
// observe the pass, such as a tracer that asks its sampler. The engine calls
// Start in place of Enabled and of Enter for the pass. All other calls are as
// for any observer.
type Starter interface {
	chain.Observer
	// Start is called once for each pass, before every other call. inner is the
	// context of the pass, even if of is Nothing; nil means ctx.
	Start(ctx context.Context, start Start) (inner context.Context, of Extent)
}

// Extent says what an observer observes of a pass.
type Extent uint8

const (
	Nothing    Extent = iota // no further call for this pass, not even Exit
	WholeOnly                // Exit of the pass; the engine may leave out points and links
	Everything               // the pass, its points and its links
)

// Doubler is an observer that one reconciler must not combine with some other
// observers.
type Doubler interface {
	chain.Observer
	// Doubles reports whether both observers write the log lines of each pass.
	Doubles(other chain.Observer) bool
}

// Start describes a pass to a [Starter].
type Start struct {
	// Link represents the whole pass. Its name is the name of the reconciler.
	Link *chain.Link
	// Resource is the reconciled resource.
	Resource any
	// KeyOf returns a resource's key.
	KeyOf func(resource any) string
	// ErrorClass returns the class of an error of the pass, for telemetry.
	ErrorClass func(err error) string
}

// Key returns the key of the resource. Each call computes it.
func (s Start) Key() string { return s.KeyOf(s.Resource) }

// Whole is the tag (chain.Link.Tag) of a link that represents a whole pass or a
// whole point.
type Whole uint8

const (
	Point Whole = iota + 1
	Pass
)

// Of returns Pass or Point for a link that represents one, and 0 for a link of
// a chain.
func Of(link *chain.Link) Whole {
	w, _ := link.Tag.(Whole)
	return w
}
