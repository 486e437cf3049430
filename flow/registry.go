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

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/text"
)

// Registry holds the extensions of many kinds, each for its own type. It serves
// an engine that learns its kinds at run time, and handles all resources as O,
// usually an interface. The zero Registry and a nil one hold no kinds. A
// Registry is safe for concurrent use. Do not copy it after its first use.
type Registry[O any] struct {
	// Strict makes [Registry.For] return an error for kinds that are not
	// registered. Set it before the first use.
	Strict bool

	mu    sync.RWMutex
	kinds map[string]registered[O] // by their foldKind
}

// registered holds the extensions of a kind, whose type is not static here.
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
	// Remove drops what is stored in memory under the key of a resource that no
	// longer exists, see [Reconciler.Remove].
	Remove(key string)
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
//   - a registered kind differs from it only by case, white space or
//     unprintable characters;
//   - the two types show that no O can be a T.
func Register[O, T any](r *Registry[O], kind string, ext Extensions[T]) {
	if r == nil {
		panic(fmt.Sprintf("flow: Register: %s: the registry is nil", kind))
	}
	if trimmed := strings.TrimSpace(kind); trimmed == "" {
		panic(fmt.Sprintf("flow: Register: the kind of the extensions for %s is empty", reflect.TypeFor[T]()))
	} else if trimmed != kind {
		panic(fmt.Sprintf("flow: Register: there is white space around the kind %q, so no engine would find it: remove the white space", kind))
	}
	engine, of := reflect.TypeFor[O](), reflect.TypeFor[T]()
	if !fits(engine, of) {
		panic(fmt.Sprintf("flow: Register: %s: the extensions are for %s, but the registry is for %s, which cannot have that type", kind, of, engine))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	folded := foldKind(kind)
	if before, ok := r.kinds[folded]; ok {
		if before.kind == kind {
			panic(fmt.Sprintf("flow: Register: %s: there are extensions for this kind already, for %s: join both with Extend", kind, before.of))
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
		return true // only the resource itself shows whether it implements both
	case engineIsInterface:
		return of.Implements(engine)
	case ofIsInterface:
		return engine.Implements(of)
	}
	return engine == of
}

// For makes the runner of a kind, from ops for the common type of all kinds and
// from the kind's extensions. Call it once for each kind and keep the runner,
// which stores what a [Reconciler] stores between passes.
//
// A kind that is not registered has no extensions. That is an error only if the
// registry is Strict, because an engine may know more kinds than need
// extensions. A kind that is blank, or that differs from a registered kind only
// by case, white space or unprintable characters, is always an error: it would
// run without its links. The error contains [ErrMisuse].
//
// For returns an error where [New] panics on operations, extensions and
// options, because an engine calls For at run time. It does not recover a panic
// of a user's own Option.
//
// A pass fails, with a [*checks.ConversionError] in its error, if the resource
// does not have the type of the kind's extensions, or if an operation replaces
// the resource with nil or with one of another type.
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

// find returns the registered kind. For a kind that is not registered it
// returns the zero value if the kind may run without extensions, and otherwise
// an error.
func (r *Registry[O]) find(kind string) (known registered[O], err error) {
	if strings.TrimSpace(kind) == "" {
		return known, fmt.Errorf("flow: For: %w: the kind is empty", errUnknownKind)
	}
	if r == nil {
		return registered[O]{}, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.kinds[foldKind(kind)]
	switch {
	case ok && known.kind != kind:
		return known, fmt.Errorf("flow: For: %w: %q is not registered, but %q is, and differs only by case or white space: write it in one way", errUnknownKind, kind, known.kind)
	case !ok && r.Strict:
		return known, fmt.Errorf("flow: For: %w: %q is not registered, and the registry is strict: register it, with the zero Extensions if it needs none", errUnknownKind, kind)
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

// ExtensionsOf returns the extensions that are registered for a kind. It serves
// an engine that makes a reconciler of its own type for each kind:
//
//	ext, err := flow.ExtensionsOf[*Topic](&registry, "Topic")
//
// The error names the kind. It reports a kind that is not registered, or is
// registered for another type than T.
func ExtensionsOf[T, O any](r *Registry[O], kind string) (Extensions[T], error) {
	known, err := r.find(kind)
	if err != nil || known.new == nil {
		return Extensions[T]{}, fmt.Errorf("flow: kind %q is not registered: call flow.Register, with the zero Extensions if the kind needs none", kind)
	}
	ext, ok := known.ext.(Extensions[T])
	if !ok {
		return ext, fmt.Errorf("flow: kind %q is registered for %s, and is used for %s: register it for %[3]s", kind, known.of, reflect.TypeFor[T]())
	}
	return ext, nil
}

// adapted is a reconciler of T for an engine that handles its resources as O.
type adapted[O, T any] struct {
	Runner[T]
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
	return a.Runner.Reconcile(ctx, t)
}

// convertTo returns a resource as another type that it implements.
func convertTo[To, From any](kind string, resource From) (To, error) {
	to, ok := any(resource).(To)
	if ok {
		return to, nil
	}
	return to, &checks.ConversionError{Kind: kind, From: text.Type(resource), To: reflect.TypeFor[To]().String(), Err: errWrongType}
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
