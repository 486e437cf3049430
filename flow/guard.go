package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// ErrForeignRequest is the error of a link that passed a nil request to next, or a request that it made
// itself. On Pass it is the error of a link that passed a context of its own to next. Test for it with
// errors.Is.
var ErrForeignRequest = errors.New("the request or the context is not of this pass: hand on the request and the context that were given, or what is made of them")

// operation stands for the operation inside the last link, as the origin of an error.
var operation = &chain.Link{}

// guarded composes a chain so that it fails closed. A panic, and a result that judge refuses, become
// errors that name the link. judge also records in the result which link returned the error, unless an
// inner link is recorded already. noteOf returns the note of the call; nil means that a link lost it.
func guarded[Req, Res any](c chain.Chain[Req, Res], end chain.Handler[Req, Res], noteOf func(context.Context, Req) *note, judge func(*note, Res, error, *chain.Link) (Res, error)) chain.Handler[Req, Res] {
	var links []*chain.Link
	inner := end // without links the guard below is enough
	if c.Len() > 0 {
		inner = c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
			links = append(links, l)
			n := int32(len(links))
			return func(ctx context.Context, req Req) (res Res, err error) {
				m := noteOf(ctx, req)
				if m == nil {
					return res, ErrForeignRequest // the guard of the link that passed it on records that link
				}
				outer := m.at
				m.at = n
				res, err = h(ctx, req)
				m.at = outer
				return judge(m, res, err, l)
			}
		}).Then(func(ctx context.Context, req Req) (res Res, err error) {
			m := noteOf(ctx, req)
			if m == nil {
				return res, ErrForeignRequest
			}
			outer := m.at
			m.at = 0
			res, err = end(ctx, req)
			m.at = outer
			return judge(m, res, err, operation)
		})
	}
	outermost := operation // decorations that the user put around it count as the operation
	if len(links) > 0 {
		outermost = links[len(links)-1]
	}
	return func(ctx context.Context, req Req) (res Res, err error) {
		m := noteOf(ctx, req)
		if m == nil {
			return res, ErrForeignRequest
		}
		returned := false
		defer func() {
			if returned {
				return
			}
			var zero Res
			v := recover()
			if v == nil { // runtime.Goexit, which cannot be stopped
				return
			}
			p := &chain.PanicError{Value: v, Stack: stack.Panic()}
			place := operation
			if m.at > 0 {
				place = links[m.at-1]
				p.Link = place.Name
			}
			res, err = judge(m, zero, p, place)
		}()
		res, err = inner(ctx, req)
		returned = true
		return judge(m, res, err, outermost)
	}
}

// refused returns the error about an invalid result of a link or of the operation.
func refused(at *chain.Link, why error) error {
	if at == operation {
		return fmt.Errorf("flow: the operation: %w", why)
	}
	return fmt.Errorf("flow: link %s: %w", at.Name, why)
}

// decidedAt returns the link that returned an error: the recorded one, or else at.
func decidedAt(noted, at *chain.Link, err error) *chain.Link {
	switch {
	case err == nil:
		return nil
	case noted != nil:
		return noted
	}
	return at
}

func judgeProgress(n *note, p Progress, err error, at *chain.Link) (Progress, error) {
	switch {
	case err != nil:
	case p.p == nil:
		err = refused(at, ErrNoProgress)
	case p.IsDone() && n.op.token != "" && !(n.linkOnly() && p.Skipped()):
		err = refused(at, ErrUnderWay)
	case p.IsDone() && n.said != saidDone && !p.Skipped():
		err = refused(at, ErrNotDone)
	case p.inProgress() && p.p.token == "":
		err = refused(at, ErrNoToken)
	}
	switch {
	case err != nil && !p.failed: // also if an inner link skipped
		p.at, p.failed = at, true
	case err == nil && p.failed: // a link discarded the error
		p.at, p.failed = nil, false
	}
	if err == nil && p.Skipped() && p.at == nil {
		p.at = at
	}
	return p, err
}

func judgeObservation(n *note, o Observation, err error, at *chain.Link) (Observation, error) {
	if err == nil && at != operation && o.inSync() && o.Skip == "" && !n.seen {
		err = refused(at, ErrNotSeen)
	}
	switch {
	case err == nil && o.Skip == "":
		o.at = nil // a link discarded the error
	case err != nil && o.Skip != "":
		o.Skip, o.at = "", at
	case o.at == nil:
		o.at = at
	}
	return o, err
}

func judgeOutcome(n *note, o Outcome, err error, at *chain.Link) (Outcome, error) {
	switch {
	case err != nil:
	case o.stopped():
		if o.at == nil {
			o.at = at
		}
		return o, nil
	case o.o == nil:
		err = refused(at, ErrNoOutcome)
	case o.o != n.outcome:
		err = refused(at, ErrForeignOutcome)
	}
	o.at = decidedAt(o.at, at, err)
	return o, err
}
