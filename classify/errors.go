package classify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Errors knows the errors of some services: their readers and their tables of
// codes. [NewErrors] makes one for a service, [Errors.And] joins several. The
// zero Errors knows no service. An error that no reader knows is read by its
// text, as an error of package net or context, and by its methods:
//
//	ErrorCode() string                          Code
//	ErrorMessage() string                       Message
//	HTTPStatusCode() int, or StatusCode() int   Status
//	RetryAfter() time.Duration                  After, from a second to an hour
//	Timeout() bool                              Transient, as are network errors and the statuses 408, 429 and 5xx
//
// A status of 404 means NotFound. An error that wraps a time-out or a network
// error, or that one of them wraps, is neither NotFound nor Ended. An Errors
// never changes and may be shared.
type Errors struct {
	services []*service
}

// service holds the arguments of one call of NewErrors.
type service struct {
	name  string
	read  func(*Failure) bool
	table *index
}

// NewErrors returns the Errors of one service. table decides about the failures
// that read has read, after all links of a chain and before the general rules
// of [Compose]. It may be nil.
//
// read reads f.Err into f: Code, Status, Message, After, Inner, NotFound,
// Transient, Ended and Class, as far as the error has them. It returns false if
// it does not know this kind of error. f.Err may be wrapped, so read looks for
// its error type with errors.As. Several goroutines call read at once. A read
// that panics does not know the error.
//
// NewErrors panics for an empty name, a nil read and a table that [Table.Link]
// refuses.
func NewErrors(name string, read func(f *Failure) bool, table Table) Errors {
	if strings.TrimSpace(name) == "" || read == nil {
		panic(fmt.Sprintf("classify: NewErrors: the name %q is empty or the reader is nil: set both", name))
	}
	return Errors{services: []*service{{name: name, read: read, table: mustCompile("NewErrors: "+name, table)}}}
}

// And returns an Errors that asks the readers of e first, and then those of
// others in order. The first reader that knows an error reads it.
func (e Errors) And(others ...Errors) Errors {
	all := slices.Clip(e.services)
	for _, o := range others {
		all = append(all, o.services...)
	}
	return Errors{services: all}
}

// String lists the names of the services, as in "azure, grpc"; "no service" for
// the zero Errors.
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

// NotFound reports whether err means that the object does not exist. Each cause
// of a joined error has to mean it. NotFound is false for a nil error.
func (e Errors) NotFound(err error) bool { return err != nil && e.failure(err).NotFound }

// Ended reports whether err means that the polled operation ended without
// success or no longer exists. Each cause of a joined error has to mean it.
// Ended is false for a nil error, and for every error that no reader knows.
func (e Errors) Ended(err error) bool { return err != nil && e.failure(err).Ended }

// Transient reports whether a retry may help. Each cause of a joined error has
// to be transient. Transient is false for a nil error.
func (e Errors) Transient(err error) bool { return err != nil && e.failure(err).Transient }

func (e Errors) failure(err error) *Failure { return NewFailure(err, "", time.Time{}, e) }

// read calls the readers in order until one knows the error. A reader that does
// not know it leaves f as it was.
func (e Errors) read(f *Failure) {
	for _, s := range e.services {
		before := *f
		if f.readBy(s.read) {
			f.service, f.After = s, serviceDelay(f.After)
			f.readSafely(clearDoubt)
			return
		}
		*f = before
	}
	f.readSafely(readGeneral)
	f.readSafely(clearDoubt)
}

// clearDoubt clears NotFound and Ended if a time-out or a network error is
// around the answer of the service, or inside of it.
func clearDoubt(f *Failure) bool {
	if (f.NotFound || f.Ended) && (timedOut(f.Err) || connection(f.Err)) {
		f.NotFound, f.Ended = false, false
	}
	return true
}

// readBy calls read. It returns false if read panics.
func (f *Failure) readBy(read func(*Failure) bool) (ok bool) {
	defer func() { _ = recover() }()
	return read(f)
}

// readSafely calls a reader of this package. It keeps no answers of an error
// that panics.
func (f *Failure) readSafely(read func(*Failure) bool) {
	if f.readBy(read) {
		return
	}
	f.NotFound, f.Transient, f.Ended = false, false, false
	if f.Message == "" {
		f.Message = "an error of type " + typeName(f.Err) + " panics when it is read"
	}
}
