package classify

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// maxClass bounds the text of a service in an attribute of telemetry.
const maxClass = 100

// Class returns the kind of an error for telemetry, which needs few different
// values. It returns the first of these that is set: [Failure.Class], the code,
// the HTTP status, the Go type. For a joined error, Class uses the first cause.
// The result has at most 100 bytes of printable ASCII. It is empty for a nil
// error.
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

// wrapError is the type of an error of fmt.Errorf that wraps one error.
var wrapError = reflect.TypeOf(fmt.Errorf("%w", errNoFailure))

// typeName returns the Go type of the outermost error that is not a wrapError;
// for a panic, the type of its value.
func typeName(err error) string {
	for reflect.TypeOf(err) == wrapError && errors.Unwrap(err) != nil { // the operand of fmt.Errorf may be nil
		err = errors.Unwrap(err)
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
