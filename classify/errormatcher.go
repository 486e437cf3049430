package classify

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/windlass-go/windlass/internal/errtree"
)

// TypeMatcher is a condition on the Go type of an error. [ErrorType] makes one.
// The zero TypeMatcher matches any error.
type TypeMatcher struct {
	text string // the condition in words
	typ  reflect.Type
	has  func(error) bool
}

// ErrorType matches errors that are of type E, wrap an error of type E, or have
// an As method that produces an E. E may be an interface:
//
//	{As: classify.ErrorType[*QuotaError](), Retry: classify.VerySlow}
//
// ErrorType panics if E is error itself, which would match any error.
func ErrorType[E error]() TypeMatcher {
	typ := reflect.TypeFor[E]()
	if typ == reflect.TypeFor[error]() {
		panic("classify: ErrorType: the type is error and would match any error")
	}
	return TypeMatcher{"error of type " + typ.String(), typ, func(err error) bool {
		if _, is := err.(E); is {
			return true
		}
		x, produces := err.(interface{ As(any) bool })
		return produces && x.As(new(E))
	}}
}

func (m TypeMatcher) isZero() bool { return m.has == nil }

// String returns the condition in words, as in "error of type *fs.PathError";
// "any" for the zero TypeMatcher.
func (m TypeMatcher) String() string { return cmp.Or(m.text, "any") }

// errorMatcher is a parsed [Rule.Is]. The zero errorMatcher has no target.
type errorMatcher struct {
	target     error
	comparable bool // target may be compared with ==
}

func newErrorMatcher(target error) errorMatcher {
	return errorMatcher{target, target != nil && reflect.ValueOf(target).Comparable()}
}

// has reports whether err itself, and not an error inside it, matches.
func (m errorMatcher) has(err error) bool {
	if m.equals(err) {
		return true
	}
	x, ok := err.(interface{ Is(error) bool })
	return ok && x.Is(m.target)
}

// equals reports whether err == target, if the two can be compared.
func (m errorMatcher) equals(err error) bool { return m.comparable && m.target == err }

// errorText returns the condition of a Rule.Is in words. If target panics, fmt
// recovers and prints the panic.
func errorText(target error) string { return fmt.Sprintf("error %q", fmt.Sprint(target)) }

// within reports whether an error in the tree of err matches. readable is false
// if the tree panics, or is too large, before an error in it matches.
func within(err error, has func(error) bool) (matches, readable bool) {
	return errtree.Walk(err, func(err error, _ int) bool { return has(err) })
}
