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
	"github.com/windlass-go/windlass/internal/text"
)

// Reconciler takes resources of type T through the flow. [New] makes it. It is
// safe for concurrent use. The engine must run at most one pass at a time for
// each resource. Between passes a Reconciler stores only explanations
// ([WithExplanations]), the counts of its [Backoff], the times of
// [WithReadyTimeout], and tokens that are not stored with the resource.
type Reconciler[T any] struct {
	name         string
	link         *chain.Link        // the pass as a whole
	keyOf        func(any) string   // key, for observers, which do not know T
	class        func(error) string // the class of an error, for observers
	ops          Operations[T]
	ext          Extensions[T]
	opt          options
	followsOf    struct{ owner, pre, delete linktag.Check } // the tags of all links of a point
	deleteGets   bool                                       // Get runs before DeleteCheck, because a check there sees the resource
	plain        *points[T]                                 // the handlers of a pass without observers
	observed     func() *points[T]                          // those of an observed pass, composed when they are first needed
	starters     []pass.Starter                             // one for each observer; nil: it does not start passes
	tokens       keyed.Map[string, operation]               // of resources that cannot store a token, or failed to
	waits        keyed.Map[string, wait]                    // of WithReadyTimeout
	explanations *keyed.Map[string, Explanation]            // of WithExplanations
	refuse       func(T) error                              // returns why no resource is reconciled; nil: all are
}

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

// New makes a reconciler for one kind of resource. The name is the kind. New
// does all static work, so make a Reconciler once and use it often.
//
// New panics, with a message that says what to change, on:
//
//   - an empty name;
//   - a nil option;
//   - operations without Key or Apply;
//   - Token without SetToken or the reverse, and Delete without Deleting;
//   - owner checks without Operations.Owner: links on OwnerCheck, and links
//     made by checks.OnOwner or checks.OwnerFits;
//   - a link made by checks.OnOwner or checks.OwnerFits on EntryCheck, because
//     the owner is read after it;
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
	r := &Reconciler[T]{name: name, link: &chain.Link{Name: text.Line(name, text.Name), Tag: pass.Pass}, ops: ops, ext: ext.named(), opt: options{now: time.Now}, explanations: &keyed.Map[string, Explanation]{}}
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
	r.followsOf.owner, r.followsOf.pre, r.followsOf.delete = tagsOf(ext.OwnerCheck), tagsOf(ext.PreCheck), tagsOf(ext.DeleteCheck)
	// The flow's own tracer is the innermost observer.
	r.opt.observers = append(slices.Clip(r.opt.observers), tracer{})
	r.plain = r.compose(nil)
	r.starters = startersOf(r.opt.observers, r.link)
	r.observed = sync.OnceValue(func() *points[T] { return r.compose(r.opt.observers) })
	return r
}

// needsOwner returns the name of the first link that checks the owner, or "".
func needsOwner[T any](c checks.Chain[T]) string {
	for _, l := range c.Links() {
		if tag, _ := l.Tag.(linktag.Check); tag.NeedsOwner {
			return l.Name
		}
	}
	return ""
}

// tagsOf combines the tags of all links of a chain.
func tagsOf[R any](c chain.Chain[R, checks.Result]) (all linktag.Check) {
	for _, l := range c.Links() {
		tag, _ := l.Tag.(linktag.Check)
		all = all.With(tag)
	}
	return all
}

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

// Extensions returns the extensions that New was given. Each link has its point
// ([chain.Link]).
func (r *Reconciler[T]) Extensions() Extensions[T] { return r.ext }

func (r *Reconciler[T]) compose(all observers) *points[T] {
	operations := guardRequest(r.vetProgress)
	p := &points[T]{
		owner:       observePoint(all, PointOwner, r.resolveOwner),
		entryCheck:  observePoint(all, PointEntryCheck, checks.Compose(observeLinks(all, r.ext.EntryCheck))),
		ownerCheck:  observePoint(all, PointOwnerCheck, checkOwner(checks.Compose(observeLinks(all, r.ext.OwnerCheck)), checks.Compose(observeLinks(all, oneOwner)))),
		get:         observePoint(all, PointGet, onion.Compose(observeLinks(all, r.ext.Get), r.get, guardRequest(vetObservation[T]))),
		preCheck:    observePoint(all, PointPreCheck, checks.Compose(observeLinks(all, r.ext.PreCheck))),
		apply:       observePoint(all, PointApply, onion.Compose(observeLinks(all, r.ext.Apply), operate(r, r.ops.Apply), operations)),
		postCheck:   observePoint(all, PointPostCheck, checks.Compose(observeLinks(all, r.ext.PostCheck))),
		deleteCheck: observePoint(all, PointDeleteCheck, checks.Compose(observeLinks(all, r.ext.DeleteCheck))),
		remove:      observePoint(all, PointDelete, onion.Compose(observeLinks(all, r.ext.Delete), operate(r, r.ops.Delete), operations)),
		classify:    observePoint(all, PointClassify, classify.Compose(observeLinks(all, r.ext.Classify))),
	}
	if r.ext.Pass.Len() > 0 {
		p.around = onion.Compose(observeLinks(all, r.ext.Pass), func(ctx context.Context, resource T) (Outcome, error) {
			state := passOf(ctx)
			out := r.run(state.own, ctx, p, resource)
			state.outcome = out.o
			return out, nil
		}, guardPass[T]())
	}
	p.pass = observed(all, r.link, func(ctx context.Context, resource T) (Outcome, error) { return r.pass(ctx, p, resource) })
	return p
}

// Reconcile runs one pass for resource, in the order of the drawing of this
// package. The Outcome reports every error, including a panic of a link or an
// operation. A nil ctx is context.Background.
//
// While an operation is under way, the pass runs EntryCheck, resolves the
// owner, and calls that operation with its token. After the Done of an Apply for
// the present spec, it continues with Get, if PostCheck has a link, and
// PostCheck. After the Done of an Apply for an older spec, it continues with
// OwnerCheck and applies the new spec. A deletion does not wait for an Apply
// under way: the pass runs DeleteCheck and calls Delete.
func (r *Reconciler[T]) Reconcile(ctx context.Context, resource T) Outcome {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, state := r.begin(ctx, resource)
	var out Outcome
	if state == nil || state.on == nil {
		out, _ = r.pass(ctx, r.plain, resource)
	} else {
		out, _ = r.observed().pass(state, resource)
	}
	if b := r.opt.backoff; b != nil {
		out.delay, _ = b.next(func() string { return r.backoffKey(r.key(resource)) }, out)
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

// Forget drops the failure counts of resource and the time of
// [WithReadyTimeout], so that the next pass counts as the first one. Call it
// when a user asks for a retry. The token of an operation under way stays.
func (r *Reconciler[T]) Forget(resource T) {
	key := r.key(resource)
	if b := r.opt.backoff; b != nil {
		b.Forget(r.backoffKey(key))
	}
	r.waits.Delete(key)
}

// Remove drops everything that the reconciler stores in memory under the key of
// a resource that no longer exists: its token, failure counts and explanation.
// Call it when the engine learns that the resource is gone. Otherwise the token
// of an operation under way stays until the process ends.
func (r *Reconciler[T]) Remove(key string) {
	if b := r.opt.backoff; b != nil {
		b.Forget(r.backoffKey(key))
	}
	r.waits.Delete(key)
	r.tokens.Delete(key)
	r.explanations.Delete(key)
}

// backoffKey returns the key of a resource in the Backoff, which several
// reconcilers may share.
func (r *Reconciler[T]) backoffKey(key string) string { return r.name + " " + key }

// pass runs the pass inside of its observers.
func (r *Reconciler[T]) pass(ctx context.Context, p *points[T], resource T) (out Outcome, err error) {
	defer func() {
		if v := recover(); v != nil { // a panic outside of all points, such as in Key, Deleting or Token
			out = r.failed(ctx, p, r.about(resource), failure{point: PointPass, err: &chain.PanicError{Value: v, Stack: stack.Panic()}})
		}
		if r.opt.readyWithin > 0 {
			out = r.applyReadyTimeout(resource, out)
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
	defer func() {
		if inner := (Outcome{o: state.outcome}); out.o != inner.o { // a link replaced the outcome of the inner pass
			out = out.following(inner.get().follows)
		}
	}()
	switch {
	case err != nil:
		out = r.failed(ctx, p, r.about(resource), failure{PointPass, state.By(), err})
	case out.get().stop:
		o := *out.o
		o.stop, o.link = false, state.By().Name
		o.generation = r.about(resource).generation
		out.o = &o
	}
	return out, nil
}

// about returns the facts about a resource outside of its pass. If a user's
// function panics, its value and the later values are zero.
func (r *Reconciler[T]) about(resource T) (about facts) {
	defer func() { _ = recover() }()
	about.generation = r.ops.Generation(resource)
	if r.ops.Deleting != nil {
		about.deleting = r.ops.Deleting(resource)
	}
	about.apiVersion = r.apiVersion(resource)
	return about
}

func (r *Reconciler[T]) apiVersion(resource T) string {
	if r.ops.APIVersion != nil {
		if version := r.ops.APIVersion(resource); version != "" {
			return version
		}
	}
	return r.opt.apiVersion
}

// key returns the resource's key. If Operations.Key panics, it returns a text
// that reports the panic.
func (r *Reconciler[T]) key(resource T) (key string) {
	defer func() {
		if v := recover(); v != nil {
			key = fmt.Sprintf("(Operations.Key panics: %v)", v)
		}
	}()
	return r.ops.Key(resource)
}
