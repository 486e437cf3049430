package ctrlx

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow"
)

// wait ends a pass, and registers the awaited objects of its outcome. If the object waits in a circle, that is the path. An
// object that waits for itself is no circle: another writer may change it.
func (p *pass) wait(out flow.Outcome) (circle []checks.Ref) {
	if out.Final() { // nothing may wake it
		p.p.Done()
		return nil
	}
	refs := out.WaitingFor()
	p.onSelf = out.WaitsForSelf()
	p.watched = p.onSelf || len(refs) > 0
	var ids []index.ID
	for _, ref := range refs {
		if ref.Kind == "" || ref.Name == "" { // known by something else than the API server, which does not tell us
			p.watched = false
			continue
		}
		id := p.id(ref)
		if id == p.self {
			p.onSelf = true
			continue
		}
		if !p.e.watches(id) { // the check has looked at it by other means; if it cannot be watched, the object comes back by itself
			_, _ = p.e.watched(p, schema.GroupKind{Group: id.Group, Kind: id.Kind}, id.Namespace, p.sync)
		}
		ids = append(ids, id)
	}
	p.p.Wait(ids...)
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		p.watched = p.watched && p.e.watches(id)
	}
	for _, id := range p.e.index.Cycle(p.self) {
		circle = append(circle, checks.Ref{Group: id.Group, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name})
	}
	return circle
}

// id is a ref as the index knows it. One without a namespace is in that of the object, if its kind has namespaces.
func (p *pass) id(ref checks.Ref) index.ID {
	id := index.ID{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	switch namespaced, known := p.e.namespaced(p, schema.GroupKind{Group: ref.Group, Kind: ref.Kind}, p.sync); {
	case known && !namespaced:
		id.Namespace = ""
	case id.Namespace == "":
		id.Namespace = p.namespace
	}
	return id
}

var errNoPass = errors.New("ctrlx: the resolver was called outside of a pass: hand on the context that the check was given")

// resolve is the resolver of all flows of [New].
func resolve(ctx context.Context, ref checks.Ref) (checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return checks.Object{}, errNoPass
	}
	return withID(p.find, ctx, ref)
}

// find implements finder by the engine, which watches what it reads.
func (p *pass) find(ctx context.Context, ref checks.Ref, w wanted) (checks.Object, error) {
	obj, err := p.e.look(ctx, &p.p, p.id(ref), w.uid, p.sync, p.readiness)
	if err != nil {
		return obj, err
	}
	p.saw(obj)
	return obj, nil
}

// ownerOf finds the owner of an object.
func (r *Reconciler[T]) ownerOf(ctx context.Context, obj T) (checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return checks.Object{}, errNoPass
	}
	return ownerOf(ctx, obj, r.owner, p.find)
}
