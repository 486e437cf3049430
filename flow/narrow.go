package flow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/windlass-go/windlass/checks"
)

// ErrWrongType is in the [checks.ConversionError] of a pass whose resource has the wrong type. Either
// it is not of the type of its kind's registered extensions, or a link replaced it with one of another
// type than the engine's. Test for it with errors.Is.
var ErrWrongType = errors.New("the resource is not of the type that the extensions of its kind are registered for")

// narrowed is a reconciler of T for an engine that handles its resources as O.
type narrowed[O, T any] struct {
	*Reconciler[T]
	misfits func() *Reconciler[O] // for resources that are not a T; it refuses every one
}

func runner[O, T any](kind string, ops Operations[O], ext Extensions[T], opts []Option) Runner[O] {
	if same, ok := any(ext).(Extensions[O]); ok {
		return New(kind, ops, same, opts...)
	}
	r := New(kind, narrow[O, T](kind, ops), ext, opts...)
	return &narrowed[O, T]{r, sync.OnceValue(func() *Reconciler[O] {
		misfits := New(kind, ops, Extensions[O]{Classify: ext.Classify}, opts...)
		misfits.kept = r.kept
		misfits.opt.backoff = r.opt.backoff
		misfits.refuse = func(resource O) error {
			_, err := convertTo[T](kind, resource)
			return err
		}
		return misfits
	})}
}

// Reconcile implements [Runner].
func (n *narrowed[O, T]) Reconcile(ctx context.Context, resource O) Outcome {
	t, err := convertTo[T](n.Name(), resource)
	if err != nil {
		return n.misfits().Reconcile(ctx, resource)
	}
	return n.Reconciler.Reconcile(ctx, t)
}

// convertTo returns a resource as another type that it implements.
func convertTo[To, From any](kind string, resource From) (To, error) {
	to, ok := any(resource).(To)
	if ok {
		return to, nil
	}
	from := "nothing"
	if any(resource) != nil {
		from = fmt.Sprintf("%T", resource)
	}
	return to, &checks.ConversionError{Kind: kind, From: from, To: reflect.TypeFor[To]().String(), Err: ErrWrongType}
}

// narrow makes operations on T of operations on O, the common type of all kinds. A nil function stays
// nil.
func narrow[O, T any](kind string, ops Operations[O]) Operations[T] {
	return Operations[T]{
		Key:        ofResource[O, T](kind, ops.Key),
		Apply:      ofRequest[O, T](kind, ops.Apply),
		Get:        ofRequest[O, T](kind, ops.Get),
		Delete:     ofRequest[O, T](kind, ops.Delete),
		Deleting:   ofResource[O, T](kind, ops.Deleting),
		Generation: ofResource[O, T](kind, ops.Generation),
		APIVersion: ofResource[O, T](kind, ops.APIVersion),
		Token:      unless(ops.Token == nil, func(t T) (string, int64) { return ops.Token(mustConvert[O](kind, t)) }),
		Owner: unless(ops.Owner == nil, func(ctx context.Context, t T) (checks.Object, error) {
			return ops.Owner(ctx, mustConvert[O](kind, t))
		}),
		SetToken: unless(ops.SetToken == nil, func(ctx context.Context, t T, token string, generation int64) error {
			return ops.SetToken(ctx, mustConvert[O](kind, t), token, generation)
		}),
	}
}

// unless returns f, or the zero value if not is true.
func unless[F any](not bool, f F) (none F) {
	if not {
		return none
	}
	return f
}

// ofResource wraps a function of the resource.
func ofResource[O, T, V any](kind string, f func(O) V) func(T) V {
	return unless(f == nil, func(t T) V { return f(mustConvert[O](kind, t)) })
}

// mustConvert converts t. The engine passed in an O, but a link may have replaced it. mustConvert then
// panics with the error, and the flow makes an error of the panic.
func mustConvert[O, T any](kind string, t T) O {
	o, err := convertTo[O](kind, t)
	if err != nil {
		panic(err)
	}
	return o
}

// ofRequest calls an operation with a copy of the pass's request that has the resource as O. Afterwards
// it copies the operation's changes back. A pass makes one such copy.
func ofRequest[O, T, V any](kind string, f func(context.Context, *Request[O]) (V, error)) func(context.Context, *Request[T]) (V, error) {
	return unless(f == nil, func(ctx context.Context, req *Request[T]) (none V, err error) {
		o, err := convertTo[O](kind, req.Resource)
		if err != nil {
			return none, err
		}
		w, _ := req.note.wide.(*Request[O])
		if w == nil {
			w = &Request[O]{}
			req.note.wide = w
		}
		w.OwnerRequest, w.Presence, w.Token, w.Resource = req.OwnerRequest, req.Presence, req.Token, o
		v, err := f(ctx, w)
		req.OwnerRequest, req.Presence = w.OwnerRequest, w.Presence
		t, misfit := convertTo[T](kind, w.Resource)
		if misfit != nil {
			return v, errors.Join(err, misfit)
		}
		req.Resource = t
		return v, err
	})
}
