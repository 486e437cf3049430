package classify

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
)

// maxNodes is how many errors a tree of wrapped and joined errors may have. A larger one is not read: an error that
// unwraps to itself would never end.
const maxNodes = 1000

// causesOf takes a joined error apart. It returns no causes for an error that is not joined. panicked reports whether a
// *chain.PanicError is among the errors. ok is false for an error that cannot be read: its tree is too large, or one of
// its methods panics.
func causesOf(err error) (causes []error, panicked, ok bool) {
	w := walk{left: maxNodes}
	defer func() {
		if recover() != nil {
			causes, panicked, ok = nil, false, false
		}
	}()
	causes = w.split(err)
	return causes, w.panicked, w.left >= 0
}

// walk is one walk through a tree of errors.
type walk struct {
	left     int // how many errors it may still visit
	panicked bool
}

func (w *walk) split(err error) []error {
	for err != nil {
		if w.left--; w.left < 0 {
			return nil
		}
		switch x := err.(type) {
		case *chain.PanicError:
			w.panicked = true
			return nil // one cause, whatever the value of the panic is
		case *chain.DeadlineError:
			err = x.Err // it joins, too, but the error that it names is the one cause
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			var causes []error
			for _, branch := range x.Unwrap() {
				if branch == nil {
					continue
				}
				if inner := w.split(branch); inner != nil {
					causes = append(causes, inner...)
				} else {
					causes = append(causes, branch)
				}
				if w.left < 0 {
					return nil
				}
			}
			return causes
		default:
			return nil
		}
	}
	return nil
}

// unreadableError stands for an error that is not safe to look into.
type unreadableError struct{ goType string }

func newUnreadable(err error) *unreadableError { return &unreadableError{fmt.Sprintf("%T", err)} }

func (e *unreadableError) Error() string {
	return fmt.Sprintf("an error of type %s cannot be read: it panics, or it wraps more than %d errors", e.goType, maxNodes)
}
