package flow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/windlass-go/windlass/checks"
)

// ErrWrongType is in the [checks.ConversionError] of a pass whose resource has
// the wrong type: the engine passed in a resource of another type than the
// extensions of its kind, or a link replaced the resource with one of another
// type than the engine's. Test for it with errors.Is.
var ErrWrongType = errors.New("the resource is not of the type that the extensions of its kind are registered for")

// adapted is a reconciler of T for an engine that handles its resources as O.
type adapted[O, T any] struct {
	*Reconciler[T]
	mistyped func() *Reconciler[O] // for resources that are not a T; it fails every pass
}

func runner[O, T any](kind string, ops Operations[O], ext Extensions[T], opts []Option) Runner[O] {
	if same, ok := any(ext).(Extensions[O]); ok {
		return New(kind, ops, same, opts...)
	}
	r := New(kind, adapt[O, T](kind, ops), ext, opts...)
	return &adapted[O, T]{r, sync.OnceValue(func() *Reconciler[O] {
		mistyped := New(kind, ops, Extensions[O]{Classify: ext.Classify}, opts...)
		mistyped.explanations = r.explanations
		mistyped.opt.backoff = r.opt.backoff
		mistyped.refuse = func(resource O) error {
			_, err := convertTo[T](kind, resource)
			return err
		}
		return mistyped
	})}
}

// Reconcile implements [Runner].
func (a *adapted[O, T]) Reconcile(ctx context.Context, resource O) Outcome {
	t, err := convertTo[T](a.Name(), resource)
	if err != nil {
		return a.mistyped().Reconcile(ctx, resource)
	}
	return a.Reconciler.Reconcile(ctx, t)
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

// adapt makes operations on T of operations on O, the common type of all kinds.
// A nil function stays nil.
func adapt[O, T any](kind string, ops Operations[O]) Operations[T] {
	return Operations[T]{
		Key:        ofResource[O, T](kind, ops.Key),
		Apply:      ofRequest[O, T](kind, ops.Apply),
		Get:        ofRequest[O, T](kind, ops.Get),
		Delete:     ofRequest[O, T](kind, ops.Delete),
		Deleting:   ofResource[O, T](kind, ops.Deleting),
		Generation: ofResource[O, T](kind, ops.Generation),
		APIVersion: ofResource[O, T](kind, ops.APIVersion),
		Token:      ifSet(ops.Token != nil, func(t T) (string, int64) { return ops.Token(mustConvert[O](kind, t)) }),
		Owner: ifSet(ops.Owner != nil, func(ctx context.Context, t T) (checks.Object, error) {
			return ops.Owner(ctx, mustConvert[O](kind, t))
		}),
		SetToken: ifSet(ops.SetToken != nil, func(ctx context.Context, t T, token string, generation int64) error {
			return ops.SetToken(ctx, mustConvert[O](kind, t), token, generation)
		}),
	}
}

func ifSet[F any](set bool, f F) (none F) {
	if set {
		return f
	}
	return none
}

func ofResource[O, T, V any](kind string, f func(O) V) func(T) V {
	return ifSet(f != nil, func(t T) V { return f(mustConvert[O](kind, t)) })
}

// mustConvert converts t. The engine passed in an O, but a link may have
// replaced it. mustConvert then panics with the error, and the pass fails with
// it.
func mustConvert[O, T any](kind string, t T) O {
	o, err := convertTo[O](kind, t)
	if err != nil {
		panic(err)
	}
	return o
}

// ofRequest calls an operation with a copy of the pass's request that has the
// resource as O, and copies the operation's changes back. A pass makes one such
// copy.
func ofRequest[O, T, V any](kind string, f func(context.Context, *Request[O]) (V, error)) func(context.Context, *Request[T]) (V, error) {
	return ifSet(f != nil, func(ctx context.Context, req *Request[T]) (none V, err error) {
		o, err := convertTo[O](kind, req.Resource)
		if err != nil {
			return none, err
		}
		engine, _ := req.pass.engineRequest.(*Request[O])
		if engine == nil {
			engine = &Request[O]{}
			req.pass.engineRequest = engine
		}
		engine.OwnerRequest, engine.Presence, engine.Token, engine.Resource = req.OwnerRequest, req.Presence, req.Token, o
		v, err := f(ctx, engine)
		req.OwnerRequest, req.Presence = engine.OwnerRequest, engine.Presence
		t, wrongType := convertTo[T](kind, engine.Resource)
		if wrongType != nil {
			return v, errors.Join(err, wrongType)
		}
		req.Resource = t
		return v, err
	})
}
