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

// New makes a reconciler for one kind of resource. The name is the kind. New
// does all static work, so make a Reconciler once and use it often.
//
// New panics, with a message that says what to change, on:
//
//   - an empty name;
//   - a nil option, two resolvers, and two listers;
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
	link := needsOwner(ext.EntryCheck)
	must(ops.Owner != nil || ext.OwnerCheck.Len() == 0, name, "there are owner checks (%s) and Operations.Owner is nil: give the function that finds the owner", ext.OwnerCheck)
	must(link == "", name, "%s at EntryCheck is about the owner, which is read after EntryCheck: move it to OwnerCheck or PreCheck", link)
	for point, c := range map[string]checks.Chain[T]{PointGetCheck: ext.GetCheck, PointPreCheck: ext.PreCheck, PointPostCheck: ext.PostCheck, PointDeleteCheck: ext.DeleteCheck} {
		link := needsOwner(c)
		must(link == "" || ops.Owner != nil, name, "%s at %s is about the owner, and Operations.Owner is nil: give the function that finds the owner", link, point)
	}
	r := &Reconciler[T]{name: name, link: &chain.Link{Name: text.Line(name, text.Name), Tag: pass.Pass}, ops: ops, ext: ext.named(), opt: options{now: time.Now}, explanations: &keyed.Map[string, Explanation]{}}
	for i, o := range opts {
		must(o != nil, name, "option %d is nil", i+1)
		o(&r.opt)
	}
	must(r.opt.twice == "", name, "%s is given twice: give it once, and not at all under ctrlx, which gives its own", r.opt.twice)
	r.class = r.opt.errors.Class
	r.keyOf = func(resource any) string {
		t, _ := resource.(T)
		return r.key(t)
	}
	if r.opt.backoff == nil && !r.opt.stateless {
		r.opt.backoff = NewBackoff()
		r.opt.backoff.now = r.opt.now
	}
	r.early = beforeGet(ext.DeleteCheck)
	r.followsOf.owner, r.followsOf.get = tagsOf(ext.OwnerCheck), tagsOf(ext.GetCheck)
	r.followsOf.pre, r.followsOf.delete = tagsOf(ext.PreCheck), tagsOf(ext.DeleteCheck)
	if r.opt.explanations > 0 { // the flow's own tracer is the innermost observer
		r.opt.observers = append(slices.Clip(r.opt.observers), tracer{})
	}
	r.plain = r.compose(nil)
	r.starters = startersOf(r.opt.observers, r.link)
	r.whole = observed(r.opt.observers, r.link, func(ctx context.Context, resource T) (Outcome, error) { return r.pass(ctx, r.plain, resource) })
	r.observed = sync.OnceValue(func() *points[T] { return r.compose(r.opt.observers) })
	return r
}

// must panics with the name of the kind and a text unless ok.
func must(ok bool, name, format string, args ...any) {
	if !ok {
		panic("flow: New: " + name + ": " + fmt.Sprintf(format, args...))
	}
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

// beforeGet returns the number of the outermost links that need no Get.
func beforeGet[T any](c checks.Chain[T]) int {
	for i, l := range c.Links() {
		if tag, _ := l.Tag.(linktag.Check); !tag.BeforeGet {
			return i
		}
	}
	return c.Len()
}

func (r *Reconciler[T]) compose(all observers) *points[T] {
	operations := rulesOfRequest(r.vetProgress)
	early, late := r.ext.DeleteCheck.Cut(r.early)
	p := &points[T]{
		owner:       observePoint(all, PointOwner, r.resolveOwner),
		entryCheck:  observePoint(all, PointEntryCheck, checks.Compose(observeLinks(all, r.ext.EntryCheck))),
		ownerCheck:  observePoint(all, PointOwnerCheck, checkOwner(checks.Compose(observeLinks(all, r.ext.OwnerCheck)), checks.Compose(observeLinks(all, oneOwner)))),
		getCheck:    observePoint(all, PointGetCheck, checks.Compose(observeLinks(all, r.ext.GetCheck))),
		get:         observePoint(all, PointGet, onion.Compose(observeLinks(all, r.ext.Get), r.get, rulesOfRequest(vetObservation[T]))),
		preCheck:    observePoint(all, PointPreCheck, checks.Compose(observeLinks(all, r.ext.PreCheck))),
		apply:       observePoint(all, PointApply, onion.Compose(observeLinks(all, r.ext.Apply), operate(r, r.ops.Apply), operations)),
		postCheck:   observePoint(all, PointPostCheck, checks.Compose(observeLinks(all, r.ext.PostCheck))),
		early:       observePoint(all, PointDeleteCheck, checks.Compose(observeLinks(all, early))),
		deleteCheck: observePoint(all, PointDeleteCheck, checks.Compose(observeLinks(all, late))),
		remove:      observePoint(all, PointDelete, onion.Compose(observeLinks(all, r.ext.Delete), operate(r, r.ops.Delete), operations)),
		classify:    observePoint(all, PointClassify, classify.Compose(observeLinks(all, r.ext.Classify))),
	}
	if r.ext.Pass.Len() > 0 {
		p.around = onion.Compose(observeLinks(all, r.ext.Pass), func(ctx context.Context, resource T) (Outcome, error) {
			state := passOf(ctx)
			out := r.run(state.own, ctx, p, resource)
			state.outcome = out.o
			return out, nil
		}, rulesOfPass[T]())
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
	switch {
	case state == nil || state.on == nil:
		out, _ = r.pass(ctx, r.plain, resource)
	case state.within:
		out, _ = r.observed().pass(state, resource)
	default:
		out, _ = r.whole(state, resource)
	}
	if b := r.opt.backoff; b != nil {
		out.delay, _ = b.next(func() string { return r.backoffKey(r.key(resource)) }, out)
	}
	if state != nil && state.trace != nil {
		r.finish(state, resource, out)
	}
	return out
}

// begin returns the context of a pass, with the values that starters added, and
// the state of the pass, which is that context. The state is nil if the pass
// needs none.
func (r *Reconciler[T]) begin(ctx context.Context, resource T) (inner context.Context, p *passState) {
	if r.ext.Pass.Len() > 0 {
		p = &passState{}
	}
	for i, o := range r.opt.observers {
		of := pass.Nothing
		if s := r.starters[i]; s != nil {
			ctx, of = r.start(ctx, s, resource)
		} else if enabled(ctx, o) {
			of = pass.Everything
		}
		if of == pass.Nothing {
			continue
		}
		if p == nil {
			p = &passState{}
		}
		if p.on == nil {
			p.on = append(p.few[:0], make([]bool, len(r.opt.observers))...)
		}
		p.on[i], p.within = true, p.within || of == pass.Everything
	}
	if p == nil {
		return ctx, nil
	}
	p.Context, p.own = ctx, p
	if r.opt.explanations > 0 {
		p.trace = &recording{now: r.opt.now, begun: r.opt.now()}
	}
	return p, p
}

// start calls Start of an observer. An observer that panics is not enabled.
func (r *Reconciler[T]) start(ctx context.Context, s pass.Starter, resource T) (inner context.Context, of pass.Extent) {
	defer func() {
		if recover() != nil {
			inner = ctx
		}
	}()
	if inner, of = s.Start(ctx, pass.Start{Link: r.link, Resource: resource, KeyOf: r.keyOf, ErrorClass: r.class}); inner == nil {
		inner = ctx
	}
	return inner, of
}

// pass runs the pass inside of its observers.
func (r *Reconciler[T]) pass(ctx context.Context, p *points[T], resource T) (out Outcome, err error) {
	defer func() {
		if v := recover(); v != nil { // a panic outside of all points, such as in Key, Deleting or Token
			out = r.failed(ctx, p, resource, r.about(resource), failure{point: PointPass, err: &chain.PanicError{Value: v, Stack: stack.Panic()}})
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
		out = r.failed(ctx, p, resource, r.about(resource), failure{PointPass, state.By(), err})
	case out.get().stop:
		o, about := *out.o, r.about(resource)
		o.stop, o.link, o.generation = false, state.By().Name, about.generation
		if about.deleting && o.retry == classify.Never {
			o.retry = classify.OnChange // as for a check
		}
		out.o = &o
	}
	return out, nil
}

// finish stores the explanation of a pass.
func (r *Reconciler[T]) finish(p *passState, resource T, out Outcome) {
	key := r.key(resource)
	version := r.about(resource).apiVersion
	e := Explanation{
		Name: r.name, Key: key, APIVersion: version, At: p.trace.begun, Since: p.trace.begun,
		State: out.State().String(), Point: out.Point(), Link: out.Link(), Reason: out.Reason(), Message: out.Message(),
		Severity: string(out.Severity()), Rule: out.Rule(), WaitingFor: out.WaitingFor(), WaitsForSelf: out.WaitsForSelf(), Following: out.Following(), Steps: p.trace.all(),
	}
	e.Elapsed = max(r.opt.now().Sub(e.At), 0) // the clock may go back
	if out.Err() != nil {
		e.Error = fmt.Sprint(out.Err())
	}
	e = e.safe()
	if out.State() == StateBlocked || out.State() == StateFailed {
		e.Retry = out.Retry().String()
	}
	if delay, again := out.Again(); again && r.opt.backoff != nil {
		e.Again = r.opt.now().Add(delay)
	}
	r.storeExplanation(key, e)
}
