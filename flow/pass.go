package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/errtree"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/slot"
	"github.com/windlass-go/windlass/internal/text"
)

// run takes a resource through the flow. own is the context at the start of the
// pass, ctx the context of the links on Pass. The lines are in the order of the
// flow.
func (r *Reconciler[T]) run(own, ctx context.Context, p *points[T], resource T) (out Outcome) {
	if r.refuse != nil {
		return r.failed(own, p, resource, r.about(resource), failure{point: PointPass, err: r.refuse(resource)})
	}
	s := sequence[T]{state: r.state(resource), r: r, p: p, own: own, given: resource}
	s.generation, s.apiVersion = r.ops.Generation(resource), r.apiVersion(resource)
	s.deleting = r.ops.Deleting != nil && r.ops.Deleting(resource)
	s.slots = slot.Of(&s.req.OwnerRequest)
	s.held().APIVersion = s.apiVersion
	defer func() {
		s.Open = false // for runtime.Goexit
		out = out.following(s.held().Following())
	}()

	if !s.check(ctx, PointEntryCheck, p.entryCheck) {
		return s.stop
	}
	if !s.owner(ctx) {
		return s.stop
	}
	if !s.underWay() {
		return s.stop
	}
	if s.deleting {
		return s.delete(ctx)
	}
	if op := s.before; op.token != "" && !op.deletes {
		s.followLeftOut(ctx, r.followsOf.owner, r.followsOf.get, r.followsOf.pre)
		if !s.operate(ctx, PointApply, s.p.apply, op) {
			if o := s.stop.o; o.state == StateFailed && op.generation != s.generation && s.op.token == "" && o.retry > classify.Slow {
				o.retry, o.severity, o.after = classify.Fast, classify.Fast.Severity(), 0 // the failure says nothing about the present spec
			}
			return s.stop
		}
		if op.generation == s.generation {
			return s.ready(ctx)
		}
		s.final = checks.Result{} // it was for an older spec
	}
	if !s.ownerCheck(ctx) {
		return s.stop
	}
	if !s.getCheck(ctx) {
		return s.stop
	}
	if !s.get(ctx) {
		s.followLeftOut(ctx, r.followsOf.pre) // a corrected Secret may be the remedy
		return s.stop
	}
	if s.inSync {
		s.followLeftOut(ctx, r.followsOf.pre)
		return s.ready(ctx)
	}
	if !s.check(ctx, PointPreCheck, p.preCheck) {
		return s.stop
	}
	if !s.operate(ctx, PointApply, s.p.apply, operation{generation: s.generation}) {
		return s.stop
	}
	return s.ready(ctx)
}

// sequence is a running pass. Each method runs one point and reports whether
// the pass proceeds. If it does not, stop holds the outcome.
type sequence[T any] struct {
	*state[T]
	facts
	slots   **slot.Values // the field of the request that refers to them
	r       *Reconciler[T]
	p       *points[T]
	own     context.Context
	given   T             // the resource, as the engine gave it
	key     string        // of the resource, if the pass has an operation
	before  operation     // the operation under way at the start of the pass
	unsaved bool          // before is in memory only, because SetToken failed
	checked bool          // GetCheck has run
	applied bool          // Apply has succeeded, or Get found that nothing is to do
	inSync  bool          // Get found that the cloud matches the spec
	final   checks.Result // the result of Finished that Apply returned
	stop    Outcome
}

// state makes the state of a pass.
func (r *Reconciler[T]) state(resource T) *state[T] {
	s := &state[T]{}
	s.req.Resource, s.req.Kind = resource, r.name
	s.req.Resolver, s.req.Lister, s.req.Errors = r.opt.resolver, r.opt.lister, r.opt.errors
	return s
}

// held returns the request with the state and the facts of the pass, also after
// a link has overwritten it.
func (s *sequence[T]) held() *Request[T] {
	req := &s.req
	if req.pass != s.state || *s.slots != &s.state.slots {
		req.pass, *s.slots = s.state, &s.state.slots
		onion.CallOf(&req.OwnerRequest).Use(&s.Note)
	}
	req.Deleting, req.Applied = s.deleting, s.applied
	return req
}

// underWay finds the operation under way. A token in memory for a later
// generation than that of the resource belongs to another object, or the
// resource is an old copy. Neither may use it, and an old copy must not lose it.
func (s *sequence[T]) underWay() bool {
	op, inMemory := s.r.operationOf(s.given)
	s.before, s.unsaved = op, inMemory && s.r.ops.SetToken != nil
	if inMemory && op.generation > s.generation && op.deletes == s.deleting {
		return s.failed(PointPass, nil, fmt.Errorf("flow: the operation in memory is for generation %d of the resource, which now has generation %d, "+
			"so it is another object under the same key: %w", op.generation, s.generation, errMadeAgain))
	}
	return true
}

func (s *sequence[T]) owner(ctx context.Context) bool {
	if s.r.ops.Owner == nil {
		return true
	}
	owner, err := s.p.owner(ctx, s.held())
	if err != nil {
		return s.failed(PointOwner, nil, err)
	}
	s.req.Owner = owner
	return true
}

// resolveOwner finds the owner. If a query names the owner, resolveOwner calls
// the lister. If the owner is known only by its cloud ID, resolveOwner also
// calls the resolver, if there is one.
func (r *Reconciler[T]) resolveOwner(ctx context.Context, req *Request[T]) (owner checks.Object, err error) {
	defer onion.Catch(&err)
	if owner, err = r.ops.Owner(ctx, req.Resource); err != nil {
		return checks.Object{}, fmt.Errorf("the owner: %w", err)
	}
	if q, ok := owner.Ref.Query(); ok && !owner.Found() {
		one, err := r.opt.lister.Only(ctx, q)
		if err != nil {
			return checks.Object{}, fmt.Errorf("the owner: %w", err)
		}
		chain.Note(ctx, ownerQuery{q, &one})
		return one, nil
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

// ownerQuery is the note about an owner that a query names.
type ownerQuery struct {
	q     checks.Query
	owner *checks.Object
}

func (n ownerQuery) String() string {
	switch {
	case n.owner.Found():
		return n.owner.Ref.String() + " is the one object of " + n.q.String()
	case n.owner.Partial == "":
		return n.q.String() + ": no such object exists"
	}
	return n.q.String() + ": " + n.owner.Partial
}

type ownerHandler = chain.Handler[*checks.OwnerRequest, checks.Result]

// checkOwner runs the owner checks. If a query names the owner, the one object
// of the set must exist, also without an owner check.
func checkOwner(ownerChecks, oneOwner ownerHandler) ownerHandler {
	return func(ctx context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		res, err := ownerChecks(ctx, req)
		if err != nil || !res.Proceeds() || req.Owner.Ref.Set == "" {
			return res, err
		}
		return oneOwner(ctx, req)
	}
}

// oneOwner is the check of an owner that a query names.
var oneOwner = chain.New(chain.Named("OwnerFrom", checks.OwnerFound())).At(PointOwnerCheck)

func (s *sequence[T]) ownerCheck(ctx context.Context) bool {
	res, err := s.p.ownerCheck(ctx, &s.held().OwnerRequest)
	return s.decided(ctx, PointOwnerCheck, res, err)
}

// followLeftOut follows the objects of the prebuilt checks at points that the
// pass leaves out, because the resource depends on them also in later passes.
func (s *sequence[T]) followLeftOut(ctx context.Context, points ...linktag.Check) {
	for i := range points {
		points[i].Follow(ctx, &s.held().Request)
	}
}

func (s *sequence[T]) check(ctx context.Context, point string, check checks.Handler[T]) bool {
	res, err := check(ctx, &s.held().Request)
	return s.decided(ctx, point, res, err)
}

func (s *sequence[T]) decided(ctx context.Context, point string, res checks.Result, err error) bool {
	switch {
	case err != nil:
		s.failed(point, s.req.DecidedBy(), err)
		o := s.stop.o
		o.refs, o.self = append(o.refs, res.WaitingFor()...), res.WaitsForSelf() // the pass still waits for its objects
		if o.state == StateFailed {
			if o.code == "" && o.rule != ReasonPanic {
				o.reason = ReasonCheckFailed
			}
			o.message = "check " + text.Line(o.link, text.Name) + " failed: " + text.Line(o.message, text.Quote)
		}
		return false
	case res.Proceeds():
		return true
	case s.misplaced(point, res):
		verdict, _ := res.Describe()
		return s.failed(point, s.req.DecidedBy(), fmt.Errorf("flow: %s at %s: %w", verdict, point, errMisplaced))
	}
	s.stop = Outcome{o: stopped(point, res, s.req.DecidedBy())}
	s.stop.o.generation = s.generation
	if s.deleting && res.Retry() == classify.Never {
		s.stop.o.retry = classify.OnChange // no user changes the spec of a resource that is being deleted
	}
	if res.Released() {
		return s.released(ctx)
	}
	return false
}

// setOperationFailed names the failed operation in the message, because the text
// of an error such as "409 Conflict" does not.
func (o *outcome) setOperationFailed() {
	failed := map[string]string{PointGet: "reading failed", PointApply: "applying failed", PointDelete: "deleting failed"}[o.point]
	if o.state == StateFailed {
		o.message = text.Join(failed, o.message)
	}
}

// setPollFailed rewrites o to report that the poll of the operation with this
// token failed. With advice it adds how to report a failed operation.
func (o *outcome) setPollFailed(token string, advice bool) {
	o.message = nameOf(token) + " cannot be polled: " + text.Line(o.message, text.Quote)
	if advice {
		o.message += "; return flow.Failed if it has failed"
	}
}

func (s *sequence[T]) misplaced(point string, res checks.Result) bool {
	switch {
	case res.Ignored():
		return point == PointPostCheck
	case res.IsFinished():
		return s.deleting
	case res.Released():
		return !s.deleting
	}
	return false
}

// released drops the token of an operation under way, as the start of a DELETE
// does.
func (s *sequence[T]) released(ctx context.Context) bool {
	s.key = s.r.ops.Key(s.given)
	op, inMemory := s.r.operationOf(s.given)
	s.before, s.unsaved = op, inMemory && s.r.ops.SetToken != nil
	s.begin(operation{})
	if err := s.save(ctx); err != nil {
		return s.failed(PointDelete, nil, err)
	}
	return false
}

// getCheck runs the checks before Get, once in a pass. In a deletion they only
// fill their slots.
func (s *sequence[T]) getCheck(ctx context.Context) bool {
	if s.checked || s.r.ext.GetCheck.Len() == 0 {
		return true
	}
	s.checked = true
	if s.deleting {
		_, _ = s.p.getCheck(ctx, &s.held().Request)
		return true
	}
	return s.check(ctx, PointGetCheck, s.p.getCheck)
}

// gets reports whether the reconciler has a Get.
func (s *sequence[T]) gets() bool { return s.r.ops.Get != nil || s.r.ext.Get.Len() > 0 }

func (s *sequence[T]) get(ctx context.Context) bool {
	if !s.gets() {
		return true
	}
	if err := ctx.Err(); err != nil {
		return s.failed(PointGet, nil, err)
	}
	s.seen = s.r.ops.Get == nil
	req := s.held()
	s.Open = true
	seen, err := s.p.get(ctx, req)
	s.Open = false
	if err != nil {
		s.failed(PointGet, s.By(), err)
		s.stop.o.setOperationFailed()
		return false
	}
	if s.applied && (seen.Skip != "" || seen.Presence == checks.PresenceUnknown) {
		return true // Get read nothing, so the resource is still present, as Apply reported
	}
	s.inSync, s.req.Presence = seen.inSync(), seen.Presence
	return true
}

// getAgain calls Get after Apply is done, if PostCheck has a check. The checks
// would otherwise see the status from before Apply. An InSync decides nothing
// here, because Apply is done. After Finished there is no Get: an error of it
// would run the finished operation again.
func (s *sequence[T]) getAgain(ctx context.Context) bool {
	if s.r.ext.PostCheck.Len() == 0 || s.final.IsFinished() {
		return true
	}
	if s.gets() && !s.getCheck(ctx) || !s.get(ctx) {
		return false
	}
	if s.req.Presence == checks.Absent && s.report == reportedDone {
		s.stop = Outcome{o: stopped(PointPostCheck, absentAfterApply, nil)}
		s.stop.o.generation = s.generation
		return false
	}
	return true
}

// absentAfterApply is the result of a pass in which Apply returned Done and a
// later Get finds nothing.
var absentAfterApply = checks.Block(checks.ReasonResourceAbsent, "Get did not find the resource in the cloud after Apply had succeeded")

// get is the end of the chain of Get. Without Operations.Get the links decide.
func (r *Reconciler[T]) get(ctx context.Context, req *Request[T]) (Observation, error) {
	if r.ops.Get == nil {
		return Observation{}, nil
	}
	s := req.pass // the operation may overwrite the request
	o, err := r.ops.Get(ctx, req)
	s.seen = err == nil
	return o, err
}

func (s *sequence[T]) ready(ctx context.Context) Outcome {
	s.applied = true
	if !s.inSync && !s.getAgain(ctx) {
		return s.stop
	}
	if !s.check(ctx, PointPostCheck, s.p.postCheck) {
		return s.stop
	}
	if s.final.IsFinished() {
		o := stopped(PointApply, s.final, nil)
		o.generation = s.generation
		return Outcome{o: o}
	}
	return Outcome{o: ready}
}

func (s *sequence[T]) delete(ctx context.Context) Outcome {
	op := s.before
	if !op.deletes {
		op = operation{generation: s.generation, deletes: true} // DELETE replaces an operation of Apply
	}
	if op.token != "" {
		s.followLeftOut(ctx, s.r.followsOf.get, s.r.followsOf.delete)
	} else if !s.getCheck(ctx) || !s.deleteCheck(ctx) {
		return s.stop
	}
	if !s.operate(ctx, PointDelete, s.p.remove, op) {
		return s.stop
	}
	return Outcome{o: gone}
}

// deleteCheck runs the delete checks. Get runs before the first one that needs
// it, and not at all if none does.
func (s *sequence[T]) deleteCheck(ctx context.Context) bool {
	early, all := s.r.early, s.r.ext.DeleteCheck.Len()
	if early > 0 {
		res, err := s.p.early(ctx, &s.held().Request)
		if !s.decided(ctx, PointDeleteCheck, res, err) {
			return false
		}
		if res.Skipped() || early == all {
			return true
		}
	}
	if early < all && !s.get(ctx) {
		return false
	}
	return s.check(ctx, PointDeleteCheck, s.p.deleteCheck)
}

// operate calls an operation, with the token of op if it has one, unless the
// pass is canceled. It stores the token that the operation itself returned,
// whatever the links around it return.
func (s *sequence[T]) operate(ctx context.Context, point string, h Handler[T], op operation) bool {
	if err := ctx.Err(); err != nil {
		return s.failed(point, nil, err)
	}
	s.key = s.r.ops.Key(s.given) // before the operation starts, because storing its token needs the key
	if s.key == "" {
		return s.failed(point, nil, errNoKey)
	}
	req := s.begin(op)
	req.Token, s.Open = op.token, true
	defer func() {
		if s.Open { // runtime.Goexit, after which the operation continues in the cloud
			if s.linksReturned(Progress{}, run.ErrGoexit); s.op.token != "" {
				_ = s.save(ctx)
			}
		}
	}()
	p, err := h(ctx, req)
	req.Token, s.Open = "", false
	s.linksReturned(p, err)
	lost := s.save(ctx)
	switch {
	case err != nil:
		s.failed(point, s.By(), join(err, lost))
		if s.op.token != "" && s.stop.Retry() == classify.Never {
			s.stop.o.retry = classify.OnChange // the operation is under way, so nothing is final
		}
		polls := op.token != "" && op.token != NoOperation && s.op.token != "" && s.op.token != NoOperation
		if polls && (s.report == reportedUnknown || s.By() == onion.End) && s.stop.State() == StateFailed {
			advice := s.report == reportedUnknown && !s.r.opt.errors.Transient(err) && !isProgrammingError(err)
			s.stop.o.setPollFailed(op.token, advice)
		} else {
			s.stop.o.setOperationFailed()
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
		severity: classify.Info, after: p.After(), refs: p.WaitingFor(), generation: s.generation,
	}}
	if s.deleting {
		s.stop.o.state, s.stop.o.reason, s.stop.o.message = StateDeleting, ReasonDeleting, "the deletion is under way in the cloud"
	}
	s.stop.o.message = cmp.Or(p.Message(), s.stop.o.message)
	return false
}

// save stores the token of the operation, or removes it, if the stored token
// differs. A second call does nothing.
func (s *sequence[T]) save(ctx context.Context) error {
	if s.op.token == "" && s.stored == "" {
		return nil
	}
	tried := s.tried && s.op.token == s.stored && s.op.byLink == s.byLink
	isStored := s.isStored()
	s.stored, s.byLink, s.renews, s.tried = s.op.token, s.op.byLink, false, false
	s.before, s.unsaved = s.op, false
	switch {
	case tried:
		s.r.tokens.Put(s.key, func(v *operation) { *v = s.op }, nil)
		err, _ := s.state.slots.Get(lostToken{})
		lost, _ := err.(error)
		return s.r.notStored(s.key, lost)
	case !isStored:
		return s.r.store(ctx, s.key, s.resource, s.op)
	case s.early:
		s.r.tokens.Delete(s.key)
	}
	return nil
}

// begin starts a point with an operation.
func (s *sequence[T]) begin(op operation) *Request[T] {
	req, before := s.held(), s.before
	s.op, s.report, s.started, s.early = op, reportedNothing, false, false
	s.stored, s.byLink = before.token, before.byLink
	s.renews = s.unsaved || before.generation != op.generation || before.deletes != op.deletes
	s.resource = req.Resource
	return req
}

func join(a, b error) error {
	if b == nil {
		return a
	}
	return errors.Join(a, b)
}

// isProgrammingError reports whether a mistake in the program caused err.
func isProgrammingError(err error) bool {
	return errtree.Any(err, func(e error) bool {
		_, panicked := e.(*chain.PanicError)
		_, misused := e.(misuse)
		return panicked || misused
	})
}

// failed ends the pass with an error.
func (s *sequence[T]) failed(point string, link *chain.Link, err error) bool {
	s.stop = s.r.failed(s.own, s.p, s.given, s.facts, failure{point, link, err})
	return false
}

// failure is an error that ends a pass, with its place.
type failure struct {
	point string
	link  *chain.Link // nil: no link returned the error
	err   error
}

// failed classifies a failure and makes an outcome of it.
func (r *Reconciler[T]) failed(own context.Context, p *points[T], resource T, about facts, f failure) Outcome {
	read := classify.NewFailure(f.err, about.apiVersion, r.opt.now(), r.opt.errors)
	read.Point, read.Resource = f.point, resource
	if f.link != nil {
		read.Link = f.link.Name
	}
	c, _ := p.classify(own, read)
	if about.deleting && c.Retry() >= classify.OnChange {
		c = c.With(classify.VerySlow) // no user changes the spec of a resource that is being deleted
	}
	o := &outcome{
		state: StateFailed, point: f.point, reason: c.Reason(), message: c.Message(), rule: c.Rule(), code: c.Code(),
		retry: c.Retry(), severity: c.Severity(), after: c.After(), generation: about.generation, err: read.Err,
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
