package checks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/stack"
)

// Compose makes a handler from a chain of checks. Run a chain in this way only,
// because Compose fails closed. Its handler returns [Proceed] only if all links
// ran and the end of the chain was reached in this call. It returns [Skip] if a
// link did. R is *Request[T] or *OwnerRequest; any other type panics.
//
// These faults are errors that name the link:
//
//   - A link returns the zero Result.
//   - A link returns Proceed, but the inner links did not proceed, or it did
//     not call next in this call. A link that repeats an earlier Proceed is
//     such a link.
//   - A link calls next with a nil request, or with one that it made itself.
//   - A link panics. The error is a [*chain.PanicError]. Outer links receive it
//     as an error, so that their work after next is done.
//
// No result with an error proceeds. After a call, [OwnerRequest.DecidedBy]
// returns the link that decided.
func Compose[R any](c chain.Chain[R, Result]) chain.Handler[R, Result] {
	of := requestOf[R]("Compose: the request of the chain " + c.String())
	if c.Len() == 0 { // without links there is no fault to detect
		return func(_ context.Context, req R) (Result, error) {
			if of.owner(req) == nil {
				return Result{}, errNilCall
			}
			return Result{d: proceed}, nil
		}
	}
	if checks, ok := onlyChecks(c); ok {
		return looped(of, c.Links(), checks)
	}
	inner := onion.Compose(c, nil, &onion.Rules[R, Result]{
		Proceed: &Result{d: proceed},
		Note: func(_ context.Context, req R) (n *onion.Note, _ any, ok bool) {
			if o := of.owner(req); o != nil {
				n = o.call.Note()
			}
			return n, nil, n != nil
		},
		Stray:   func(req R, at *chain.Link) error { return stray(at, of.owner(req) == nil) },
		Vet:     vet[R],
		Decided: Result.noteFaults,
	})
	return func(ctx context.Context, req R) (res Result, err error) {
		o := of.owner(req)
		if o == nil {
			return Result{}, errNilCall
		}
		note, first := o.call.Open()
		var was onion.Note
		if !first {
			was = *note
		}
		defer func() {
			o.call.Close(note, first, decidedBy(note.By(), res))
			if !first {
				*note = was
			}
		}()
		res, err = inner(ctx, req)
		if res.d != proceed { // no error comes with proceed
			run.SetPassed(ctx, false) // no outer link has passed this result on yet
		}
		return res, err
	}
}

// request is implemented by the nil pointers of both request types.
type request[R any] interface {
	// owner returns the OwnerRequest of a request; nil: the request is nil.
	owner(req R) *OwnerRequest
}

func (*OwnerRequest) owner(req *OwnerRequest) *OwnerRequest { return req }

// The type is spelled out. With an alias in a method of Request, the compiler
// of Go 1.26 deadlocks in packages that import this one.
func (*Request[T]) owner(req *Request[T]) *OwnerRequest {
	if req == nil {
		return nil
	}
	return &req.OwnerRequest
}

// requestOf panics if R is no request. what names the place.
func requestOf[R any](what string) request[R] {
	var req R
	of, ok := any(req).(request[R])
	if !ok {
		panic(fmt.Sprintf("checks: %s is a %T: it must be a *checks.Request[T] or *checks.OwnerRequest", what, req))
	}
	return of
}

// vet refuses a result of link at that is no decision, or that proceeds
// although the inner links did not.
func vet[R any](_ context.Context, _ R, _ any, at *chain.Link, res Result, err error) (_ Result, what any, _ error) {
	switch {
	case err == nil && res.d == nil:
		err = fmt.Errorf("checks: link %s: %w", at.Name, ErrNoDecision)
	case err == nil && res.d.verdict == proceeds: // and the end was not reached: the rules accept any other proceed themselves
		res, err = Result{}, fmt.Errorf("checks: link %s: %w", at.Name, ErrEndNotReached)
	case err != nil && res.Proceeds():
		res = Result{}
	}
	return res, res.d, err
}

// decidedBy returns the link that decided on res: at, or the link inside
// [OnOwner] that did. It is nil if no link decided.
func decidedBy(at *chain.Link, res Result) *chain.Link {
	if res.d != nil && res.d.inner != nil {
		return res.d.inner
	}
	return at
}

// onlyChecks returns the functions of a chain in which [Check] or [Gate] made
// each link. Such a chain runs in one loop, because none of its links can
// forget next or replace the request. ok is false if the chain has any other
// link, or a decoration.
func onlyChecks[R any](c chain.Chain[R, Result]) (checks []func(context.Context, R) (Result, error), ok bool) {
	if c.Decorated() {
		return nil, false
	}
	chain.Map(c, func(link chain.Middleware[R, Result]) chain.Middleware[R, Result] {
		if answer := probe.Ask(link); answer != nil {
			if check, made := answer.Func.(func(context.Context, R) (Result, error)); made {
				checks = append(checks, check)
			}
		}
		return link
	})
	return checks, len(checks) == c.Len()
}

// looped runs the checks of a chain in order, until one does not proceed.
func looped[R any](of request[R], links []chain.Link, checks []func(context.Context, R) (Result, error)) chain.Handler[R, Result] {
	return func(ctx context.Context, req R) (res Result, err error) {
		o := of.owner(req)
		if o == nil {
			return Result{}, errNilCall
		}
		note, first := o.call.Open()
		i, done := 0, false
		defer func() {
			if !done {
				res, err = Result{}, run.ErrGoexit // which cannot be stopped
				if v := recover(); v != nil {
					err = &chain.PanicError{Value: v, Stack: stack.Panic(), Link: links[i].Name}
				}
				o.call.Close(note, first, &links[i])
			}
		}()
		for ; i < len(checks); i++ {
			facts := o.facts()
			res, err = checks[i](ctx, req)
			o.setFacts(facts)
			if err == nil && res.d != proceed && res.passes(ctx, o) {
				res = Proceed()
			}
			if err != nil || res.d != proceed || o.call.Note() != note {
				break
			}
		}
		done = true
		if i == len(checks) {
			o.call.Close(note, first, nil)
			return res, nil
		}
		if err == nil && res.d == proceed { // the check replaced the request
			next := onion.End
			if i+1 < len(links) {
				next = &links[i+1]
			}
			res, err = Result{}, stray(next, false)
		}
		res, _, err = vet(ctx, req, nil, &links[i], res, err)
		res.noteFaults(ctx)
		o.call.Close(note, first, decidedBy(&links[i], res))
		return res, err
	}
}

// facts are the facts about a request that no check decides.
type facts struct{ deleting, applied bool }

func (r *OwnerRequest) facts() facts { return facts{r.Deleting, r.Applied} }

// setFacts drops the changes of a check. A check sees no inner links, so it has
// no reason to change what these see.
func (r *OwnerRequest) setFacts(f facts) { r.Deleting, r.Applied = f.deleting, f.applied }

// passes reports whether r is a [Finished] that proceeds, because a user
// deletes the resource.
func (r Result) passes(ctx context.Context, o *OwnerRequest) bool {
	if !o.Deleting || !r.is(finishes) {
		return false
	}
	chain.Note(ctx, "Finished proceeds, because the resource is being deleted")
	return true
}

var errNilCall = fmt.Errorf("checks: %w", ErrNilRequest)

// DecidedBy returns the link that decided the last call of a handler of
// [Compose] with this request, by a result or by an error. It is nil if all
// links proceeded. Within [OnOwner] it is the link of the owner check.
func (r *OwnerRequest) DecidedBy() *chain.Link { return r.call.By() }

// stray returns the error for a request that lost its note on the way to link
// l. A nil l means the end of the chain.
func stray(l *chain.Link, isNil bool) error {
	cause, to := ErrForeignRequest, "the end of the chain"
	if isNil {
		cause = ErrNilRequest
	}
	if l != nil && l != onion.End {
		to = "link " + l.Name
	}
	return fmt.Errorf("checks: the request passed on to %s: %w", to, cause)
}

// Check makes a link from a function that decides. The inner links run only
// after [Proceed]. An error means that the check could not decide. A result
// returned with an error is ignored, but the trace shows the reason of a block.
//
// R is *Request[T] or *OwnerRequest, inferred from decide. decide must not
// change the request, and must be safe for concurrent use. These panic: a nil
// decide, an empty name, and any other R.
//
// The link returns [ErrNotComposed] for a request that no [Compose] opened. So
// a chain that is run in another way does not proceed past a link that forgets
// next.
func Check[R any](name string, decide func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if decide == nil {
		panic(fmt.Sprintf("checks: Check: the function of %q is nil", name))
	}
	return newCheck(name, linktag.Check{}, decide)
}

// Gate makes a link from a function that acts and then waits. act starts the
// missing work and blocks until the work is done. A Gate is a [Check] with a
// side effect. A chain lists it as "Gate(name)".
//
// [All] and [Cached] refuse a Gate: All could run it too often, and Cached too
// rarely. A nil act and an empty name panic.
func Gate[R any](name string, act func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if act == nil {
		panic(fmt.Sprintf("checks: Gate: the function of %q is nil", name))
	}
	if strings.TrimSpace(name) == "" {
		panic("checks: Gate: the name is empty")
	}
	return newCheck("Gate("+name+")", linktag.Check{Acts: true}, act)
}

// newCheck makes a link from a function that never sees next.
func newCheck[R any](name string, tag linktag.Check, decide func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	return makeCheck(name, tag, decide, nil)
}

// newGroup makes a link of other checks. open makes its function, with
// observers around each of these checks.
func newGroup[R any](name string, tag linktag.Check, open func(observers []chain.Observer) func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	return makeCheck(name, tag, open(nil), func(observers []chain.Observer) chain.Middleware[R, Result] {
		return makeCheck(name, tag, open(observers), nil)
	})
}

// watched returns c with observers around each of its links.
func watched[R any](c chain.Chain[R, Result], observers []chain.Observer) chain.Chain[R, Result] {
	for _, o := range observers {
		c = c.Observe(o)
	}
	return c
}

// makeCheck makes a link from a function that never sees next. inside makes the
// link again, with observers around the checks inside it. It is nil for a
// single check.
func makeCheck[R any](name string, tag linktag.Check, decide func(context.Context, R) (Result, error), inside any) chain.Middleware[R, Result] {
	source := probe.Caller()
	if strings.TrimSpace(name) == "" {
		panic(fmt.Sprintf("checks: Check: the name of the link at %s is empty", source))
	}
	of := requestOf[R](fmt.Sprintf("Check: the request of %q", name))
	return probe.Named(probe.Answer{Name: name, Source: source, Tag: tag, Func: decide, Inside: inside}, func(next chain.Handler[R, Result]) chain.Handler[R, Result] {
		return func(ctx context.Context, req R) (Result, error) {
			o := of.owner(req)
			switch {
			case o == nil:
				return Result{}, fmt.Errorf("checks: link %s: %w", name, ErrNilRequest)
			case o.call.Note() == nil:
				return Result{}, fmt.Errorf("checks: link %s: %w", name, ErrNotComposed)
			}
			facts := o.facts()
			res, err := decide(ctx, req)
			o.setFacts(facts)
			if err != nil || res.d != proceed && !res.passes(ctx, o) {
				return res, err
			}
			return next(ctx, req)
		}
	})
}

// linkOf returns the name under which a chain lists a link, and the tag of a link
// made by [Check] or [Gate]. ok is false for any other link.
func linkOf[R any](link chain.Middleware[R, Result]) (name string, tag linktag.Check, ok bool) {
	if link == nil {
		return "nil", linktag.Check{}, false
	}
	listed := chain.New(link).Links()[0]
	tag, ok = listed.Tag.(linktag.Check)
	return listed.Name, tag, ok
}

// Errors of checks and of [Compose]. Test for them with errors.Is. The text names
// the link or the slot.
var (
	// ErrNoDecision: a link returned the zero Result and no error.
	ErrNoDecision = errors.New("the zero Result is no decision: return checks.Proceed, Skip or Block")
	// ErrEndNotReached: a link returned Proceed, but it did not call next, or
	// the inner links did not proceed in its last call of next.
	ErrEndNotReached = errors.New("it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip")
	// ErrNilRequest: a link called next with a nil request, or the chain was
	// called with one.
	ErrNilRequest = errors.New("the request is nil")
	// ErrForeignRequest: a link called next with a request that it made itself.
	ErrForeignRequest = errors.New("the request is not the one that this call began with: call next with the request that the link received, or with a copy of it")
	// ErrNotComposed: a link made by [Check] or [Gate] received a request that
	// no Compose opened.
	ErrNotComposed = errors.New("the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then")
	// ErrNoLister: a check has to list objects, and the request has no Lister.
	ErrNoLister = errors.New("the request has no lister: give the reconciler one with flow.WithLister")
	// ErrNoResolver: a check has to look up an object, and the request has no
	// Resolver.
	ErrNoResolver = errors.New("the request has no resolver: give the reconciler one with flow.WithResolver")
	// ErrSlotUnset: [Slot.Get] found no value in this pass.
	ErrSlotUnset = errors.New("it is not set in this pass: a check before the reader must run and call Set; " +
		"a check that Cached remembers, a check that is left out, and a poll of an operation under way set nothing")
)
