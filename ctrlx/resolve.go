package ctrlx

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

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

// reference is find for a reference that a user may have written.
func (p *pass) reference(ctx context.Context, ref checks.Ref, w view.Wanted) (checks.Object, error) {
	own := p.engine.Waiter.Namespace
	if !view.IsForeign(own, ref.Namespace) || engine.IsDependent(ctx) { // code names the dependents
		return p.find(ctx, ref, w)
	}
	at := p.engine.Resolved(ctx, ref)
	if err := p.of.opt.Foreign.Refused(own, at); err != nil {
		return checks.Object{}, err
	}
	o, err := p.find(ctx, ref, w)
	if view.IsForeign(own, at.Namespace) {
		o = view.WithoutText(o)
	}
	return o, err
}

// begin begins a pass over an object. read is the object as it was read, and known what
// is known of it.
func (r *core) begin(ctx context.Context, req reconcile.Request, read client.Object, known memory.Entry, now time.Time) *pass {
	p := &pass{
		Context: ctx, of: r, at: now.UnixNano(), engine: r.engine.Begin(r.id(req.NamespacedName), r.opt.sync), read: read,
		Intervals: r.kind.Intervals(ctx, read, r.resync),
	}
	p.in = engine.InPass{Engine: r.engine, Remote: r.remote, Find: resolve}
	r.interrupter.saw(read, true)
	p.kept, p.last = known.Follows, known.Verdict
	p.record = record.In(r.kind.Conditions(read))
	if u := known.Unstored; u != nil && u.UID == read.GetUID() { // the flow polls the operation that it has in memory
		p.polls, p.from = true, u.Basis
	} else if record.MayHoldOperation(p.record) {
		if rec, err := r.recordOf(read); err == nil {
			p.polls, p.from = true, rec.Operation.Basis
		}
	}
	return p
}

// whole returns the whole object of a kind whose metadata is watched; nil: it does not exist. The pass reads it once.
func (p *pass) whole(ctx context.Context, ref checks.Ref) (any, error) {
	ref.ID = ""
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.indexOf(ref)
	if i >= 0 && p.seen[i].whole != nil {
		return p.seen[i].whole, nil
	}
	obj, err := p.engine.Whole(ctx, ref)
	if i >= 0 {
		p.seen[i].whole = obj
	}
	return obj, err
}
