package chain

import "context"

// Starter is an Observer that begins something with a whole pass and knows only then whether it wants to be told of the
// rest, as a tracer does that asks its sampler. A reconciler that is observed by one calls Start where it would call
// Enabled and then Enter of the pass; everything else is as for any Observer.
type Starter interface {
	Observer
	// Start is called once for each pass, before all else. inner is the context of the pass, told of or not; nil means ctx.
	// If enabled is false, the observer is told no more of this pass, its exit neither.
	Start(ctx context.Context, pass PassStart) (inner context.Context, enabled bool)
}

// PassStart is what a [Starter] is told of a pass.
type PassStart struct {
	// Link is of kind [Pass]; its name is that of the reconciler.
	Link *Link
	// Resource is what is reconciled.
	Resource any
	// KeyOf gives a resource's key. Nil means that it has none.
	KeyOf func(resource any) string
}

// Key is the key of the resource, empty if it has none. It is made when it is asked for.
func (p PassStart) Key() string {
	if p.KeyOf == nil {
		return ""
	}
	return p.KeyOf(p.Resource)
}
