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
