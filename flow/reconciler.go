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
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/stack"
)

// Reconciler takes resources of type T through the flow. [New] makes it. It is safe for concurrent use.
// It keeps only this state: traces ([KeepLast]), back-off ([WithBackoff]), the times of [ReadyWithin],
// and tokens that are not stored with the resource. The engine must run at most one pass at a time for
// each resource.
type Reconciler[T any] struct {
	name       string
	link       *chain.Link        // the pass as a whole
	keyOf      func(any) string   // key, for observers, which do not know T
	class      func(error) string // returns the class of an error
	ops        Operations[T]
	ext        Extensions[T]
	opt        options
	deleteGets bool       // Get runs before DeleteCheck, because a check there sees the resource
	plain      *points[T] // the handlers of a pass without observers
	watched    *points[T]
	starters   []chain.Starter // one for each observer; nil: it does not start passes
	tokens     tokens
	waits      waits
	kept       *keeper       // nil: KeepLast was not given
	refuse     func(T) error // returns why no resource is reconciled; nil: all are
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

// New makes a reconciler for one kind of resource. The name is the kind. New does all static work, so
// make a Reconciler once and use it often.
//
// New panics, with a message that says what to do, on:
//
//   - an empty name;
//   - a nil option;
//   - operations without Key or Apply;
//   - one function of a pair without the other;
//   - owner checks for resources without an owner: links on OwnerCheck, and links made by
//     checks.OnOwner or checks.WithOwner;
//   - a [chain.Starter] that is given twice as an observer.
func New[T any](name string, ops Operations[T], ext Extensions[T], opts ...Option) *Reconciler[T] {
	if strings.TrimSpace(name) == "" {
		panic("flow: New: the name is empty: give the kind of resource")
	}
	ops.check(name)
	if ops.Owner == nil && ext.OwnerCheck.Len() > 0 {
		panic(fmt.Sprintf("flow: New: %s: there are owner checks (%s) and Operations.Owner is nil: give the function that finds the owner", name, ext.OwnerCheck))
	}
	for point, c := range map[string]checks.Chain[T]{PointPreCheck: ext.PreCheck, PointPostCheck: ext.PostCheck, PointDeleteCheck: ext.DeleteCheck} {
		if link := needsOwner(c); link != "" && ops.Owner == nil {
			panic(fmt.Sprintf("flow: New: %s: %s at %s is about the owner, and Operations.Owner is nil: give the function that finds the owner", name, link, point))
		}
	}
	r := &Reconciler[T]{name: name, link: &chain.Link{Kind: chain.Pass, Name: name}, ops: ops, ext: ext.named(), opt: options{now: time.Now}}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("flow: New: %s: option %d is nil", name, i+1))
		}
		o(&r.opt)
	}
	r.class = r.opt.errors.Class
	r.keyOf = func(resource any) string {
		t, _ := resource.(T)
		return r.key(t)
	}
	if r.opt.backoff == nil && !r.opt.stateless {
		r.opt.backoff = NewBackoff()
		r.opt.backoff.now = r.opt.now
	}
	r.deleteGets = !ownerOnly(ext.DeleteCheck)
	if r.opt.keep > 0 {
		r.kept = newKeeper(r.opt.keep)
	}
	// The flow's own tracer is the innermost observer.
	r.opt.observers = append(slices.Clip(r.opt.observers), tracer{})
	r.plain = r.compose(nil)
	r.starters = startersOf(r.opt.observers, r.link)
	r.watched = r.compose(audienceOf(r.opt.observers, r.starters))
	return r
}

// needsOwner returns the name of the first link that checks the owner; empty: there is none.
func needsOwner[T any](c checks.Chain[T]) string {
	for _, l := range c.Links() {
		if tag, ok := l.Tag.(linktag.Check); ok && tag.NeedsOwner {
			return l.Name
		}
	}
	return ""
}

// ownerOnly reports whether every check of a chain sees only the owner.
func ownerOnly[T any](c checks.Chain[T]) bool {
	for _, l := range c.Links() {
		if tag, ok := l.Tag.(linktag.Check); !ok || !tag.OwnerOnly {
			return false
		}
	}
	return true
}

// Name returns the name that New was given.
func (r *Reconciler[T]) Name() string { return r.name }

// Extensions returns the extensions that New was given. Each link knows its point ([chain.Link]).
func (r *Reconciler[T]) Extensions() Extensions[T] { return r.ext }

// compose makes the handlers of all points, with observers around them.
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
	if r.opt.readyWithin > 0 {
		p.pass = r.timely(p.pass)
	}
	p.pass = r.safely(p, p.pass)
	p.pass = watchAs(observers, r.link, p.pass)
	return p
}

// Reconcile runs one pass for resource:
//
//	pass, owner resolved, owner check, get, pre check, apply, post check, ready
//	pass, owner resolved, delete check, delete, gone          if it is being deleted
//
// The Outcome reports every error, including a panic of a link or an operation.
//
// While an operation is under way, the pass resolves the owner and calls only that operation, with its
// token. When an Apply for the present spec is done, the post check follows. After an Apply for an older
// spec, the same pass continues with the owner check and applies the new spec. A deletion does not wait
// for an Apply under way: the pass runs the delete check and calls Delete.
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
	if due := out.get().due; due > 0 {
		delay, _ := out.Again()
		out.delay = min(delay, max(due, floor))
	}
	if pass != nil && pass.trace != nil {
		r.finish(pass, resource, out)
	}
	return out
}

// safely makes an outcome of a panic outside of all points: in Key, Deleting, Token and similar
// functions.
func (r *Reconciler[T]) safely(p *points[T], pass chain.Handler[T, Outcome]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (out Outcome, err error) {
		defer func() {
			if v := recover(); v != nil {
				out = r.failed(ctx, p, resource, PointPass, nil, checks.Result{}, &chain.PanicError{Value: v, Stack: stack.Panic()})
			}
			if out.State() != StateCanceled { // observers do not see a cancellation as an error
				err = out.Err()
			}
		}()
		return pass(ctx, resource)
	}
}

// inner returns the handler inside the chain of Pass.
func (r *Reconciler[T]) inner(p *points[T]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (Outcome, error) {
		pass := passOf(ctx)
		out := r.run(pass.own, ctx, p, resource)
		pass.note.outcome = out.o
		return out, nil
	}
}

// around makes an outcome of every result of the chain of Pass.
func (r *Reconciler[T]) around(p *points[T], h chain.Handler[T, Outcome]) chain.Handler[T, Outcome] {
	return func(ctx context.Context, resource T) (Outcome, error) {
		pass := passOf(ctx)
		pass.own = ctx // with the values that observers of the pass have added
		out, err := h(ctx, resource)
		switch {
		case err != nil:
			return r.failed(pass.own, p, resource, PointPass, out.at, checks.Result{}, err), nil
		case out.stopped():
			o := *out.o
			o.generation, _, _ = r.about(resource)
			out.o = &o
		}
		return out, nil
	}
}

// ofPass returns the note for a call of the chain of Pass.
func ofPass[T any](ctx context.Context, _ T) *note {
	if pass := passOf(ctx); pass != nil {
		return &pass.note
	}
	return nil
}

// about returns the facts about a resource that an outcome needs. If a user's function panics, the
// values after it are missing.
func (r *Reconciler[T]) about(resource T) (generation int64, deleting bool, apiVersion string) {
	defer func() { _ = recover() }()
	if r.ops.Generation != nil {
		generation = r.ops.Generation(resource)
	}
	if r.ops.Deleting != nil {
		deleting = r.ops.Deleting(resource)
	}
	return generation, deleting, r.apiVersion(resource)
}

// apiVersion returns the API version of a resource; empty: unknown.
func (r *Reconciler[T]) apiVersion(resource T) string {
	if r.ops.APIVersion != nil {
		if version := r.ops.APIVersion(resource); version != "" {
			return version
		}
	}
	return r.opt.apiVersion
}

// key returns the resource's key. If Operations.Key panics, it returns a text that reports the panic.
func (r *Reconciler[T]) key(resource T) (key string) {
	defer func() {
		if v := recover(); v != nil {
			key = fmt.Sprintf("(Operations.Key panics: %v)", v)
		}
	}()
	return r.ops.Key(resource)
}
