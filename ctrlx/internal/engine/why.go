package engine

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/flow/why"
)

// Flows returns the flows of all reconcilers.
func (e *Engine) Flows() (all []why.Flow) {
	for _, r := range e.reporting() {
		all = append(all, r.Describe())
	}
	return all
}

func (e *Engine) reporting() []Reporter {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.reporters
}

// Unready returns the objects of all reconcilers that are not ready, and the
// objects that they wait for. ready is the number of objects that are ready, and
// which are in all if healthy. unseen is the number of objects of unknown state. It
// reads from caches only, and returns an error if one cannot be listed.
func (e *Engine) Unready(ctx context.Context, healthy bool) (all []why.Object, ready, unseen int, err error) {
	reported := map[index.ID]bool{}
	waiters := map[index.ID][]waiter{}
	for _, r := range e.reporting() {
		good, unknown, err := r.Unready(ctx, healthy, func(o why.Object) {
			reported[o.Ref] = true
			o.WaitingFor = e.index.Waits(o.Ref)
			for _, ref := range o.WaitingFor {
				waiters[ref] = append(waiters[ref], waiter{o.Ref, r})
			}
			all = append(all, o)
		})
		if err != nil {
			return nil, 0, 0, err
		}
		ready, unseen = ready+good, unseen+unknown
	}
	members := map[index.ID]why.Object{}
	for id, of := range waiters {
		r := of[len(of)-1].Reporter
		switch {
		case reported[id] || ctx.Err() != nil:
		case id.Set != "":
			set, unready := e.lookAtSet(ctx, id, r)
			all = append(all, set)
			for _, o := range unready {
				members[o.Ref] = o
			}
		default:
			reported[id] = true
			all = append(all, e.look(ctx, id, r))
		}
	}
	for id, o := range members {
		if !reported[id] {
			all = append(all, o)
		}
	}
	for i := range all {
		all[i].WaitingFor = append(all[i].WaitingFor, e.keepers(ctx, all[i].Ref, waiters[all[i].Ref])...)
	}
	return all, ready, unseen, nil
}

// waiter is an object that waits, with its reconciler.
type waiter struct {
	index.ID
	Reporter
}

// keepers returns the waiters whose finalizers keep an object that a user deletes:
// it waits for them.
func (e *Engine) keepers(ctx context.Context, id index.ID, waiters []waiter) (refs []checks.Ref) {
	w, state := e.watchOf(KindOf(id))
	if len(waiters) == 0 || id.Set != "" || state != synced {
		return nil
	}
	obj := e.newObject(w.kind)
	if e.cache.Get(ctx, nameOf(id), obj, FromCache...) != nil || obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	for _, w := range waiters {
		if w.Keeps(ctx, nameOf(w.ID), id, obj) {
			refs = append(refs, w.ID)
		}
	}
	return refs
}

// maxMembers is the number of the members of a set that are described.
const maxMembers = 50

// lookAtSet describes an awaited set, which waits for its members that are not ready.
// Members that wait for the set themselves compete for something, so they are left out.
func (e *Engine) lookAtSet(ctx context.Context, id index.ID, view Reporter) (o why.Object, members []why.Object) {
	o = why.Object{Ref: id, State: why.Unknown}
	if _, state := e.watchOf(KindOf(id)); state != synced {
		return o, nil
	}
	all := e.members(id)
	o.State = why.Blocked
	if len(all) == 0 {
		o.State = why.Missing
	}
	for _, member := range all {
		if len(members) == maxMembers || ctx.Err() != nil {
			break
		}
		if slices.Contains(e.index.Waits(member), id) {
			continue
		}
		if m := e.look(ctx, member, view); m.State != why.Ready {
			members = append(members, m)
			o.WaitingFor = append(o.WaitingFor, member)
		}
	}
	return o, members
}

// lacks reports whether the last list of discovery was complete for the group of
// a kind, and does not have the kind.
func (c *catalog) lacks(gk schema.GroupKind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.kinds[gk]
	return c.kinds != nil && !found && c.err == nil && c.failed[gk.Group] == nil
}
