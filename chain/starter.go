package chain

import "context"

// Starter is an Observer that decides, as it starts a whole pass, whether to
// observe that pass. A tracer that asks its sampler is an example. For a
// Starter, a reconciler calls Start in place of Enabled and of Enter for the
// pass. All other calls are as for any Observer.
type Starter interface {
	Observer
	// Start is called once for each pass, before every other call. inner is the
	// context of the pass, even if enabled is false; nil means ctx. If enabled
	// is false, the observer gets no further call for this pass, not even its
	// Exit.
	Start(ctx context.Context, pass PassStart) (inner context.Context, enabled bool)
}

// Binder is an Observer that prepares its data about each link while a chain is
// composed. Calls of the link then need not make it or look it up.
type Binder interface {
	Observer
	// Bind returns the observer whose Enter and Exit are called for link, and
	// for no other link; nil means the Binder itself. Enabled is called on the
	// Binder. Start is called on the observer bound to the pass, if it is a
	// [Starter]. A chain may be composed more than once, and then Bind is
	// called again for each of its links.
	Bind(link *Link) Observer
}

// Bound returns the observer that o binds to link. It returns o itself if o is
// not a [Binder] or binds nothing. It is for code that calls observers.
func Bound(o Observer, link *Link) Observer {
	if b, ok := o.(Binder); ok {
		if bound := b.Bind(link); bound != nil {
			return bound
		}
	}
	return o
}

// PassStart describes a pass to a [Starter].
type PassStart struct {
	// Link has the kind [Pass]. Its name is the name of the reconciler.
	Link *Link
	// Resource is the resource that the reconciler reconciles.
	Resource any
	// KeyOf returns a resource's key. Nil means that resources have no key.
	KeyOf func(resource any) string
	// ErrorClass returns the class of an error of the pass, for telemetry. Nil
	// means that the reconciler knows the errors of no service.
	ErrorClass func(err error) string
}

// Key returns the key of the resource, or "" if it has none. Each call computes
// it.
func (p PassStart) Key() string {
	if p.KeyOf == nil {
		return ""
	}
	return p.KeyOf(p.Resource)
}
