package classify

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/errtree"
)

// causesOf returns the causes of a joined error: the leaves of its joins, at
// any depth. It returns none for an error that is not joined. panicked reports
// whether the tree has a *chain.PanicError. ok is false for an error that
// cannot be read: its tree is too large, or one of its methods panics.
func causesOf(err error) (causes []error, panicked, ok bool) {
	var depth int // of the last cause
	_, ok = errtree.Walk(err, func(e error, branch int) bool {
		if branch > 0 {
			if branch > depth && depth > 0 {
				causes = causes[:len(causes)-1] // the last cause is a join that contains e
			}
			causes, depth = append(causes, e), branch
		}
		if _, is := e.(*chain.PanicError); is {
			panicked = true
		}
		return false
	})
	if !ok {
		return nil, false, false
	}
	return causes, panicked, true
}

// unreadableError replaces an error whose methods are not safe to call.
type unreadableError struct{ goType string }

func newUnreadable(err error) *unreadableError { return &unreadableError{fmt.Sprintf("%T", err)} }

func (e *unreadableError) Error() string {
	return fmt.Sprintf("an error of type %s cannot be read: it panics, or it wraps more than %d errors", e.goType, errtree.Max)
}
