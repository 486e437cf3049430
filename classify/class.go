package classify

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// maxClass bounds the text that a service can put into an attribute of
// telemetry.
const maxClass = 100

// Class returns the kind of an error for telemetry, which needs few different
// values: the class that a reader set, or else the code, the HTTP status, or
// the Go type of the error. For a joined error, Class uses the first cause. It
// has at most 100 bytes of printable ASCII. It is empty for a nil error.
func (e Errors) Class(err error) string {
	if err == nil {
		return ""
	}
	if causes, _, _ := causesOf(err); len(causes) > 0 {
		err = causes[0]
	}
	f := e.failure(err)
	class := cmp.Or(f.Class, f.Code)
	if class == "" && f.Status != 0 {
		class = strconv.Itoa(f.Status)
	} else if class == "" {
		class = typeName(f.Err)
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, class[:min(len(class), maxClass)])
}

// wrappers are the types of errors that only wrap others.
var wrappers = []reflect.Type{
	reflect.TypeOf(fmt.Errorf("%w", errNoFailure)),
	reflect.TypeOf(fmt.Errorf("%w %w", errNoFailure, errNoFailure)),
	reflect.TypeOf(errors.Join(errNoFailure)),
}

// typeName returns the Go type of the innermost error that does more than wrap
// others; for a panic, the type of its value.
func typeName(err error) string {
	for slices.Contains(wrappers, reflect.TypeOf(err)) {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			inner = joined.Unwrap()[0] // the joins of the standard library are never empty
		}
		if inner == nil {
			break
		}
		err = inner
	}
	switch e := err.(type) {
	case *chain.PanicError:
		if e != nil {
			return fmt.Sprintf("%T", e.Value)
		}
	case *unreadableError:
		return e.goType
	}
	return fmt.Sprintf("%T", err)
}
