package engine

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
)

// Index is an index of a kind: the values of a field, by which queries select.
type Index struct {
	Kind   schema.GroupKind
	Field  string
	Values func(obj client.Object) ([]string, error) // it only reads obj; an error: obj has another type
}

// FieldQuery is a query by a field that a check of a reconciler makes.
type FieldQuery struct {
	By    string // the reconciler and the check, for an error
	Kind  schema.GroupKind
	Field string
}

// allIndexed returns an error if a known query selects by a field that has no index.
// All reconcilers have been added when it runs, and each of them may define the index.
func (e *Engine) allIndexed() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.listed {
		if e.fields[fieldKey{l.Kind, l.Field}] == nil {
			return fmt.Errorf("ctrlx: %s queries %s: %w", l.By, l.Kind, &FieldError{Field: l.Field})
		}
	}
	return nil
}

// field is an index in use.
type field struct {
	Index
	broken atomic.Pointer[error] // the first error or panic; nil: there was none
}

type fieldKey struct {
	kind schema.GroupKind
	name string
}

// FieldError is the error of a query over a field that cannot be used.
type FieldError struct {
	Field string
	Err   error // what the function of the index did; nil: there is no index of the field
}

// Error names the field and the fix.
func (e *FieldError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("no index has the field %q of the kind: define it with ctrlx.WithIndex, or correct the query", e.Field)
	}
	return fmt.Sprintf("the index of the field %q cannot be trusted: %v: correct the function of ctrlx.WithIndex", e.Field, e.Err)
}

func (e *FieldError) Unwrap() error { return e.Err }

// indexed returns the index of a field of a kind; nil: there is none. The error says why
// the field cannot be queried.
func (e *Engine) indexed(gk schema.GroupKind, name string) (*field, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.fields[fieldKey{gk, name}]
	if f == nil {
		return nil, &FieldError{Field: name}
	}
	if err := f.broken.Load(); err != nil {
		return f, &FieldError{name, *err}
	}
	return f, nil
}

// valuesIn returns the values of a field of an object. After an error or a panic
// of the user's function, the queries over the field fail, and their waiters are
// woken to report that. It takes no lock of the engine: an informer calls it with
// a lock of its own.
func (e *Engine) valuesIn(f *field, obj client.Object) []string {
	values, err := f.values(obj)
	if err == nil {
		return values
	}
	err = fmt.Errorf("%s: %w", client.ObjectKeyFromObject(obj), err)
	if f.broken.CompareAndSwap(nil, &err) {
		e.wakeSets(e.sets.ids(f.Kind))
	}
	return nil
}

// values calls the function of the user.
func (f *field) values(obj client.Object) (values []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &chain.PanicError{Value: r, Stack: debug.Stack()}
		}
	}()
	return f.Values(obj)
}

// cacheField is the name of an index in the cache, which other code may index by
// fields of its own.
func cacheField(name string) string { return "windlass-go.github.io/" + name }

// fieldsOf returns the indexed fields of a kind.
func (e *Engine) fieldsOf(gk schema.GroupKind) (all []*field) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, f := range e.fields {
		if key.kind == gk {
			all = append(all, f)
		}
	}
	return all
}
