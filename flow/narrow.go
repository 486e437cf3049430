package flow

import (
	"context"
	"errors"
	"reflect"
	"sync"

	"github.com/windlass-go/windlass/checks"
)

// ErrWrongType is in the [checks.ConversionError] of a pass whose resource is not of the type that the extensions of its
// kind were registered for, or not one that the engine knows any more. Test for it with errors.Is.
var ErrWrongType = errors.New("the resource is not of the type that the extensions of its kind are registered for")

// narrowed is a reconciler of T for an engine that handles its resources as O.
type narrowed[O, T any] struct {
	*Reconciler[T]
	misfits func() *Reconciler[O] // of resources that are no T, all of which it refuses
}

func runner[O, T any](kind string, ops Operations[O], ext Extensions[T], opts []Option) Runner[O] {
	if same, ok := any(ext).(Extensions[O]); ok {
		return New(kind, ops, same, opts...)
	}
	r := New(kind, narrow[O, T](kind, ops), ext, opts...)
	return &narrowed[O, T]{r, sync.OnceValue(func() *Reconciler[O] {
		misfits := New(kind, ops, Extensions[O]{Classify: ext.Classify}, opts...)
		misfits.kept = r.kept
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

// convertTo gives a resource as another type that it has, too.
func convertTo[To, From any](kind string, resource From) (To, error) {
	to, ok := any(resource).(To)
	if ok {
		return to, nil
	}
	from := "nothing"
	if got := reflect.TypeOf(resource); got != nil {
		from = got.String()
	}
	return to, &checks.ConversionError{Kind: kind, From: from, To: reflect.TypeFor[To]().String(), Err: ErrWrongType}
}

// narrow makes operations on what all kinds have in common into operations on T. What is nil stays nil.
func narrow[O, T any](kind string, ops Operations[O]) Operations[T] {
	return Operations[T]{
		Key:        ofResource[O, T](kind, ops.Key),
		Apply:      ofRequest[O, T](kind, ops.Apply),
		Get:        ofRequest[O, T](kind, ops.Get),
		Delete:     ofRequest[O, T](kind, ops.Delete),
		Deleting:   ofResource[O, T](kind, ops.Deleting),
		Generation: ofResource[O, T](kind, ops.Generation),
		Owner: unless(ops.Owner == nil, func(ctx context.Context, t T) (checks.Object, error) {
			o, err := convertTo[O](kind, t)
			if err != nil {
				return checks.Object{}, err
			}
			return ops.Owner(ctx, o)
		}),
		Token: unless(ops.Token == nil, func(t T) (string, int64) { return ops.Token(mustConvert[O](kind, t)) }),
		SetToken: unless(ops.SetToken == nil, func(ctx context.Context, t T, token string, generation int64) error {
			o, err := convertTo[O](kind, t)
			if err != nil {
				return err
			}
			return ops.SetToken(ctx, o, token, generation)
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

// ofResource is for functions that give no error: the flow makes one of the panic.
func ofResource[O, T, V any](kind string, f func(O) V) func(T) V {
	return unless(f == nil, func(t T) V { return f(mustConvert[O](kind, t)) })
}

// mustConvert panics with the error. It was an O when it came, but a link may have put something else in its place.
func mustConvert[O, T any](kind string, t T) O {
	o, err := convertTo[O](kind, t)
	if err != nil {
		panic(err)
	}
	return o
}

// ofRequest hands an operation the pass's request with the resource as O, and takes back what the operation made of it.
// There is one such request a pass.
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
		w.OwnerRequest, w.Exists, w.Token, w.Resource = req.OwnerRequest, req.Exists, req.Token, o
		v, err := f(ctx, w)
		req.OwnerRequest, req.Exists = w.OwnerRequest, w.Exists
		t, misfit := convertTo[T](kind, w.Resource)
		if misfit != nil {
			return v, errors.Join(err, misfit)
		}
		req.Resource = t
		return v, err
	})
}
