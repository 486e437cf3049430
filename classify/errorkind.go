package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"syscall"

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

func timedOut(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
}

// connection reports whether err is an error of the network: the request did
// not reach the service, or the response was cut off.
func connection(err error) bool {
	if network, ok := errors.AsType[net.Error](err); ok {
		// The errors of system calls implement net.Error, those of files too.
		if _, syscallError := network.(syscall.Errno); !syscallError {
			return true
		}
	}
	for _, target := range [...]error{syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, net.ErrClosed, io.ErrUnexpectedEOF} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
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

const noFailure = "NoFailure"

var errNoFailure = errors.New("classify: the *Failure is nil: make one from an error with NewFailure")
