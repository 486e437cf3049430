package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/keyed"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/stack"
)

// Reconciler takes resources of type T through the flow. [New] makes it. It is safe for concurrent use.
// It keeps only this state: traces ([WithExplanations]), back-off ([WithBackoff]), the times of
// [WithReadyTimeout], and tokens that are not stored with the resource. The engine must run at most one
// pass at a time for each resource.
type Reconciler[T any] struct {
	name       string
	link       *chain.Link        // the pass as a whole
	keyOf      func(any) string   // key, for observers, which do not know T
	class      func(error) string // returns the class of an error
	ops        Operations[T]
	ext        Extensions[T]
	opt        options
	deleteGets bool                            // Get runs before DeleteCheck, because a check there sees the resource
	plain      *points[T]                      // the handlers of a pass without observers
	watched    func() *points[T]               // those of an observed pass, composed when they are first needed
	starters   []pass.Starter                  // one for each observer; nil: it does not start passes
	tokens     keyed.Map[string, underWay]     // of resources that cannot store a token, or failed to
	waits      keyed.Map[string, wait]         // of WithReadyTimeout
	kept       *keyed.Map[string, Explanation] // of WithExplanations
	refuse     func(T) error                   // returns why no resource is reconciled; nil: all are
}

// points are the composed handlers of one flow.
type points[T any] struct {
	pass                             PassHandler[T]
	around                           PassHandler[T] // the chain of Pass; nil: it has no links
	owner                            chain.Handler[*Request[T], checks.Object]
	ownerCheck                       checks.OwnerHandler
	get                              GetHandler[T]
	entryCheck                       checks.Handler[T]
	preCheck, postCheck, deleteCheck checks.Handler[T]
	apply, remove                    Handler[T]
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
//     checks.OnOwner or checks.OwnerFits;
//   - such a link on EntryCheck, because the owner is read after it;
//   - an observer of package otelx that is given twice;
//   - two observers of package otelx that both write log lines.
func New[T any](name string, ops Operations[T], ext Extensions[T], opts ...Option) *Reconciler[T] {
	if strings.TrimSpace(name) == "" {
		panic("flow: New: the name is empty: give the kind of resource")
	}
	ops = ops.checked(name)
	if ops.Owner == nil && ext.OwnerCheck.Len() > 0 {
		panic(fmt.Sprintf("flow: New: %s: there are owner checks (%s) and Operations.Owner is nil: give the function that finds the owner", name, ext.OwnerCheck))
	}
	if link := needsOwner(ext.EntryCheck); link != "" {
		panic(fmt.Sprintf("flow: New: %s: %s at EntryCheck is about the owner, which is read after EntryCheck: move it to OwnerCheck or PreCheck", name, link))
	}
	for point, c := range map[string]checks.Chain[T]{PointPreCheck: ext.PreCheck, PointPostCheck: ext.PostCheck, PointDeleteCheck: ext.DeleteCheck} {
		if link := needsOwner(c); link != "" && ops.Owner == nil {
			panic(fmt.Sprintf("flow: New: %s: %s at %s is about the owner, and Operations.Owner is nil: give the function that finds the owner", name, link, point))
		}
	}
	r := &Reconciler[T]{name: name, link: &chain.Link{Name: name, Tag: pass.Pass}, ops: ops, ext: ext.named(), opt: options{now: time.Now}, kept: &keyed.Map[string, Explanation]{}}
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
	// The flow's own tracer is the innermost observer.
	r.opt.observers = append(slices.Clip(r.opt.observers), tracer{})
	r.plain = r.compose(nil)
	r.starters = startersOf(r.opt.observers, r.link)
	r.watched = sync.OnceValue(func() *points[T] { return r.compose(r.opt.observers) })
	return r
}

// needsOwner returns the name of the first link that checks the owner; empty: there is none.
func needsOwner[T any](c checks.Chain[T]) string {
	for _, l := range c.Links() {
		if tag, _ := l.Tag.(linktag.Check); tag.NeedsOwner {
			return l.Name
		}
	}
	return ""
}

// ownerOnly reports whether every check of a chain sees only the owner.
func ownerOnly[T any](c checks.Chain[T]) bool {
	for _, l := range c.Links() {
		if tag, _ := l.Tag.(linktag.Check); !tag.OwnerOnly {
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
func (r *Reconciler[T]) compose(all observers) *points[T] {
	operations := guardRequest[T](vetProgress)
	p := &points[T]{
		owner:       watchPoint(all, PointOwner, r.resolveOwner),
		entryCheck:  watchPoint(all, PointEntryCheck, checks.Compose(watchLinks(all, r.ext.EntryCheck))),
		ownerCheck:  watchPoint(all, PointOwnerCheck, checks.Compose(watchLinks(all, r.ext.OwnerCheck))),
		get:         watchPoint(all, PointGet, onion.Compose(watchLinks(all, r.ext.Get), r.get, guardRequest[T](vetObservation))),
		preCheck:    watchPoint(all, PointPreCheck, checks.Compose(watchLinks(all, r.ext.PreCheck))),
		apply:       watchPoint(all, PointApply, onion.Compose(watchLinks(all, r.ext.Apply), operate(r.ops.Apply), operations)),
		postCheck:   watchPoint(all, PointPostCheck, checks.Compose(watchLinks(all, r.ext.PostCheck))),
		deleteCheck: watchPoint(all, PointDeleteCheck, checks.Compose(watchLinks(all, r.ext.DeleteCheck))),
		remove:      watchPoint(all, PointDelete, onion.Compose(watchLinks(all, r.ext.Delete), operate(r.ops.Delete), operations)),
		classify:    watchPoint(all, PointClassify, classify.Compose(watchLinks(all, r.ext.Classify))),
	}
	if r.ext.Pass.Len() > 0 {
		p.around = onion.Compose(watchLinks(all, r.ext.Pass), func(ctx context.Context, resource T) (Outcome, error) {
			state := passOf(ctx)
			out := r.run(state.own, ctx, p, resource)
			state.outcome = out.o
			return out, nil
		}, guardPass[T]())
	}
	p.pass = watched(all, r.link, func(ctx context.Context, resource T) (Outcome, error) { return r.pass(ctx, p, resource) })
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
	state := r.listeners(ctx, resource)
	var out Outcome
	switch {
	case state == nil:
		out, _ = r.pass(ctx, r.plain, resource)
	case state.on == nil:
		out, _ = r.pass(state, r.plain, resource)
	default:
		out, _ = r.watched().pass(state, resource)
	}
	if b := r.opt.backoff; b != nil {
		out.delay, _ = b.next(func() string { return r.name + " " + r.key(resource) }, out)
	}
	if due := out.get().due; due > 0 {
		delay, _ := out.Again()
		out.delay = min(delay, max(due, floor))
	}
	if state != nil && state.trace != nil {
		r.finish(state, resource, out)
	}
	return out
}

// pass runs the pass inside of its observers.
func (r *Reconciler[T]) pass(ctx context.Context, p *points[T], resource T) (out Outcome, err error) {
	defer func() {
		if v := recover(); v != nil { // outside of all points: in Key, Deleting, Token and similar functions
			out = r.failed(ctx, p, resource, failure{point: PointPass, err: &chain.PanicError{Value: v, Stack: stack.Panic()}})
		}
		if r.opt.readyWithin > 0 {
			out = r.timely(resource, out)
		}
		if out.State() != StateCanceled { // observers do not see a cancellation as an error
			err = out.Err()
		}
	}()
	if p.around == nil {
		return r.run(ctx, ctx, p, resource), nil
	}
	state := passOf(ctx)
	state.own = ctx // with the values that observers of the pass have added
	out, err = p.around(ctx, resource)
	switch {
	case err != nil:
		out = r.failed(ctx, p, resource, failure{PointPass, state.By(), err})
	case out.get().stop:
		o := *out.o
		o.stop, o.link = false, state.By().Name
		o.generation, _, _ = r.about(resource)
		out.o = &o
	}
	return out, nil
}

// about returns the facts about a resource that an outcome needs. If a user's function panics, the
// values after it are missing.
func (r *Reconciler[T]) about(resource T) (generation int64, deleting bool, apiVersion string) {
	defer func() { _ = recover() }()
	generation = r.ops.Generation(resource)
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
