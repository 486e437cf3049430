package classify

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/windlass-go/windlass/internal/errtree"
)

// readText takes the text of the error as the message.
func readText(f *Failure) bool {
	f.Message = f.Err.Error()
	return true
}

// readGeneral reads an error that no reader of a service knows.
func readGeneral(f *Failure) bool {
	readText(f)
	if found, _ := errtree.Walk(f.Err, hasMethods); found {
		readMethods(f)
	}
	f.ReadStatus()
	f.Transient = f.Transient || timedOut(f.Err) || connection(f.Err)
	return true
}

// The methods that [Errors] lists.
type (
	coder     interface{ ErrorCode() string }
	messager  interface{ ErrorMessage() string }
	httpCoder interface{ HTTPStatusCode() int }
	statuser  interface{ StatusCode() int }
	delayer   interface{ RetryAfter() time.Duration }
)

// hasMethods reports whether an error may have a method that readMethods calls.
// Most errors have none, and one walk of the tree is cheaper than five.
func hasMethods(err error, _ int) bool {
	switch err.(type) {
	case coder, messager, httpCoder, statuser, delayer, interface{ As(any) bool }:
		return true
	}
	return false
}

// readMethods calls the methods that [Errors] lists.
func readMethods(f *Failure) {
	if e, ok := as[coder](f.Err); ok {
		f.Code = e.ErrorCode()
	}
	if e, ok := as[messager](f.Err); ok {
		f.Message = e.ErrorMessage()
	}
	if e, ok := as[httpCoder](f.Err); ok {
		f.Status = e.HTTPStatusCode()
	} else if e, ok := as[statuser](f.Err); ok {
		f.Status = e.StatusCode()
	}
	if e, ok := as[delayer](f.Err); ok {
		f.After = serviceDelay(e.RetryAfter())
	}
}

// as finds the first error with the methods of M.
func as[M any](err error) (m M, ok bool) {
	ok = errors.As(err, &m)
	return m, ok
}

// ReadStatus sets NotFound and Transient by the HTTP status, for readers:
// NotFound is true for 404, Transient for 408, 429 and 5xx.
func (f *Failure) ReadStatus() {
	f.NotFound = f.Status == 404
	f.Transient = f.Status == 408 || f.Status == 429 || serverError(f.Status)
}

func serverError(status int) bool { return status >= 500 && status <= 599 }

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
