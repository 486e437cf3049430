package checks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

var errNilPointer = errors.New("the function dereferenced nil")

// optional calls a function that may dereference nil. If it does, optional
// returns the zero value and false: the field is not reported. The trace then
// shows where, so that a bug in the function is visible. optional does not stop
// any other panic.
func optional[X, V any](ctx context.Context, from func(X) V, x X) (v V, reported bool) {
	defer func() {
		if !reported && nilMet(recover()) {
			chain.Note(ctx, nilPlace{})
		}
	}()
	return from(x), true
}

// required calls a function that must not dereference nil. If it does, the
// error names the place and the remedy. required does not stop any other panic.
func required[X, V any](from func(X) V, x X, name, remedy string) (v V, err error) {
	err = errNilPointer // until from returns
	defer func() {
		if err != nil && nilMet(recover()) {
			err = fmt.Errorf("%s: %w at %s: %s", name, err, probe.Panicked(), remedy)
		}
	}()
	return from(x), nil
}

// known returns the state that a selector finds in x, or "" if the state is not
// reported.
func known[X any, S ~string](ctx context.Context, selector func(X) *S, x X) string {
	if s, _ := optional(ctx, selector, x); s != nil {
		return string(*s)
	}
	return ""
}

// nilMet reports whether v is the panic of a nil dereference. It panics again
// with any other value.
func nilMet(v any) bool {
	if err, ok := v.(runtime.Error); ok && strings.Contains(err.Error(), "nil pointer dereference") {
		return true
	}
	if v != nil { // nil: runtime.Goexit, which continues by itself
		panic(v)
	}
	return false
}

// nilPlace is the note about a nil dereference. Only deferred functions may
// print it.
type nilPlace struct{}

func (nilPlace) String() string { return "nil dereferenced at " + probe.Panicked() }

func isNil(v any) bool {
	switch value := reflect.ValueOf(v); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return value.IsNil()
	}
	return false
}
