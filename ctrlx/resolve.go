package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// end ends a pass, and registers the awaited and the followed objects of its
// outcome. An object that waits for a change of itself is no cycle: another writer
// may change it.
//
// applies reports that the pass applies again what the checks at PostCheck blocked.
// If the object is then in a cycle, it keeps its waits and its verdict. Otherwise
// the change of the verdict would wake the other objects of the cycle, whose
// changes would wake this one, and without a Get each such pass sends a PUT.
func (p *pass) end(out flow.Outcome, applies bool) {
	if out.Final() { // nothing may wake it
		p.engine.Done()
		return
	}
	if applies {
		if cycle := p.engine.Cycle(); len(cycle) > 0 {
			p.circles, p.Cycle = true, cycle
			return
		}
	}
	refs := out.WaitingFor()
	p.Waiting = p.engine.End(p, engine.End{
		Awaited: p.asRead(refs), Followed: p.followed(p.following(out)),
		Seen: p,
	})
	p.onSelf = p.Self || out.WaitsForSelf()
	p.watched = p.Woken || p.onSelf && len(refs) == 0
}

// appliesAgain reports whether a pass has an operation under way for the generation
// that the checks at PostCheck blocked in the pass before.
func (r *core) appliesAgain(p *pass, out flow.Outcome) bool {
	if out.State() != flow.StateInProgress || p.last.State != flow.StateBlocked || p.last.Point != flow.PointPostCheck {
		return false
	}
	ready := r.writers.ReadyBefore(p.read)
	return ready != nil && ready.ObservedGeneration == p.read.GetGeneration()
}

var errNoPass = errors.New("ctrlx: the resolver was called outside of a pass: hand on the context that the check was given")

// resolve is the resolver of all flows of [New].
func resolve(ctx context.Context, ref checks.Ref) (checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return checks.Object{}, errNoPass
	}
	return view.Finder(p.reference).WithID(ctx, ref)
}

// find implements view.Finder by the engine, which watches the kinds that it reads.
func (p *pass) find(ctx context.Context, ref checks.Ref, w view.Wanted) (checks.Object, error) {
	ref, read, err := p.engine.Read(ctx, ref)
	if err != nil {
		return checks.Object{}, err
	}
	obj := checks.Object{Ref: ref}
	if read != nil {
		obj = p.of.opt.Readiness.Object(read, ref, w.UID)
		p.once(&obj)
	}
	p.saw(ctx, obj)
	if _, ok := obj.Value.(*metav1.PartialObjectMetadata); ok {
		obj.Whole = func(ctx context.Context) (any, error) { return p.whole(ctx, ref) }
	}
	return obj, nil
}

// list is the lister of all flows of [New].
func list(ctx context.Context, q checks.Query) ([]checks.Object, error) {
	p := passOf(ctx)
	if p == nil {
		return nil, errNoPass
	}
	if own := p.engine.Waiter.Namespace; view.IsForeign(own, q.Namespace) {
		if err := p.of.opt.Foreign.Refused(own, p.engine.Resolved(ctx, q.Ref())); err != nil {
			return nil, fmt.Errorf("ctrlx: %s: %w", q, err)
		}
	}
	s, err := p.list(ctx, q)
	return s.objects, err
}

// list lists a set by the engine, which watches the kind.
func (p *pass) list(ctx context.Context, q checks.Query) (seenSet, error) {
	listed, err := p.engine.List(ctx, q)
	if err != nil {
		return seenSet{}, flow.WaitFor(err, listed.Ref) // the kind may be installed later
	}
	s := seenSet{ref: listed.Ref, number: listed.Follow, names: q.NamesOnly, objects: p.of.opt.Readiness.Objects(listed.Objects, q, p.engine.Waiter)}
	for i := range s.objects {
		p.once(&s.objects[i])
	}
	p.sawSet(s)
	return s, nil
}

// once leaves out the message of an object that waits itself: the message of Ready
// names the root cause instead of it. Otherwise each object in a line of waits would
// quote all further ones, and each change of the last message would write all
// statuses.
func (p *pass) once(obj *checks.Object) {
	if obj.Readiness.Message != "" && p.engine.Waits(obj.Ref) {
		obj.Readiness.Message = ""
	}
}

// Object implements engine.Seen.
func (p *pass) Object(ref checks.Ref) *checks.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := p.indexOf(ref); i >= 0 {
		return &p.seen[i].Object
	}
	return nil
}

// Members implements engine.Seen.
func (p *pass) Members(set checks.Ref) (members []checks.Object, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.IndexFunc(p.sets, func(s seenSet) bool { return s.ref == set && !s.names }); i >= 0 {
		return p.sets[i].objects, true
	}
	return nil, false
}
