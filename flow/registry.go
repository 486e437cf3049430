package flow

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Registry holds the extensions of many kinds, each for its own type. It is for
// an engine that handles all of them as O, usually an interface, and learns its
// kinds at run time. The zero Registry and a nil one hold no kinds. A Registry
// is safe for concurrent use. Do not copy it after its first use.
type Registry[O any] struct {
	// Strict makes [Registry.For] refuse kinds that are not registered. Set it
	// before the first use.
	Strict bool

	mu    sync.RWMutex
	kinds map[string]registered[O] // by their foldKind
}

// registered holds the extensions of a kind, with their type erased.
type registered[O any] struct {
	kind string
	of   reflect.Type
	ext  any // Extensions[T], for ExtensionsOf
	new  func(kind string, ops Operations[O], opts []Option) Runner[O]
}

// Runner takes resources of one kind through the flow. [*Reconciler] implements
// it.
type Runner[O any] interface {
	// Name returns the kind.
	Name() string
	// Reconcile runs one pass for a resource, see [Reconciler.Reconcile].
	Reconcile(ctx context.Context, resource O) Outcome
	// Explain returns the Explanation of a resource's last pass, see
	// [Reconciler.Explain].
	Explain(key string) (e Explanation, ok bool)
	// String prints the flow, and Mermaid draws it.
	String() string
	Mermaid() string
}

// Register adds the extensions of a kind. T is the type that they are written
// for: the type of the kind's resources, or an interface that these implement.
//
// Register panics if:
//
//   - r is nil;
//   - the kind is empty, or has white space around it;
//   - the kind is registered already;
//   - a registered kind differs from it only by case, white space or unprintable characters;
//   - the two types show that no O can be a T.
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
	folded := foldKind(kind)
	if before, ok := r.kinds[folded]; ok {
		if before.kind == kind {
			panic(fmt.Sprintf("flow: Register: %s: there are extensions for this kind already, for %s: join them by Extend", kind, before.of))
		}
		panic(fmt.Sprintf("flow: Register: the kind %q differs from %q, which is registered, only by case or white space: write it in one way", kind, before.kind))
	}
	if r.kinds == nil {
		r.kinds = map[string]registered[O]{}
	}
	r.kinds[folded] = registered[O]{kind, of, ext, func(kind string, ops Operations[O], opts []Option) Runner[O] {
		return runner(kind, ops, ext, opts)
	}}
}

// fits reports whether a value of the engine's type can be of type of.
func fits(engine, of reflect.Type) bool {
	switch engineIsInterface, ofIsInterface := engine.Kind() == reflect.Interface, of.Kind() == reflect.Interface; {
	case engineIsInterface && ofIsInterface:
		return agree(engine, of) // only the resource itself shows whether it implements both
	case engineIsInterface:
		return of.Implements(engine)
	case ofIsInterface:
		return engine.Implements(of)
	}
	return engine == of
}

// agree reports whether one type can have all methods of both interfaces: no
// method has two signatures. Unexported methods of two packages are two methods.
func agree(a, b reflect.Type) bool {
	for m := range a.Methods() {
		if other, ok := b.MethodByName(m.Name); ok && m.PkgPath == other.PkgPath && m.Type != other.Type {
			return false
		}
	}
	return true
}

// For makes the runner of a kind, of ops for the common type of all kinds and
// of the kind's extensions. Call it once for each kind and keep the runner. The
// runner holds the back-off, the traces, the times of [WithReadyTimeout], and the
// tokens that are kept in memory.
//
// A kind that is not registered has no extensions. That is no error unless the
// registry is Strict, because an engine may know more kinds than need
// extensions. [ErrUnknownKind] reports a kind that is blank, or that differs
// from a registered one only by case, white space or unprintable characters: it
// would run without its guards. For returns an error where [New] would panic on
// operations, extensions and options, because an engine calls For at run time.
// It does not recover a panic of a user's own Option.
//
// The flow does not reconcile a resource that is not of the type of the kind's
// extensions. An operation fails if it replaces the resource with nil or with
// one of another type. In both cases the error of the pass contains a
// [*checks.ConversionError].
func (r *Registry[O]) For(kind string, ops Operations[O], opts ...Option) (runner Runner[O], err error) {
	known, err := r.find(kind)
	if err != nil {
		return nil, err
	}
	defer func() {
		v := recover()
		if text, _ := v.(string); strings.HasPrefix(text, "flow: ") { // a panic of New
			runner, err = nil, errors.New(text)
		} else if v != nil { // a panic of a user's option
			panic(v)
		}
	}()
	if known.new == nil {
		return New(kind, ops, Extensions[O]{}, opts...), nil
	}
	return known.new(kind, ops, opts), nil
}

// ErrUnknownKind is in the error of [Registry.For] about a kind that has no
// extensions and must not run without them. Test for it with errors.Is.
var ErrUnknownKind = errors.New("unknown kind")

// find finds a kind. For a kind that is not registered and may run without
// extensions it returns the zero registered. Otherwise it returns an error.
func (r *Registry[O]) find(kind string) (known registered[O], err error) {
	if strings.TrimSpace(kind) == "" {
		return known, fmt.Errorf("flow: For: %w: the kind is empty", ErrUnknownKind)
	}
	if r == nil {
		return registered[O]{}, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.kinds[foldKind(kind)]
	switch {
	case ok && known.kind != kind:
		return known, fmt.Errorf("flow: For: %w: %q is not registered, and %q is, which differs only by case or white space: write it in one way", ErrUnknownKind, kind, known.kind)
	case !ok && r.Strict:
		return known, fmt.Errorf("flow: For: %w: %q is not registered, and the registry is strict: register it, with the zero Extensions if it needs none", ErrUnknownKind, kind)
	}
	return known, nil
}

// foldKind returns the same text for kinds that differ only by case, white
// space or unprintable characters.
func foldKind(kind string) string {
	return strings.ToLower(strings.ToUpper(strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, kind)))
}

// Kinds returns the registered kinds, sorted.
func (r *Registry[O]) Kinds() []string {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var kinds []string
	for _, known := range r.kinds {
		kinds = append(kinds, known.kind)
	}
	slices.Sort(kinds)
	return kinds
}

// ExtensionsOf returns the extensions that are registered for a kind. It is for
// an engine that makes a reconciler of its own type for each kind:
//
//	ext, err := flow.ExtensionsOf[*Topic](&registry, "Topic")
//
// It returns an error that names the kind if the kind is not registered, or is
// registered for another type than T.
func ExtensionsOf[T, O any](r *Registry[O], kind string) (Extensions[T], error) {
	known, err := r.find(kind)
	if err != nil || known.new == nil {
		return Extensions[T]{}, fmt.Errorf("flow: kind %q is not registered: call flow.Register, with the zero Extensions if the kind needs none", kind)
	}
	ext, ok := known.ext.(Extensions[T])
	if !ok {
		return ext, fmt.Errorf("flow: kind %q is registered for %s, and is used for %s: register it for the latter", kind, known.of, reflect.TypeFor[T]())
	}
	return ext, nil
}
