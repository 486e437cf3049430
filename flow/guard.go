package flow

import (
	"context"
	"errors"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/stack"
)

// ErrForeignRequest: a link handed on a nil request, or one that it made itself. Test for it with errors.Is.
var ErrForeignRequest = errors.New("what was handed on is none of this pass: hand on the request and the context that were given, or what is made of them")

// operation stands for what is behind the last link, where an error came from.
var operation = &chain.Link{}

// guarded composes a chain so that it fails closed: a panic becomes an error that names the link. blame notes in a result
// where it, or the error beside it, came from, unless that is noted already. noteOf finds the note of the call; nil means
// that a link lost it.
func guarded[Req, Res any](c chain.Chain[Req, Res], end chain.Handler[Req, Res], noteOf func(context.Context, Req) *note, blame func(Res, error, *chain.Link) Res) chain.Handler[Req, Res] {
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
			return blame(res, err, l), err
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
		return blame(res, err, operation), err
	})
	return func(ctx context.Context, req Req) (res Res, err error) {
		m := noteOf(ctx, req)
		if m == nil {
			return res, ErrForeignRequest
		}
		m.at = 0
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
			res, err = zero, p
			place := operation
			if m.at > 0 {
				place = links[m.at-1]
				p.Link = place.Name
			}
			res = blame(zero, err, place)
		}()
		res, err = inner(ctx, req)
		returned = true
		return res, err
	}
}

// blameProgress, blameObservation and blameOutcome note the place of an error in results.

func blameProgress(p Progress, err error, at *chain.Link) Progress {
	if err != nil && p.at == nil {
		p.at = at
	}
	return p
}

func blameObservation(o Observation, err error, at *chain.Link) Observation {
	if err != nil && o.at == nil {
		o.at = at
	}
	return o
}

// blameOutcome also notes the place of what Stop made.
func blameOutcome(o Outcome, err error, at *chain.Link) Outcome {
	if o.at == nil && (err != nil || o.State() == StateBlocked && o.Point() == PointPass) {
		o.at = at
	}
	return o
}
