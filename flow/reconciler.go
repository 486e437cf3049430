package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/stack"
)

// Reconciler takes resources of type T through the flow. It is made by [New], is safe for concurrent use, and keeps no
// state but what was asked for: traces ([KeepLast]), back-off ([WithBackoff]), and tokens that have no home of their own.
// One resource should be in one pass at a time, as engines see to.
type Reconciler[T any] struct {
	name     string
	link     *chain.Link      // stands for a whole pass
	keyOf    func(any) string // key, for those who do not know T
	ops      Operations[T]
	ext      Extensions[T]
	opt      options
	plain    *points[T] // what runs when nobody listens
	watched  *points[T]
	starters []chain.Starter // of the observers, nil for each that does not start passes
	tokens   tokens
	kept     *keeper       // nil: nothing is kept
	refuse   func(T) error // nil, or why no resource is reconciled
}

// points are the composed handlers of one flow.
type points[T any] struct {
	pass                             chain.Handler[T, Outcome]
	owner                            chain.Handler[*Request[T], checks.Object]
	ownerCheck                       checks.OwnerHandler
	get                              chain.Handler[*Request[T], Observation]
	preCheck, postCheck, deleteCheck checks.Handler[T]
	apply, remove                    chain.Handler[*Request[T], Progress]
	classify                         classify.Handler
}

// New makes a reconciler for one kind of resource. name is what people call the kind. Everything static is done here;
// a Reconciler is made once and used often.
//
// It panics, saying what to do, on an empty name, on operations without Key or Apply, on functions that go together and
// of which one is missing, on owner checks for resources without an owner, and on an observer that is given twice.
func New[T any](name string, ops Operations[T], ext Extensions[T], opts ...Option) *Reconciler[T] {
	if strings.TrimSpace(name) == "" {
		panic("flow: New: the name is empty: give the kind of resource")
	}
	ops.check(name)
	if ops.Owner == nil && ext.OwnerCheck.Len() > 0 {
		panic(fmt.Sprintf("flow: New: %s: there are owner checks (%s) and Operations.Owner is nil: give the function that finds the owner", name, ext.OwnerCheck))
	}
	r := &Reconciler[T]{name: name, link: &chain.Link{Kind: chain.Pass, Name: name}, ops: ops, ext: ext.named(), opt: options{now: time.Now}}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("flow: New: %s: option %d is nil", name, i+1))
		}
		o(&r.opt)
	}
	r.keyOf = func(resource any) string {
		t, _ := resource.(T)
		return r.key(t)
	}
	if r.opt.keep > 0 {
		r.kept = newKeeper(r.opt.keep)
	}
	// The flow's own trace is the innermost observer.
	r.opt.observers = append(slices.Clip(r.opt.observers), tracer{})
	r.plain = r.compose(nil)
	r.starters = startersOf(r.opt.observers, r.link)
	r.watched = r.compose(audienceOf(r.opt.observers, r.starters))
	return r
}

// Name is what New was given.
func (r *Reconciler[T]) Name() string { return r.name }

// Extensions is what New was given, with each link knowing its point ([chain.Link]).
func (r *Reconciler[T]) Extensions() Extensions[T] { return r.ext }

// compose makes the handlers of all points, watched by observers.
func (r *Reconciler[T]) compose(observers audience) *points[T] {
	ofRequest := func(_ context.Context, req *Request[T]) *note {
		if req == nil {
			return nil
		}
		return req.note
	}
	p := &points[T]{
		owner:       watchPoint(observers, PointOwner, r.resolveOwner),
		ownerCheck:  watchPoint(observers, PointOwnerCheck, checks.Compose(watchLinks(observers, r.ext.OwnerCheck))),
		get:         watchPoint(observers, PointGet, guarded(watchLinks(observers, r.ext.Get), r.get, ofRequest, judgeObservation)),
		preCheck:    watchPoint(observers, PointPreCheck, checks.Compose(watchLinks(observers, r.ext.PreCheck))),
		apply:       watchPoint(observers, PointApply, guarded(watchLinks(observers, r.ext.Apply), operate(r.ops.Apply), ofRequest, judgeProgress)),
		postCheck:   watchPoint(observers, PointPostCheck, checks.Compose(watchLinks(observers, r.ext.PostCheck))),
		deleteCheck: watchPoint(observers, PointDeleteCheck, checks.Compose(watchLinks(observers, r.ext.DeleteCheck))),
		remove:      watchPoint(observers, PointDelete, guarded(watchLinks(observers, r.ext.Delete), operate(r.ops.Delete), ofRequest, judgeProgress)),
		classify:    watchPoint(observers, PointClassify, classify.Compose(watchLinks(observers, r.ext.Classify))),
	}
	p.pass = func(ctx context.Context, resource T) (Outcome, error) { return r.run(ctx, ctx, p, resource), nil }
	if r.ext.Pass.Len() > 0 {
		p.pass = r.around(p, guarded(watchLinks(observers, r.ext.Pass), r.inner(p), ofPass[T], judgeOutcome))
	}
	p.pass = r.safely(p, p.pass)
	p.pass = watchAs(observers, r.link, p.pass)
	return p
}

// Reconcile takes resource through the flow once:
//
//	pass, owner resolved, owner check, get, pre check, apply, post check, ready
//	pass, owner resolved, delete check, delete, gone          if it is being deleted
//
// What goes wrong on the way, a panic of a link or an operation included, is in the Outcome. While an operation is under
// way only that operation is called, with its token, and then the post check; if it is for an older spec, the new one is
// applied after it in the same pass.
func (r *Reconciler[T]) Reconcile(ctx context.Context, resource T) Outcome {
	if ctx == nil {
		ctx = context.Background()
	}
	p := r.plain
	ctx, pass := r.listeners(ctx, resource)
	if pass != nil {
		p = r.watched
		ctx = pass.with(ctx)
	} else if r.ext.Pass.Len() > 0 {
		ctx = (&passState{}).with(ctx)
	}
	out, _ := p.pass(ctx, resource)
	if b := r.opt.backoff; b != nil && !b.idle(&out) {
		out.delay, _ = b.Next(r.name+" "+r.key(resource), out)
	}
	if pass != nil && pass.trace != nil {
		r.finish(pass, r.key(resource), out)
	}
	return out
}

// safely makes an outcome of a panic outside of all points: in Key, Deleting, Token and the like.
func (r *Reconciler[T]) safely(p *points[T], pass chain.Handler[T, Outcome]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (out Outcome, err error) {
		defer func() {
			if v := recover(); v != nil {
				out = r.failed(ctx, p, resource, PointPass, nil, checks.Result{}, &chain.PanicError{Value: v, Stack: stack.Panic()})
			}
			if out.State() != StateCanceled { // which nobody is to be told of as an error
				err = out.Err()
			}
		}()
		return pass(ctx, resource)
	}
}

// inner is what the chain of Pass stands in front of.
func (r *Reconciler[T]) inner(p *points[T]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (Outcome, error) {
		pass := passOf(ctx)
		out := r.run(pass.own, ctx, p, resource)
		pass.note.outcome = out.o
		return out, nil
	}
}

// around makes an outcome of whatever the chain of Pass gives.
func (r *Reconciler[T]) around(p *points[T], h chain.Handler[T, Outcome]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (Outcome, error) {
		pass := passOf(ctx)
		pass.own = ctx // with what observers of the pass have put into it
		out, err := h(ctx, resource)
		switch {
		case err != nil:
			return r.failed(pass.own, p, resource, PointPass, out.at, checks.Result{}, err), nil
		case out.stopped():
			o := *out.o
			o.generation, _ = r.about(resource)
			out.o = &o
		}
		return out, nil
	}
}

// ofPass finds the note of a call of the chain of Pass.
func ofPass[T any](ctx context.Context, _ T) *note {
	if pass := passOf(ctx); pass != nil {
		return &pass.note
	}
	return nil
}

// about is the generation of a resource and whether it is being deleted, for those who must not fail.
func (r *Reconciler[T]) about(resource T) (generation int64, deleting bool) {
	defer func() { _ = recover() }()
	if r.ops.Generation != nil {
		generation = r.ops.Generation(resource)
	}
	return generation, r.ops.Deleting != nil && r.ops.Deleting(resource)
}

// key is the resource's key, for those who must not fail.
func (r *Reconciler[T]) key(resource T) (key string) {
	defer func() {
		if v := recover(); v != nil {
			key = fmt.Sprintf("(Operations.Key panics: %v)", v)
		}
	}()
	return r.ops.Key(resource)
}
