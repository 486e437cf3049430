package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// Errors of a pass. Test for them with errors.Is.
var (
	// ErrNoKey: the key of the resource is empty. Without a key the flow cannot
	// tell its operation from the operation of another resource.
	ErrNoKey = errors.New("flow: Operations.Key gave an empty key: give what identifies the resource")
	// ErrNoOutcome: a link on Pass returned the zero Outcome.
	ErrNoOutcome = errors.New("the zero Outcome is not a result: return what next returned, or an error, or flow.Stop")
	// ErrMisplaced: a check returned a result that its point does not take.
	// Ignore is for the checks before Apply and Delete. Release is for
	// DeleteCheck, and for EntryCheck while a user deletes the resource.
	// Finished is for every point but DeleteCheck.
	ErrMisplaced = errors.New("this point does not take the result: Ignore is for checks before Apply and Delete, Release for a deletion, and Finished for a resource that no user deletes")
	// ErrForeignOutcome: a link on Pass returned the outcome of another pass.
	ErrForeignOutcome = errors.New("the outcome is not one of this pass: return what next returned, or an error, or flow.Stop")
)

// run takes a resource through the flow. own is the context at the start of the
// pass, and ctx the one from the links on Pass. The lines are in the order of
// the flow.
func (r *Reconciler[T]) run(own, ctx context.Context, p *points[T], resource T) Outcome {
	if r.refuse != nil {
		return r.failed(own, p, resource, failure{point: PointPass, err: r.refuse(resource)})
	}
	req := r.request(resource)
	s := step[T]{r: r, p: p, own: own, req: req}

	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
	if !s.owner(ctx) {
		return s.stop
	}
	s.kept, s.unsaved = r.underWay(resource)
	if req.Deleting {
		return s.delete(ctx)
	}
	if op := s.kept; op.token != "" && !op.deletes {
		if !s.operate(ctx, PointApply, s.p.apply, op) {
			return s.stop
		}
		if op.generation == s.generation() {
			return s.ready(ctx)
		}
		s.final = checks.Result{} // of an older spec
	}
	if !s.ownerCheck(ctx) {
		return s.stop
	}
	if !s.get(ctx) {
		return s.stop
	}
	if s.inSync {
		return s.ready(ctx)
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
	if !s.operate(ctx, PointApply, s.p.apply, underWay{generation: s.generation()}) {
		return s.stop
	}
	return s.ready(ctx)
}

// request makes the request of a pass. It is the only allocation of a pass.
func (r *Reconciler[T]) request(resource T) *Request[T] {
	req := &Request[T]{}
	req.Resource = resource
	req.Kind = r.name
	req.APIVersion = r.apiVersion(resource)
	req.Resolver = r.opt.resolver
	req.Errors = r.opt.errors
	req.Vocabulary = r.opt.vocabulary
	req.Deleting = r.ops.Deleting != nil && r.ops.Deleting(resource)
	req.note = &req.own
	*slot.Of(&req.OwnerRequest) = &req.own.slots
	return req
}

// step is a running pass. Each method runs one point and reports whether the
// pass proceeds. If it does not, stop holds the outcome.
type step[T any] struct {
	r       *Reconciler[T]
	p       *points[T]
	own     context.Context
	req     *Request[T]
	kept    underWay      // the operation under way at the start of the pass, as stored
	unsaved bool          // kept is in memory only, because the resource could not store it
	inSync  bool          // Get found that the cloud matches the spec
	final   checks.Result // the result of Finished that Apply returned
	stop    Outcome
}

func (s *step[T]) owner(ctx context.Context) bool {
	if s.r.ops.Owner == nil {
		return true
	}
	owner, err := s.p.owner(ctx, s.req)
	if err != nil {
		return s.failed(PointOwner, nil, err)
	}
	s.req.Owner = owner
	return true
}

// resolveOwner finds the owner. It asks the resolver, if there is one, for an
// owner that is known only by its cloud ID.
func (r *Reconciler[T]) resolveOwner(ctx context.Context, req *Request[T]) (owner checks.Object, err error) {
	defer onion.Catch(&err)
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
	return s.decided(ctx, PointOwnerCheck, res, err)
}

func (s *step[T]) check(ctx context.Context, point string, check checks.Handler[T]) bool {
	res, err := check(ctx, &s.req.Request)
	return s.decided(ctx, point, res, err)
}

// decided applies the result of a check.
func (s *step[T]) decided(ctx context.Context, point string, res checks.Result, err error) bool {
	switch {
	case err != nil:
		s.failed(point, s.req.DecidedBy(), err)
		s.stop.o.refs = append(s.stop.o.refs, res.WaitingFor()...) // the pass still waits for its objects
		s.stop.o.self = res.WaitsForSelf()
		if s.stop.State() == StateFailed {
			s.stop.o.uncheckable()
		}
		return false
	case res.Proceeds():
		return true
	case s.misplaced(point, res):
		verdict, _ := res.Describe()
		return s.failed(point, s.req.DecidedBy(), fmt.Errorf("flow: %s at %s: %w", verdict, point, ErrMisplaced))
	}
	s.stop = Outcome{o: stopped(point, res, s.req.DecidedBy())}
	s.stop.o.generation = s.generation()
	if s.req.Deleting && res.Retry() == classify.Never {
		s.stop.o.retry = classify.OnChange // no user changes the spec of a resource that is being deleted
	}
	if res.Released() {
		return s.released(ctx)
	}
	return false
}

// misplaced reports whether a point does not take a result.
func (s *step[T]) misplaced(point string, res checks.Result) bool {
	switch {
	case res.Ignored():
		return point == PointPostCheck
	case res.IsFinished():
		return s.req.Deleting
	case res.Released():
		return !s.req.Deleting
	}
	return false
}

// released drops the token of an operation under way, as the start of a DELETE does.
func (s *step[T]) released(ctx context.Context) bool {
	key := s.r.ops.Key(s.req.Resource)
	s.kept, s.unsaved = s.r.underWay(s.req.Resource)
	if err := s.save(ctx, key); err != nil {
		return s.failed(PointDelete, nil, err)
	}
	return false
}

func (s *step[T]) get(ctx context.Context) bool {
	if s.r.ops.Get == nil && s.r.ext.Get.Len() == 0 {
		return true
	}
	if err := ctx.Err(); err != nil {
		return s.failed(PointGet, nil, err)
	}
	s.req.note.seen = s.r.ops.Get == nil
	seen, err := s.p.get(ctx, s.req)
	if err != nil {
		return s.failed(PointGet, s.req.note.By(), err)
	}
	s.inSync, s.req.Presence = seen.inSync(), seen.Presence
	return true
}

// get is the end of the chain of Get. Without Operations.Get the links decide.
func (r *Reconciler[T]) get(ctx context.Context, req *Request[T]) (Observation, error) {
	if r.ops.Get == nil {
		return Observation{}, nil
	}
	o, err := r.ops.Get(ctx, req)
	req.note.seen = err == nil
	return o, err
}

func (s *step[T]) ready(ctx context.Context) Outcome {
	s.req.Applied = true
	if !s.check(ctx, PointPostCheck, s.p.postCheck) {
		return s.stop
	}
	if s.final.IsFinished() {
		o := stopped(PointApply, s.final, nil)
		o.generation = s.generation()
		return Outcome{o: o}
	}
	return Outcome{o: ready}
}

func (s *step[T]) delete(ctx context.Context) Outcome {
	op := s.kept
	if !op.deletes {
		op = underWay{generation: s.generation(), deletes: true} // DELETE replaces an operation of Apply
	}
	if op.token == "" && !s.deleteCheck(ctx) {
		return s.stop
	}
	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
	return Outcome{o: gone}
}

// deleteCheck runs the delete checks, after Get if one sees the resource.
func (s *step[T]) deleteCheck(ctx context.Context) bool {
	if s.r.deleteGets && !s.get(ctx) {
		return false
	}
	return s.check(ctx, PointDeleteCheck, s.p.deleteCheck)
}

// operate calls an operation, with the token of op if it has one, unless the
// pass was canceled before. It stores the token that the operation itself
// returned, whatever the links around it return.
func (s *step[T]) operate(ctx context.Context, point string, h Handler[T], op underWay) bool {
	if err := ctx.Err(); err != nil {
		return s.failed(point, nil, err)
	}
	key := s.r.ops.Key(s.req.Resource) // called before the operation starts: without a key its token could not be stored
	if key == "" {
		return s.failed(point, nil, ErrNoKey)
	}
	n := s.req.note
	n.op, n.said = op, saidNothing
	s.req.Token = op.token
	defer s.save(ctx, key) // if runtime.Goexit ends the goroutine: the operation continues
	p, err := h(ctx, s.req)
	s.req.Token = ""
	n.linksReturned(p, err)
	lost := s.save(ctx, key)
	switch {
	case err != nil:
		s.failed(point, n.By(), join(err, lost))
		if n.op.token != "" && s.stop.Retry() == classify.Never {
			s.stop.o.retry = classify.OnChange // the operation is under way, so nothing is final
		}
		if op.token != "" && n.op.token != "" && (n.said == saidUnknown || n.said == saidUnderWay) && s.stop.State() == StateFailed {
			advice := n.said == saidUnknown && !s.req.Errors.Transient(err) && !mistaken(err)
			s.stop.o.unpolled(op.token, advice)
		}
		return false
	case lost != nil:
		return s.failed(point, nil, lost)
	case p.IsDone():
		s.req.Presence = checks.Present
		s.final = p.get().final
		return true
	}
	s.stop = Outcome{o: &outcome{
		state: StateInProgress, point: point, reason: ReasonInProgress, message: "the operation is under way in the cloud",
		severity: classify.Info, after: p.After(), refs: p.WaitingFor(), generation: s.generation(),
	}}
	if s.req.Deleting {
		s.stop.o.state, s.stop.o.reason, s.stop.o.message = StateDeleting, ReasonDeleting, "the deletion is under way in the cloud"
	}
	return false
}

// save stores the token of the operation, or removes it, if the stored token
// differs. A second call does nothing.
func (s *step[T]) save(ctx context.Context, key string) error {
	op := s.req.note.op
	if op == s.kept && !s.unsaved || op.token == "" && s.kept.token == "" {
		return nil
	}
	s.kept, s.unsaved = op, false
	return s.r.keep(ctx, key, s.req.Resource, op)
}

// join joins two errors; b may be nil.
func join(a, b error) error {
	if b == nil {
		return a
	}
	return errors.Join(a, b)
}

// mistaken reports whether err is a fault of the program, not of the cloud.
func mistaken(err error) bool {
	return errtree.Any(err, func(e error) bool {
		_, panicked := e.(*chain.PanicError)
		return panicked || e == ErrNoProgress || e == ErrNoToken || e == ErrForeignRequest
	})
}

func (s *step[T]) generation() int64 { return s.r.ops.Generation(s.req.Resource) }

// failed ends the pass with an error.
func (s *step[T]) failed(point string, link *chain.Link, err error) bool {
	s.stop = s.r.failed(s.own, s.p, s.req.Resource, failure{point, link, err})
	return false
}

// failure is an error that ends a pass, and where it ends it.
type failure struct {
	point string
	link  *chain.Link // nil: the error is of no link
	err   error
}

// failed classifies a failure and makes an outcome of it.
func (r *Reconciler[T]) failed(own context.Context, p *points[T], resource T, f failure) Outcome {
	generation, deleting, version := r.about(resource)
	c, _ := p.classify(own, classify.NewFailure(f.err, version, r.opt.now(), r.opt.errors))
	if deleting && c.Retry() >= classify.OnChange {
		c = c.With(classify.VerySlow) // no user changes the spec of a resource that is being deleted
	}
	o := &outcome{
		state: StateFailed, point: f.point, reason: c.Reason(), message: c.Message(), rule: c.Rule(), code: c.Code(),
		retry: c.Retry(), severity: c.Severity(), after: c.After(), generation: generation, err: f.err,
		refs: awaited(f.err), keepsStatus: c.KeepsStatus(),
	}
	if f.link != nil {
		o.link = f.link.Name
	}
	if c.Canceled() {
		o.state = StateCanceled
	}
	return Outcome{o: o}
}
