package ctrlx

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// done ends a pass that waits for nothing.
func (p *pass) done() { p.p.Done() }

// wait ends a pass that waits for refs. If the object waits in a circle, that is the path.
func (p *pass) wait(refs []checks.Ref) (circle []checks.Ref) {
	p.watched = true
	var ids []index.ID
	for _, ref := range refs {
		if ref.Kind == "" || ref.Name == "" { // known by something else than the API server, which does not tell us
			p.watched = false
			continue
		}
		id := p.id(ref)
		if !p.e.watches(id) { // the check has looked at it by other means; if it cannot be watched, the object comes back by itself
			_, _ = p.e.watched(p, schema.GroupKind{Group: id.Group, Kind: id.Kind}, id.Namespace, p.sync)
		}
		ids = append(ids, id)
	}
	p.p.Wait(ids...)
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
	switch namespaced, known := p.e.namespaced(schema.GroupKind{Group: ref.Group, Kind: ref.Kind}); {
	case known && !namespaced:
		id.Namespace = ""
	case id.Namespace == "":
		id.Namespace = p.namespace
	}
	return id
}

var errNoPass = errors.New("ctrlx: the resolver was called outside of a pass: hand on the context that the check was given")

// resolve is the resolver of all flows.
func resolve(ctx context.Context, ref checks.Ref) (checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return checks.Object{}, errNoPass
	}
	if ref.Kind == "" || ref.Name == "" {
		return checks.Object{Ref: ref}, nil // known by its cloud ID only
	}
	obj, err := p.e.look(ctx, &p.p, p.id(ref), "", p.sync, p.readiness)
	if err != nil {
		return obj, err
	}
	p.saw(obj)
	if obj.Ref.ID == "" {
		obj.Ref.ID = ref.ID
	}
	return obj, nil
}

// ownerOf finds the owner of an object.
func (r *Reconciler[T]) ownerOf(ctx context.Context, obj T) (checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return checks.Object{}, errNoPass
	}
	if r.owner != nil {
		ref := r.owner(obj)
		switch {
		case ref == checks.Ref{}:
			return checks.Object{}, nil
		case ref.ByIDOnly():
			return checks.Object{Ref: ref}, nil
		}
		return resolve(ctx, ref)
	}
	c := metav1.GetControllerOfNoCopy(obj)
	if c == nil {
		return checks.Object{}, nil
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	if err != nil {
		return checks.Object{}, fmt.Errorf("ctrlx: the controlling owner reference to %s %s: %w", c.Kind, c.Name, err)
	}
	return p.e.look(ctx, &p.p, p.id(checks.Ref{Group: gv.Group, Kind: c.Kind, Name: c.Name}), c.UID, p.sync, p.readiness)
}
