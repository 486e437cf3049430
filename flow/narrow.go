package flow

import (
	"context"
	"errors"
	"reflect"

	"github.com/windlass-go/windlass/checks"
)

// ErrWrongType is in the [checks.ConversionError] of a pass whose resource is not of the type that the extensions of its
// kind were registered for. Test for it with errors.Is.
var ErrWrongType = errors.New("the resource is not of the type that the extensions of its kind are registered for")

// narrowed is a reconciler of T for an engine that handles its resources as O.
type narrowed[O, T any] struct {
	*Reconciler[T]
	misfits *Reconciler[O] // fails
}

func runner[O, T any](kind string, ops Operations[O], ext Extensions[T], opts []Option) Runner[O] {
	if same, ok := any(ext).(Extensions[O]); ok {
		return New(kind, ops, same, opts...)
	}
	r := New(kind, narrow[O, T](ops), ext, opts...)
	misfits := New(kind, ops, Extensions[O]{Classify: ext.Classify}, opts...)
	misfits.kept = r.kept
	misfits.refuse = func(resource O) error {
		_, err := narrowTo[T](kind, resource)
		return err
	}
	return &narrowed[O, T]{r, misfits}
}

// Reconcile implements [Runner].
func (n *narrowed[O, T]) Reconcile(ctx context.Context, resource O) Outcome {
	t, err := narrowTo[T](n.Name(), resource)
	if err != nil {
		return n.misfits.Reconcile(ctx, resource)
	}
	return n.Reconciler.Reconcile(ctx, t)
}

func narrowTo[T, O any](kind string, resource O) (T, error) {
	t, ok := any(resource).(T)
	if ok {
		return t, nil
	}
	from := "nothing"
	if got := reflect.TypeOf(resource); got != nil {
		from = got.String()
	}
	return t, &checks.ConversionError{Kind: kind, From: from, To: reflect.TypeFor[T]().String(), Err: ErrWrongType}
}

// wide is the resource as the engine knows it, which it was when it came.
func wide[O, T any](resource T) O { return any(resource).(O) }

// narrow makes operations on what all kinds have in common into operations on T. What is nil stays nil.
func narrow[O, T any](ops Operations[O]) Operations[T] {
	return Operations[T]{
		Key:        ofResource[O, T](ops.Key),
		Apply:      ofRequest[O, T](ops.Apply),
		Get:        ofRequest[O, T](ops.Get),
		Delete:     ofRequest[O, T](ops.Delete),
		Deleting:   ofResource[O, T](ops.Deleting),
		Generation: ofResource[O, T](ops.Generation),
		Owner:      unless(ops.Owner == nil, func(ctx context.Context, t T) (checks.Object, error) { return ops.Owner(ctx, wide[O](t)) }),
		Token:      unless(ops.Token == nil, func(t T) (string, int64) { return ops.Token(wide[O](t)) }),
		SetToken: unless(ops.SetToken == nil, func(ctx context.Context, t T, token string, generation int64) error {
			return ops.SetToken(ctx, wide[O](t), token, generation)
		}),
	}
}

// unless gives f, or nil.
func unless[F any](not bool, f F) (none F) {
	if not {
		return none
	}
	return f
}

func ofResource[O, T, V any](f func(O) V) func(T) V {
	return unless(f == nil, func(t T) V { return f(wide[O](t)) })
}

// ofRequest hands an operation the pass's request with the resource as O, and takes back what the operation made of the
// resource. There is one such request a pass.
func ofRequest[O, T, V any](f func(context.Context, *Request[O]) (V, error)) func(context.Context, *Request[T]) (V, error) {
	return unless(f == nil, func(ctx context.Context, req *Request[T]) (V, error) {
		w, _ := req.note.wide.(*Request[O])
		if w == nil {
			w = &Request[O]{}
			req.note.wide = w
		}
		w.OwnerRequest, w.Exists, w.Token = req.OwnerRequest, req.Exists, req.Token
		w.Resource = wide[O](req.Resource)
		v, err := f(ctx, w)
		t, misfit := narrowTo[T](req.Kind, w.Resource)
		if misfit != nil {
			return v, errors.Join(err, misfit)
		}
		req.Resource = t
		return v, err
	})
}
