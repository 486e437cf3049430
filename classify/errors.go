package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/windlass-go/windlass/chain"
)

// Reader reads f.Err into f: Code, Status, Message, After, Inner, NotFound, Transient, Ended and Class, as far as the
// error has them. It returns false, and leaves f as it is, if it does not know this kind of error. f.Err is one cause and
// may be wrapped, so a Reader looks for its error type with errors.As.
//
// Several goroutines call a Reader at once. A Reader that panics has not read the error.
type Reader func(f *Failure) bool

// Errors knows the errors of some services: it reads them, and it holds what to do about their codes. [NewErrors] makes
// one for a service, [Errors.And] joins several. The zero Errors knows no service. It reads what Go itself defines, and
// whatever an error says about itself by methods:
//
//	ErrorCode() string                          Code
//	ErrorMessage() string                       Message
//	HTTPStatusCode() int, or StatusCode() int   Status
//	RetryAfter() time.Duration                  After
//	Timeout() bool                              Transient, as are network errors and the statuses 408, 429 and 5xx
//
// A status of 404 means NotFound. An Errors never changes and may be shared.
type Errors struct {
	services []*service
}

// service holds the arguments of one call of NewErrors.
type service struct {
	name  string
	read  Reader
	table *index
}

// NewErrors returns what is known about the errors of one service. read recognises and reads them. table decides about the
// failures that read has read, after all links of a chain and before the general part of [Default]; it may be nil.
//
// An empty name, a nil read and a table that [Table.Link] would refuse are set-up errors and panic.
func NewErrors(name string, read Reader, table Table) Errors {
	if strings.TrimSpace(name) == "" || read == nil {
		panic(fmt.Sprintf("classify: NewErrors: the name %q is empty or the reader is nil: give both", name))
	}
	ix, err := compile(table)
	if err != nil {
		panic(fmt.Sprintf("classify: NewErrors: %s: %v", name, err))
	}
	return Errors{services: []*service{{name: name, read: read, table: ix}}}
}

// And returns an Errors that asks the readers of e first, and then those of others in order. The first reader that knows
// an error reads it.
func (e Errors) And(others ...Errors) Errors {
	parts := [][]*service{e.services}
	for _, o := range others {
		parts = append(parts, o.services)
	}
	return Errors{services: slices.Concat(parts...)}
}

// String lists the names of the services, as in "azure, grpc"; "no service" for the zero Errors.
func (e Errors) String() string {
	if len(e.services) == 0 {
		return "no service"
	}
	names := make([]string, len(e.services))
	for i, s := range e.services {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

// NotFound reports whether err says that the object does not exist, and nothing else: each cause of a joined error has to
// say so. It is false for a nil error.
func (e Errors) NotFound(err error) bool { return err != nil && e.failure(err).NotFound }

// Ended reports whether err says that the operation which was polled has ended without success, or no longer exists. Each
// cause of a joined error has to say so. It is false for a nil error, and for every error that no reader knows.
func (e Errors) Ended(err error) bool { return err != nil && e.failure(err).Ended }

// Transient reports whether err is known to be one that a retry may mend. Each cause of a joined error has to be. It is
// false for a nil error.
func (e Errors) Transient(err error) bool { return err != nil && e.failure(err).Transient }

// Class names the kind of an error for telemetry, where few different values are wanted: the class that a reader gave, or
// else the code, the HTTP status, or the Go type of the error. For a joined error, Class uses the first cause. It has at
// most 100 bytes of printable ASCII. It is empty for a nil error.
func (e Errors) Class(err error) string {
	if err == nil {
		return ""
	}
	if causes, _, _ := causesOf(err); len(causes) > 0 {
		err = causes[0]
	}
	return e.failure(err).class()
}

func (e Errors) failure(err error) *Failure { return NewFailure(err, "", time.Time{}, e) }

// read calls the readers in order, until one knows the error.
func (e Errors) read(f *Failure) {
	for _, s := range e.services {
		if s.reads(f) {
			f.service = s
			return
		}
	}
	readWith(f, readGeneral)
}

// readWith reads f with a reader of this package.
func readWith(f *Failure, read Reader) {
	if guarded(f, read) {
		return
	}
	f.NotFound, f.Transient, f.Ended = false, false, false
	if f.Message == "" {
		f.Message = "an error of type " + typeName(f.Err) + " panics when it is read"
	}
}

// reads calls the reader. A reader that panics or returns false leaves f as it was.
func (s *service) reads(f *Failure) bool {
	before := *f
	if !guarded(f, s.read) {
		*f = before
		return false
	}
	f.After = min(max(f.After, 0), maxAfter)
	return true
}

func guarded(f *Failure, read Reader) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return read(f)
}

// readText reads no more than the text of an error.
func readText(f *Failure) bool {
	f.Message = f.Err.Error()
	return true
}

// readGeneral reads an error that no service knows.
func readGeneral(f *Failure) bool {
	readText(f)
	if reports(f.Err) {
		readMethods(f)
	}
	f.ReadStatus()
	f.Transient = f.Transient || isNetwork(f.Err)
	return true
}

// reports reports whether an error has one of the methods that readMethods calls. Most errors have none, and one walk is
// cheaper than five.
func reports(err error) bool {
	for err != nil {
		switch x := err.(type) {
		case interface{ ErrorCode() string }, interface{ ErrorMessage() string }, interface{ HTTPStatusCode() int },
			interface{ StatusCode() int }, interface{ RetryAfter() time.Duration }, interface{ As(any) bool }:
			return true
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			return slices.ContainsFunc(x.Unwrap(), reports)
		default:
			return false
		}
	}
	return false
}

// readMethods reads what an error reports by the methods that Errors lists.
func readMethods(f *Failure) {
	if err, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](f.Err); ok {
		f.Code = err.ErrorCode()
	}
	if err, ok := errors.AsType[interface {
		error
		ErrorMessage() string
	}](f.Err); ok {
		f.Message = err.ErrorMessage()
	}
	if err, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](f.Err); ok {
		f.Status = err.HTTPStatusCode()
	} else if err, ok := errors.AsType[interface {
		error
		StatusCode() int
	}](f.Err); ok {
		f.Status = err.StatusCode()
	}
	if err, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](f.Err); ok {
		f.After = min(max(err.RetryAfter(), 0), maxAfter)
	}
}

// ReadStatus sets NotFound and Transient from the HTTP status: NotFound for 404, Transient for 408, 429 and 5xx. Readers
// call it.
func (f *Failure) ReadStatus() {
	f.NotFound = f.Status == 404
	f.Transient = f.Status == 408 || f.Status == 429 || f.Status >= 500 && f.Status <= 599
}

// isNetwork reports whether err says that a request did not reach the service, or its answer did not come back whole: a
// time-out, a connection, a name that does not resolve.
func isNetwork(err error) bool { return timedOut(err) || connection(err) }

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

// class names the kind of one cause.
func (f *Failure) class() string {
	class := f.Class
	switch {
	case class != "":
	case f.Code != "":
		class = f.Code
	case f.Status != 0:
		class = strconv.Itoa(f.Status)
	default:
		class = typeName(f.Err)
	}
	return ascii(class)
}

// maxClass bounds what a service can put into an attribute of telemetry.
const maxClass = 100

func ascii(s string) string {
	s = s[:min(len(s), maxClass)]
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, s)
}

// wrappers are the types of errors that only wrap others.
var wrappers = sync.OnceValue(func() []reflect.Type {
	return []reflect.Type{
		reflect.TypeOf(fmt.Errorf("%w", io.EOF)),
		reflect.TypeOf(fmt.Errorf("%w %w", io.EOF, io.EOF)),
		reflect.TypeOf(errors.Join(io.EOF)),
	}
})

// typeName is the Go type of the innermost error that is not a mere wrapper; for a panic, that of its value.
func typeName(err error) string {
	for range maxNodes {
		if p, ok := err.(*chain.PanicError); ok && p != nil {
			return fmt.Sprintf("%T", p.Value)
		}
		if u, ok := err.(*unreadableError); ok {
			return u.goType
		}
		if !slices.Contains(wrappers(), reflect.TypeOf(err)) {
			break
		}
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			inner = joined.Unwrap()[0] // the joins of the standard library are never empty
		}
		if inner == nil {
			break
		}
		err = inner
	}
	return fmt.Sprintf("%T", err)
}
