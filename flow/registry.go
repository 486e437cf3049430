package flow

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Registry holds the extensions of many kinds, each written for its own type, for an engine that handles all of them as
// O, usually an interface, and knows only at run time which kinds there are. The zero Registry has none, a nil one
// likewise. It is safe for concurrent use, and must not be copied once it is used.
type Registry[O any] struct {
	mu    sync.RWMutex
	kinds map[string]registered[O]
}

// registered is what was registered for a kind, its type forgotten.
type registered[O any] struct {
	of  reflect.Type
	new func(kind string, ops Operations[O], opts []Option) Runner[O]
}

// Runner takes resources of one kind through the flow. A [*Reconciler] is one.
type Runner[O any] interface {
	// Name is the kind.
	Name() string
	// Reconcile takes a resource through the flow once, see [Reconciler.Reconcile].
	Reconcile(ctx context.Context, resource O) Outcome
	// Explain says why a resource is where it is, see [Reconciler.Explain].
	Explain(key string) (e Explanation, ok bool)
	// String prints the flow, Mermaid draws it.
	String() string
	Mermaid() string
}

// Register adds the extensions of a kind. T is the type that they are written for: that of the kind's resources, or an
// interface that these implement.
//
// It panics if the kind is blank or has extensions already, and if it can be seen that no O is ever a T.
func Register[O, T any](r *Registry[O], kind string, ext Extensions[T]) {
	if r == nil {
		panic(fmt.Sprintf("flow: Register: %s: the registry is nil", kind))
	}
	if trimmed := strings.TrimSpace(kind); trimmed == "" {
		panic(fmt.Sprintf("flow: Register: the kind of the extensions for %s is empty", reflect.TypeFor[T]()))
	} else if trimmed != kind {
		panic(fmt.Sprintf("flow: Register: there is white space around the kind %q, so that it would never be looked up", kind))
	}
	engine, of := reflect.TypeFor[O](), reflect.TypeFor[T]()
	if !fits(engine, of) {
		panic(fmt.Sprintf("flow: Register: %s: the extensions are for %s, which does not fit an engine of %s", kind, of, engine))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, ok := r.kinds[kind]; ok {
		panic(fmt.Sprintf("flow: Register: %s: there are extensions for this kind already, for %s: join them by Extend", kind, before.of))
	}
	if r.kinds == nil {
		r.kinds = map[string]registered[O]{}
	}
	r.kinds[kind] = registered[O]{of: of, new: func(kind string, ops Operations[O], opts []Option) Runner[O] {
		return runner(kind, ops, ext, opts)
	}}
}

// fits tells whether a value of the engine's type can be one of type of.
func fits(engine, of reflect.Type) bool {
	switch {
	case engine == of:
		return true
	case of.Kind() == reflect.Interface && engine.Kind() == reflect.Interface:
		return agree(engine, of) // whether a resource implements both, only the resource can tell
	case of.Kind() == reflect.Interface:
		return engine.Implements(of)
	}
	return engine.Kind() == reflect.Interface && of.Implements(engine)
}

// agree tells whether no method of both interfaces has two signatures, so that a type can have all methods of both.
func agree(a, b reflect.Type) bool {
	for m := range a.Methods() {
		if other, ok := b.MethodByName(m.Name); ok && (m.Type != other.Type || m.PkgPath != other.PkgPath) {
			return false
		}
	}
	return true
}

// For makes the runner of a kind: ops for the type that all kinds have in common, and the kind's extensions. Make it once
// for each kind that turns up, and keep it: it is what holds traces, and tokens that are kept in memory. How many kinds are
// registered does not matter to it.
//
// A kind that was not registered has no extensions, which is no error: an engine may know more kinds than need something
// special. Kinds are compared as they are written; [Registry.Kinds] is there to look for one that is misspelt.
//
// A resource that is not of the type of the kind's extensions is not reconciled, and an operation that puts such a one, or
// none, in its place has failed: the error of the pass is a [*checks.ConversionError]. For panics where [New] does.
func (r *Registry[O]) For(kind string, ops Operations[O], opts ...Option) Runner[O] {
	known, ok := r.registered(kind)
	if !ok {
		return New(kind, ops, Extensions[O]{}, opts...)
	}
	return known.new(kind, ops, opts)
}

// registered looks a kind up. A nil registry has none.
func (r *Registry[O]) registered(kind string) (known registered[O], ok bool) {
	if r == nil {
		return known, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok = r.kinds[kind]
	return known, ok
}

// Kinds lists the kinds that are registered, sorted.
func (r *Registry[O]) Kinds() []string {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.kinds))
}
