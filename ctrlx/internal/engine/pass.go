package engine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

type dependentKey struct{}

// Dependent returns a context for the read of a dependent: the resource makes the
// object, so it is no input of the resource.
func Dependent(ctx context.Context) context.Context {
	return context.WithValue(ctx, dependentKey{}, true)
}

// IsDependent reports whether a context is from [Dependent].
func IsDependent(ctx context.Context) bool { return ctx.Value(dependentKey{}) != nil }

// PassKey is the key of a context value, a pointer to an [InPass]. Its presence
// says that the context belongs to a pass.
type PassKey struct{}

// InPass describes the pass of a context.
type InPass struct {
	Engine *Engine         // of the manager of the pass
	Find   checks.Resolver // reads from the cache, and registers the object
	Remote bool            // an option sets the client of the deployment target
	New    bool            // the pass added the finalizer, so no earlier pass has applied the object
}

// Pass is a pass over one object. Make it with [Engine.Begin], and end it with
// [Pass.End] or [Pass.Done]. A pass without an end keeps what the last pass
// waited for and followed. Do not copy a Pass.
type Pass struct {
	engine *Engine
	index.Pass
	timeout time.Duration
}

// Begin begins a pass over waiter. timeout bounds each wait for the API server.
func (e *Engine) Begin(waiter index.ID, timeout time.Duration) Pass {
	return Pass{engine: e, Pass: e.index.Begin(waiter), timeout: timeout}
}

// Read reads the object of a ref from the cache, or live if the watch of its kind may
// be broken. The object is nil if it or its kind does not exist. The returned ref
// has the namespace in which the pass read it. From now on each change of the
// object that a check can see wakes the waiter.
//
// The order loses no wake-up: the kind is watched, the object is registered, the
// object is read, and a digest of it is remembered.
func (p *Pass) Read(ctx context.Context, ref checks.Ref) (checks.Ref, client.Object, error) {
	e, id := p.engine, p.Resolved(ctx, ref)
	ref = id
	look, k, state, err := p.register(ctx, id)
	if err != nil {
		return ref, nil, fmt.Errorf("ctrlx: %s: %w", ref, err)
	}
	if state == missing {
		look.Saw(digest.NotFound)
		return ref, nil, nil
	}
	obj := e.newObject(k)
	if state == synced {
		err = e.cache.Get(ctx, nameOf(id), obj)
	} else {
		err = p.live(ctx, id, obj)
	}
	switch {
	case err == nil: // first, because IsNotFound allocates
		look.Saw(e.digest(k, obj))
		return ref, obj, nil
	case definition.NotFound(err):
		look.Saw(digest.NotFound)
		return ref, nil, nil
	case state == synced && strings.Contains(err.Error(), unknownNamespace):
		err = &NamespaceNotWatchedError{id.Namespace}
	}
	return ref, nil, fmt.Errorf("ctrlx: %s: %w", ref, err)
}

// Whole reads an object live with all its content, also if the metadata of its kind is
// watched. The object is nil if it does not exist. Whole registers nothing: call
// [Pass.Read] first.
func (p *Pass) Whole(ctx context.Context, ref checks.Ref) (client.Object, error) {
	id := p.Resolved(ctx, ref)
	k, _, err := p.engine.open(ctx, KindOf(id), namespaceOf(id), p.timeout)
	if err != nil {
		return nil, err
	}
	obj := NewObject(p.engine.scheme, k.gvk)
	if err := p.live(ctx, id, obj); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return obj, nil
}

// live reads an object past the cache.
func (p *Pass) live(ctx context.Context, id index.ID, obj client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.engine.live.Get(ctx, nameOf(id), obj)
}

// register registers an object or a set, after it has opened its kind: the first
// list of an informer is no change.
func (p *Pass) register(ctx context.Context, id index.ID) (look index.Look, k kind, state kindState, err error) {
	gk, namespace := KindOf(id), namespaceOf(id)
	k, state, err = p.engine.open(ctx, gk, namespace, p.timeout)
	look = p.Pass.Register(id)
	if state == missing && err == nil { // the kind may have been installed before Register
		k, state, err = p.engine.open(ctx, gk, namespace, p.timeout)
	}
	return look, k, state, err
}

// Waiting describes the wait of an object after a pass.
type Waiting struct {
	Woken       bool // an event of each awaited object wakes the waiter; false if there is none
	Self        bool // the object waits for a change of itself
	RootChanged bool // the root cause is another one than after the last pass
	// RootUnknown reports that an awaited object has had no pass since the start of
	// the program, and that the waiter has had no root cause since then. So the root
	// cause that its status names may still hold.
	RootUnknown bool
	Cycle       []checks.Ref // the path if the object waits for itself by way of others

	// Root is the root cause of the wait; nil: it is the first awaited object, or the
	// waiter itself. Its text is empty if it is another awaited object.
	Root *RootCause
}

// End describes the end of a pass.
type End struct {
	Awaited  []checks.Ref // the blocked object waits for these objects and sets
	Followed []Followed   // the object follows these
	Seen     Seen         // the objects that the pass read; nil: no root cause is found
}

// End ends the pass: the object waits for and follows what end says, and nothing
// else any more. A ref that names neither an object of the API server nor a set
// that can be listed wakes nothing.
func (p *Pass) End(ctx context.Context, end End) Waiting {
	var w Waiting
	var restarted []index.ID
	var to index.End
	opened := func(ref checks.Ref) (id index.ID, ok bool) {
		if ref.Kind == "" || ref.Name == "" && !listable(ref) {
			return id, false
		}
		id = p.Resolved(ctx, ref)
		if id != p.Waiter && !p.engine.wakes(id) { // the check read it by other means, or its informer was stopped
			if _, state, _ := p.engine.open(ctx, KindOf(id), namespaceOf(id), p.timeout); state == synced {
				restarted = append(restarted, id)
			}
		}
		return id, true
	}
	w.Woken = len(end.Awaited) > 0
	for _, ref := range end.Awaited {
		switch id, ok := opened(ref); {
		case !ok:
			w.Woken = false
		case id == p.Waiter:
			w.Self = true
		default:
			to.Awaited = append(to.Awaited, id)
		}
	}
	for _, f := range end.Followed {
		if id, ok := opened(f.Ref); ok && id != p.Waiter {
			to.Followed = append(to.Followed, p.followed(id, f))
		}
	}
	if len(to.Awaited) == 0 {
		_, w.RootChanged = p.engine.index.Root(p.Waiter)
	}
	p.Pass.End(to)
	for _, id := range restarted { // a change before the informer started made no event
		p.engine.index.Changed(id, index.Change{})
	}
	for _, id := range to.Awaited {
		w.Woken = w.Woken && p.engine.wakes(id)
	}
	if len(to.Awaited) > 0 {
		w.Cycle = p.Cycle()
		p.setRoot(ctx, end, &w, to.Awaited)
	}
	return w
}

// Cycle returns the path if the object waits for itself by way of others, as the
// last pass that ended left its waits.
func (p *Pass) Cycle() []checks.Ref {
	return p.engine.index.Cycle(p.Waiter, p.engine.members)
}

// Resolved returns how the index knows the object of a ref. A ref without a namespace
// is in the namespace of the waiter, if its kind has namespaces.
func (p *Pass) Resolved(ctx context.Context, id checks.Ref) index.ID {
	id.ID = ""
	switch namespaced, known := p.engine.namespaced(ctx, id, p.timeout); {
	case known && !namespaced:
		id.Namespace = ""
	case id.Namespace == "":
		id.Namespace = p.Waiter.Namespace
	}
	return id
}

// namespaced reports whether the kind of an object has namespaces. known is
// false if the kind is missing, or cannot be read.
func (e *Engine) namespaced(ctx context.Context, id index.ID, timeout time.Duration) (namespaced, known bool) {
	gk := KindOf(id)
	if w, _ := e.watchOf(gk); w != nil {
		return w.namespaced, true
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	k, state, err := e.find(ctx, gk)
	return k.namespaced, err == nil && state != missing
}

// versionOf returns the version of an object that was read; empty: it does not
// exist.
func versionOf(obj client.Object, err error) string {
	if err != nil {
		return ""
	}
	return obj.GetResourceVersion()
}

// List lists the set of a query from the cache, or live if the cache may be
// stale. From now on each change of the set that a check can see wakes the
// waiter. With q.NamesOnly, the objects may share memory with the cache: do not
// change them.
//
// The order loses no wake-up: the kind is watched, the set is registered, the
// number of its last change is read, the set is listed, and the number is
// remembered.
func (p *Pass) List(ctx context.Context, q checks.Query) (Listed, error) {
	selector, err := parse(q)
	if err != nil {
		return Listed{Ref: q.Ref()}, fmt.Errorf("ctrlx: %s: %w", q, err)
	}
	e, id := p.engine, p.Resolved(ctx, q.Ref())
	l := Listed{Ref: id}
	look, k, state, err := p.register(ctx, id)
	if state == missing && err == nil {
		err = fmt.Errorf("the kind %q is not installed, so its objects are not known: install its definition, or correct the query", KindOf(id))
	}
	if err == nil && q.Field != "" {
		_, err = e.indexed(KindOf(id), q.Field)
	}
	var full uint64
	if err == nil {
		full, l.Follow = e.sets.numbers(id)
		l.Objects, err = e.listSet(ctx, k, state, id, q, selector, p)
	}
	if err == nil && q.Field != "" { // the function may have failed meanwhile
		_, err = e.indexed(KindOf(id), q.Field)
	}
	if err != nil {
		return Listed{Ref: l.Ref}, fmt.Errorf("ctrlx: %s: %w", l.Ref, err)
	}
	look.Saw(full)
	return l, nil
}

// Followed is an object or a set that a waiter follows after a pass.
type Followed struct {
	Ref  checks.Ref
	Read bool // the pass has read it; otherwise the other fields count for nothing
	// Object is the object as the pass has read it; nil: it does not exist. The
	// digest of another object of the same name is that of its own.
	Object client.Object
	Number uint64 // of a set: Listed.Follow
}

// followed returns the entries of a pass that follows refs.
func (p *Pass) followed(id index.ID, f Followed) index.Followed {
	switch {
	case !f.Read:
		return index.Followed{ID: id}
	case id.Set != "":
		return index.Followed{ID: id, Digest: f.Number}
	}
	w, _ := p.engine.watchOf(KindOf(id))
	if w == nil && f.Object != nil {
		return index.Followed{ID: id} // it is read live
	}
	k := kind{}
	if w != nil {
		k = w.kind
	}
	return index.Followed{ID: id, Digest: p.engine.follow(k, f.Object)}
}
