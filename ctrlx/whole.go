package ctrlx

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
)

// whole is an error that is classified as one, although it joins several. Package classify takes joined errors apart and goes
// by the one that waits longest, which is not what a retriable or a terminal error among them asks for. errors.Is and
// errors.As see all of it.
type whole struct{ err error }

func (w whole) Error() string        { return w.err.Error() }
func (w whole) Is(target error) bool { return errors.Is(w.err, target) }
func (w whole) As(target any) bool   { return errors.As(w.err, target) }

// asWhole keeps together what decides as one.
func asWhole(err error) error {
	if err == nil || !joins(err) || !isTerminal(err) && !isRetriable(err) {
		return err
	}
	return whole{err}
}

func isRetriable(err error) bool {
	_, ok := errors.AsType[RetriableError](err)
	return ok
}

func isTerminal(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) }

// joins tells whether there are several errors in one.
func joins(err error) bool {
	for err != nil {
		switch x := err.(type) {
		case interface{ Unwrap() []error }:
			return true
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		default:
			return false
		}
	}
	return false
}

// wholeFrom sees to it that what an operation gives is classified as one.
func wholeFrom[Req, Res any](op func(context.Context, Req) (Res, error)) func(context.Context, Req) (Res, error) {
	if op == nil {
		return nil
	}
	return func(ctx context.Context, req Req) (Res, error) {
		res, err := op(ctx, req)
		return res, asWhole(err)
	}
}

// wholeFromAll does so for all links of a chain, without being one.
func wholeFromAll[Req, Res any](c chain.Chain[Req, Res]) chain.Chain[Req, Res] {
	if c.Len() == 0 {
		return c
	}
	return c.Decorate(func(_ *chain.Link, h chain.Handler[Req, Res]) chain.Handler[Req, Res] { return wholeFrom(h) })
}
