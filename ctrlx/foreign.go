package ctrlx

import (
	"context"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// WithForeignReferences allows references into other namespaces. Without it, an
// object may refer to objects of its own namespace and to objects without a
// namespace. A reference to any other object is an error (NamespaceNotAllowed),
// and the object is not read: else a user who may create objects could find out
// which objects exist where the user may not read.
//
// allow reports whether an object of namespace may refer to the object of ref,
// which has a namespace. An object without a namespace has no namespace of its
// own, so allow decides about each of its references, with an empty namespace. For
// a set of one other namespace ([checks.Query]), ref is the Ref of the set. A
// query with [checks.AllNamespaces] is always allowed, because code names it: do
// not take the namespace of a query from a spec.
//
// No message quotes the reason and the message of an object in another namespace,
// also with this option. Nil panics.
func WithForeignReferences(allow func(namespace string, ref checks.Ref) bool) Option {
	if allow == nil {
		panic("ctrlx: WithForeignReferences: the function is nil")
	}
	return func(o *options) { o.foreign = allow }
}

// foreignReferences is the function of [WithForeignReferences]; nil: it was not
// given.
type foreignReferences func(namespace string, ref checks.Ref) bool

// foreign reports whether a namespace is another one than that of an object; empty:
// there is none.
func foreign(own, namespace string) bool {
	return namespace != "" && namespace != own && namespace != checks.AllNamespaces
}

// refused returns the error of a reference of an object of a namespace; nil: it is
// allowed. ref has the namespace of the referenced object, if that has one.
func (allow foreignReferences) refused(own string, ref checks.Ref) error {
	if !foreign(own, ref.Namespace) || allow != nil && allow(own, ref) {
		return nil
	}
	return &apierr.NamespaceNotAllowedError{Namespace: ref.Namespace}
}

// withoutText returns an object without the texts that messages quote.
func withoutText(o checks.Object) checks.Object {
	o.Readiness.Reason, o.Readiness.Message = "", ""
	return o
}

// reference is find for a reference that a user may have written.
func (p *pass) reference(ctx context.Context, ref checks.Ref, w wanted) (checks.Object, error) {
	own := p.engine.Waiter().Namespace
	if !foreign(own, ref.Namespace) || engine.IsDependent(ctx) { // code names the dependents
		return p.find(ctx, ref, w)
	}
	at := p.engine.Resolved(ctx, ref)
	if err := p.foreign.refused(own, at); err != nil {
		return checks.Object{}, err
	}
	o, err := p.find(ctx, ref, w)
	if foreign(own, at.Namespace) {
		o = withoutText(o)
	}
	return o, err
}
