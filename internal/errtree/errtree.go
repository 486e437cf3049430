// Package errtree walks the tree of errors that an error wraps and joins.
package errtree

import "github.com/windlass-go/windlass/chain"

// Max is the maximum number of errors that a walk visits. It bounds an error
// that unwraps to itself.
const Max = 1000

// Walk calls visit for err and for the errors inside it, outer errors before
// inner ones, until visit returns true. For an error that is directly inside a
// join, branch is the number of joins around it. Otherwise it is 0.
//
// Walk does not visit the value of a *chain.PanicError. Inside a
// *chain.DeadlineError it visits only Err.
//
// stopped reports whether visit returned true. If the tree has more than [Max]
// errors, or if visit or a method of an error panics, both results are false.
func Walk(err error, visit func(err error, branch int) (stop bool)) (stopped, readable bool) {
	w := walk{visit: visit, left: Max}
	defer func() {
		if recover() != nil {
			stopped, readable = false, false
		}
	}()
	stopped = w.enter(err, 0)
	return stopped && w.left >= 0, w.left >= 0
}

// Any reports whether match returns true for err or an error inside it. It
// returns false if the tree is unreadable before that error.
func Any(err error, match func(error) bool) bool {
	if err == nil {
		return false
	}
	found, _ := Walk(err, func(err error, _ int) bool { return match(err) })
	return found
}

type walk struct {
	visit func(err error, branch int) (stop bool)
	left  int // the number of errors that may still be visited
}

// enter visits err, which is inside joins joins, and the errors inside it. It
// reports whether the walk ends.
func (w *walk) enter(err error, joins int) (stop bool) {
	for branch := joins; err != nil; branch = 0 {
		if w.left--; w.left < 0 || w.visit(err, branch) {
			return true
		}
		switch x := err.(type) {
		case *chain.PanicError:
			return false
		case *chain.DeadlineError:
			err = x.Err
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range x.Unwrap() {
				if w.enter(inner, joins+1) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
