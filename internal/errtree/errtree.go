// Package errtree walks the tree of errors that an error wraps and joins.
package errtree

import "github.com/windlass-go/windlass/chain"

// Max is the maximum number of errors that a walk visits. It bounds an error
// that unwraps to itself.
const Max = 1000

// Walk calls visit for err and for the errors inside it, outer errors before
// inner ones, until visit returns true. branch is 0 for err itself and for an
// error that is wrapped alone. For an error that a join holds, branch is the
// number of joins around it.
//
// Walk does not enter the value of a *chain.PanicError. Of a
// *chain.DeadlineError it visits Err alone.
//
// stopped reports whether visit returned true. readable is false for a tree of
// more than [Max] errors, and if a method of an error or visit panics. Then
// stopped is false.
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

// Any reports whether match returns true for err or an error inside it. It is
// false if the tree cannot be read up to that error.
func Any(err error, match func(error) bool) bool {
	if err == nil {
		return false
	}
	found, _ := Walk(err, func(err error, _ int) bool { return match(err) })
	return found
}

type walk struct {
	visit func(err error, branch int) (stop bool)
	left  int // the number of errors that it may still visit
}

// enter reports whether the walk ends. err is inside this number of joins.
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
