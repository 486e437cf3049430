package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/stack"
)

// Errors that a link on Pass can lead to. Test for them with errors.Is.
var (
	// ErrNoOutcome: a link returned the zero Outcome.
	ErrNoOutcome = errors.New("the zero Outcome says nothing: return what next returned, or an error, or flow.Stop")
	// ErrForeignOutcome: a link returned an outcome that this pass did not come to.
	ErrForeignOutcome = errors.New("the outcome is none of this pass: return what next returned, or an error, or flow.Stop")
)

// ErrNoKey is the error of a pass whose resource has an empty key, by which its operation could not be told from that of
// another one. Test for it with errors.Is.
var ErrNoKey = errors.New("flow: Operations.Key gave an empty key: give what identifies the resource")

// run takes a resource through the flow. own is the context that the pass began with, ctx what links on Pass made of it.
// The order of the flow is the order of the lines here.
func (r *Reconciler[T]) run(own, ctx context.Context, p *points[T], resource T) Outcome {
	if r.refuse != nil {
		return r.failed(own, p, resource, PointPass, nil, checks.Result{}, r.refuse(resource))
	}
	req := r.request(resource)
	s := step[T]{r: r, p: p, own: own, req: req}

	if !s.owner(ctx) {
		return s.stop
	}
	s.kept, s.unsaved = r.underWay(resource)
	if req.Deleting {
		return s.delete(ctx)
	}
	if op := s.kept; op.token != "" && !op.deletes {
		if !s.apply(ctx, op) {
			return s.stop
		}
		if op.generation == s.generation() {
			return s.ready(ctx)
		}
	}
	if !s.ownerCheck(ctx) {
		return s.stop
	}
	seen, ok := s.get(ctx)
	if !ok {
		return s.stop
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
	if !(seen.Exists && seen.InSync) && !s.apply(ctx, underWay{generation: s.generation()}) {
		return s.stop
	}
	return s.ready(ctx)
}

// request makes the request of a pass, which is all that a pass allocates.
func (r *Reconciler[T]) request(resource T) *Request[T] {
	req := &Request[T]{}
	req.Resource = resource
	req.Kind = r.name
	req.APIVersion = r.opt.apiVersion
	req.Resolver = r.opt.resolver
	req.Deleting = r.ops.Deleting != nil && r.ops.Deleting(resource)
	req.note = &req.own
	return req
}

// step is a pass on its way. Its methods do one point each and tell whether the pass goes on; if not, stop says why.
type step[T any] struct {
	r       *Reconciler[T]
	p       *points[T]
	own     context.Context
	req     *Request[T]
	kept    underWay // what is kept with the resource
	unsaved bool     // it is in memory only, since the resource could not keep it
	stop    Outcome
}

func (s *step[T]) owner(ctx context.Context) bool {
	if s.r.ops.Owner == nil {
		return true
	}
	owner, err := s.p.owner(ctx, s.req)
	if err != nil {
		return s.failed(PointOwner, nil, checks.Result{}, err)
	}
	s.req.Owner = owner
	return true
}

// resolveOwner finds the owner, also one of which only the cloud ID is known, if there is a resolver that knows it.
func (r *Reconciler[T]) resolveOwner(ctx context.Context, req *Request[T]) (owner checks.Object, err error) {
	defer caught(&err)
	if owner, err = r.ops.Owner(ctx, req.Resource); err != nil {
		return checks.Object{}, fmt.Errorf("the owner: %w", err)
	}
	if r.opt.resolver != nil && owner.Ref.ByIDOnly() && !owner.Found() {
		found, err := r.opt.resolver(ctx, owner.Ref)
		if err != nil {
			return checks.Object{}, fmt.Errorf("the owner %s: %w", owner.Ref, err)
		}
		if found.Found() {
			return found, nil
		}
	}
	return owner, nil
}

func (s *step[T]) ownerCheck(ctx context.Context) bool {
	res, err := s.p.ownerCheck(ctx, &s.req.OwnerRequest)
	return s.decided(PointOwnerCheck, res, err)
}

func (s *step[T]) check(ctx context.Context, point string, check checks.Handler[T]) bool {
	res, err := check(ctx, &s.req.Request)
	return s.decided(point, res, err)
}

// decided does what a check says.
func (s *step[T]) decided(point string, res checks.Result, err error) bool {
	switch {
	case err != nil:
		return s.failed(point, res.Link(), res, err)
	case res.Proceeds():
		return true
	}
	s.stop = Outcome{o: blocked(point, res)}
	s.stop.o.generation = s.generation()
	return false
}

func (s *step[T]) get(ctx context.Context) (Observation, bool) {
	if s.r.ops.Get == nil && s.r.ext.Get.Len() == 0 {
		return Observation{}, true
	}
	if err := ctx.Err(); err != nil {
		return Observation{}, s.failed(PointGet, nil, checks.Result{}, err)
	}
	seen, err := s.p.get(ctx, s.req)
	if err != nil {
		return seen, s.failed(PointGet, seen.at, checks.Result{}, err)
	}
	s.req.Exists = seen.Exists
	return seen, true
}

// get is what the chain of Get stands in front of.
func (r *Reconciler[T]) get(ctx context.Context, req *Request[T]) (Observation, error) {
	if r.ops.Get == nil {
		return Observation{}, nil
	}
	return r.ops.Get(ctx, req)
}

func (s *step[T]) apply(ctx context.Context, op underWay) bool {
	if !s.operate(ctx, PointApply, s.p.apply, op) {
		return false
	}
	s.req.Exists = true
	return true
}

func (s *step[T]) ready(ctx context.Context) Outcome {
	if !s.check(ctx, PointPostCheck, s.p.postCheck) {
		return s.stop
	}
	return Outcome{o: ready}
}

func (s *step[T]) delete(ctx context.Context) Outcome {
	op := s.kept
	if !op.deletes {
		op = underWay{generation: s.generation(), deletes: true} // what is being applied does not matter any more
	}
	if op.token == "" && !s.check(ctx, PointDeleteCheck, s.p.deleteCheck) {
		return s.stop
	}
	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
	return Outcome{o: gone}
}

// operate calls an operation, with the token of op if it has one, unless the pass was canceled meanwhile. It sees to it
// that what is kept with the resource is what the operation said, whatever links around it made of that.
func (s *step[T]) operate(ctx context.Context, point string, h chain.Handler[*Request[T], Progress], op underWay) bool {
	if err := ctx.Err(); err != nil {
		return s.failed(point, nil, checks.Result{}, err)
	}
	key := s.r.ops.Key(s.req.Resource) // asked before anything is begun, since without it a token could not be kept
	if key == "" {
		return s.failed(point, nil, checks.Result{}, ErrNoKey)
	}
	c := &s.req.note.op
	*c = op
	s.req.Token = op.token
	p, err := h(ctx, s.req)
	s.req.Token = ""
	if err == nil && p.inProgress() && c.token == "" {
		c.token = p.p.token // a link has an operation of its own in place of this one
	}
	if (*c != s.kept || s.unsaved) && (c.token != "" || s.kept.token != "") {
		if lost := s.r.keep(ctx, key, s.req.Resource, *c); lost != nil {
			err = errors.Join(err, lost)
		}
		s.kept, s.unsaved = *c, false
	}
	switch {
	case err != nil:
		return s.failed(point, p.at, checks.Result{}, err)
	case p.IsDone():
		return true
	}
	s.stop = Outcome{o: &outcome{
		state: StateInProgress, point: point, reason: ReasonInProgress, message: "the operation goes on in the cloud",
		severity: classify.Info, after: p.p.after, generation: s.generation(),
	}}
	if s.req.Deleting {
		s.stop.o.state, s.stop.o.reason, s.stop.o.message = StateDeleting, ReasonDeleting, "the deletion goes on in the cloud"
	}
	return false
}

func (s *step[T]) generation() int64 {
	if s.r.ops.Generation == nil {
		return 0
	}
	return s.r.ops.Generation(s.req.Resource)
}

// failed ends the pass with an error. res is what came beside it, whose refs are still waited for.
func (s *step[T]) failed(point string, link *chain.Link, res checks.Result, err error) bool {
	s.stop = s.r.failed(s.own, s.p, s.req.Resource, point, link, res, err)
	return false
}

// failed makes an outcome of an error.
func (r *Reconciler[T]) failed(own context.Context, p *points[T], resource T, point string, link *chain.Link, res checks.Result, err error) Outcome {
	c, _ := p.classify(own, classify.NewFailure(err, r.opt.apiVersion, r.opt.now()))
	generation, deleting := r.about(resource)
	if deleting && c.Retry() == classify.OnChange {
		c = c.With(classify.VerySlow) // nobody is going to change the spec any more
	}
	o := &outcome{
		state: StateFailed, point: point, reason: c.Reason(), message: c.Message(), rule: c.Rule(),
		retry: c.Retry(), severity: c.Severity(), after: c.After(), refs: res.WaitingFor(), generation: generation, err: err,
	}
	if link != nil {
		o.link = link.Name
	}
	if c.Canceled() {
		o.state = StateCanceled
	}
	return Outcome{o: o}
}

// caught makes an error of a panic.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = &chain.PanicError{Value: v, Stack: stack.Panic()}
	}
}
