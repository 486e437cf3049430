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

// Binder is an Observer that makes ready, while a chain is composed, what it needs to know of each link, so that nothing of
// it is made or looked up at each call.
type Binder interface {
	Observer
	// Bind gives the observer whose Enter and Exit are called for link, and for no other; nil means the Binder itself.
	// Enabled is asked of the Binder. The one bound to a pass is asked to start it, if it is a [Starter]. Chains are composed
	// more than once, so a link may be bound more than once.
	Bind(link *Link) Observer
}

// Bound is what o is bound to link, or o itself if there is nothing to bind. It is for those who call observers.
func Bound(o Observer, link *Link) Observer {
	if b, ok := o.(Binder); ok {
		if bound := b.Bind(link); bound != nil {
			return bound
		}
	}
	return o
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
