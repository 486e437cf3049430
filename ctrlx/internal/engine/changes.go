package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// digestsOf returns the digests of the version of obj.
func (e *Engine) digestsOf(obj client.Object) *digests {
	d, ok := e.digests.Get(obj, func() *digests { return new(digests) })
	if !ok {
		return new(digests)
	}
	return d
}

// digest returns the digest of all that a check can see of an object. If only
// the metadata is watched, the version stands for the rest of the object.
func (e *Engine) digest(k kind, obj client.Object) uint64 {
	if k.policy == metadataOnly {
		return e.touches.digest(k, obj)
	}
	return e.digestsOf(obj).full.get(func() uint64 { return digest.Of(obj) })
}

// follow returns the digest of the part of an object that wakes followers: that
// of [digest.Follow], the readiness as each reconciler sees it, and the numbers of
// [Engine.Writes]. It is 0, not known, if a function of the user panics.
func (e *Engine) follow(k kind, obj client.Object) uint64 {
	switch {
	case obj == nil:
		return digest.NotFound
	case k.policy == metadataOnly:
		return e.touches.digest(k, obj)
	}
	return e.digestsOf(obj).follow.get(func() uint64 { return e.followOf(k, obj) })
}

// followOf returns the digest of [Engine.follow].
func (e *Engine) followOf(k kind, obj client.Object) (h uint64) {
	defer func() {
		if recover() != nil { // the pass that is woken calls the same function, and reports the panic
			h = 0
		}
	}()
	h = digest.Follow(obj)
	h = digest.And(h, stateOfReadiness(ready.Of(obj)))
	e.mu.Lock()
	funcs, written := e.readiness[k.gvk.GroupKind()], e.written[k.gvk.GroupKind()]
	e.mu.Unlock()
	for _, of := range funcs {
		h = digest.And(h, stateOfReadiness(of(obj)))
	}
	for _, also := range written {
		h = digest.And(h, also(obj))
	}
	return h
}

// stateOfReadiness returns the part of a readiness that counts: the state, and
// whether it is of the present generation.
func stateOfReadiness(r checks.Readiness) uint64 {
	x := uint64(r.State) << 1
	if r.Generation == r.Observed {
		x |= 1
	}
	return x
}

// happened wakes the waiters of an object that changed, and of the sets that
// contain it or contained it. old and now are the states of the object before
// and after; nil: it does not exist. The store that passes read has now.
func (e *Engine) happened(k kind, id index.ID, old, now client.Object) {
	if full, follow := e.index.Needs(id); full || follow {
		e.index.Changed(id, e.changeOf(k, now, full, follow))
	}
	gk := KindOf(id)
	if !e.sets.has(gk) {
		return
	}
	fields := e.fieldsOf(gk)
	was, is := e.stateOf(old, fields), e.stateOf(now, fields)
	var seen, followed bool // whether a waiter and a follower see the change
	compared := false
	for _, t := range e.sets.touch(gk, &was, &is) {
		visible, follows := true, true
		switch {
		case t.was != t.now:
		case t.set.query.NamesOnly:
			visible = old.GetUID() != now.GetUID() || old.GetDeletionTimestamp().IsZero() != now.GetDeletionTimestamp().IsZero()
			follows = visible
		default:
			if !compared {
				seen, followed = e.changed(k, old, now)
				compared = true
			}
			visible, follows = seen, followed
		}
		if visible || follows {
			c := e.sets.number(t.set, follows)
			c.By = id
			e.index.Changed(t.set.id, c)
		}
	}
}

// changed reports whether a waiter and a follower see the change of an object. Most
// changes that both see need no digest. If the readiness is not known, a follower sees
// the change.
func (e *Engine) changed(k kind, old, now client.Object) (full, follow bool) {
	if k.policy != metadataOnly && (old.GetUID() != now.GetUID() || old.GetGeneration() != now.GetGeneration()) {
		return true, true
	}
	// Both digests of old first: the memory of the digests keeps the last version.
	oldFull, oldFollow := e.digest(k, old), e.follow(k, old)
	nowFollow := e.follow(k, now)
	return oldFull != e.digest(k, now), oldFollow != nowFollow || nowFollow == 0
}

// changeOf returns the digests of an object that a change needs.
func (e *Engine) changeOf(k kind, obj client.Object, full, follow bool) (c index.Change) {
	if full {
		c.Full = digest.NotFound
		if obj != nil {
			c.Full = e.digest(k, obj)
		}
	}
	if follow {
		c.Follow = e.follow(k, obj)
	}
	return c
}

// stateOf returns what decides about the sets that contain an object.
func (e *Engine) stateOf(obj client.Object, fields []*field) state {
	s := state{obj: obj, fields: fields}
	if obj == nil {
		return s
	}
	s.labels = obj.GetLabels()
	for _, f := range fields {
		s.values = append(s.values, e.valuesIn(f, obj))
	}
	return s
}

// wakeSets wakes the waiters of sets.
func (e *Engine) wakeSets(ids []index.ID) {
	for _, id := range ids {
		e.index.Changed(id, index.Change{})
	}
}

// Writes states that the operator writes objects of a kind, and follows them. The
// kind may then be watched, although no option names it. A change of the number
// that also returns wakes the followers of an object, too. also only reads the
// object. The informer of a kind that the scheme lacks stops a while after the
// last object that follows it is gone: its definition may be gone, too.
func (e *Engine) Writes(gk schema.GroupKind, also func(obj client.Object) uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.written[gk] = append(slices.Clip(e.written[gk]), also) // follow reads the old list without the lock
}

// Touch calls write, which changes nothing of an object but its finalizers. from is the
// version that write changes, and write returns the version that it makes. write must
// fail if the object is not in version from: then no other change is between the two
// versions. If only the metadata of the kind is watched, both versions have one digest
// from then on, and the events of such kinds wait until write returns, for as long as a
// request may take.
func (e *Engine) Touch(ctx context.Context, id index.ID, from string, write func(ctx context.Context) (to string, err error)) error {
	if w, _ := e.watchOf(KindOf(id)); w == nil || w.policy != metadataOnly {
		_, err := write(ctx)
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	t := &e.touches
	defer t.begin()()
	to, err := write(ctx)
	if err != nil || to == "" || to == from {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.as == nil {
		t.as = map[index.ID]map[string]string{}
	}
	if t.as[id] == nil {
		t.as[id] = map[string]string{}
	}
	t.as[id][to] = cmp.Or(t.as[id][from], from)
	t.n.Store(int32(len(t.as)))
	return nil
}

// valuesIn returns the values of a field of an object. After an error or a panic
// of the user's function, the queries over the field fail, and their waiters are
// woken to report that. It takes no lock of the engine: an informer calls it with
// a lock of its own.
func (e *Engine) valuesIn(f *field, obj client.Object) []string {
	values, err := f.values(obj)
	if err == nil {
		return values
	}
	err = fmt.Errorf("%s: %w", client.ObjectKeyFromObject(obj), err)
	if f.broken.CompareAndSwap(nil, &err) {
		e.wakeSets(e.sets.ids(f.Kind))
	}
	return nil
}

// fieldsOf returns the indexed fields of a kind.
func (e *Engine) fieldsOf(gk schema.GroupKind) (all []*field) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, f := range e.fields {
		if key.kind == gk {
			all = append(all, f)
		}
	}
	return all
}
