package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// ErrForeignRequest is the error of a link that handed on a nil request, or one that it made itself. Test for it with
// errors.Is.
var ErrForeignRequest = errors.New("what was handed on is none of this pass: hand on the request and the context that were given, or what is made of them")

// operation stands for what is behind the last link, where an error came from.
var operation = &chain.Link{}

// guarded composes a chain so that it fails closed: a panic, and what judge refuses, become errors that name the link.
// judge also notes in a result which link the error beside it came from, unless that is noted already. noteOf finds the
// note of the call; nil means that a link lost it.
func guarded[Req, Res any](c chain.Chain[Req, Res], end chain.Handler[Req, Res], noteOf func(context.Context, Req) *note, judge func(*note, Res, error, *chain.Link) (Res, error)) chain.Handler[Req, Res] {
	var links []*chain.Link
	inner := c.Decorate(func(l *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		links = append(links, l)
		n := int32(len(links))
		return func(ctx context.Context, req Req) (res Res, err error) {
			m := noteOf(ctx, req)
			if m == nil {
				return res, ErrForeignRequest // the link that handed it on is noted by its own guard
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
	outermost := operation // decorations of the user's in front of it belong to it
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

// refused is an error about what a link, or the operation, must not return.
func refused(at *chain.Link, why error) error {
	if at == operation {
		return fmt.Errorf("flow: the operation: %w", why)
	}
	return fmt.Errorf("flow: link %s: %w", at.Name, why)
}

// decidedAt is where an error came from: where that is noted already, or else at.
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
	case p.IsDone() && n.op.token != "":
		err = refused(at, ErrUnderWay)
	case p.inProgress() && p.p.token == "":
		err = refused(at, ErrNoToken)
	}
	p.at = decidedAt(p.at, at, err)
	return p, err
}

func judgeObservation(_ *note, o Observation, err error, at *chain.Link) (Observation, error) {
	o.at = decidedAt(o.at, at, err)
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
