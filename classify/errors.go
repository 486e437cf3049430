package classify

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Errors reads the errors of some services and holds their tables of codes.
// [NewErrors] makes one for a service, [Errors.And] joins several. The zero
// Errors knows no service. An Errors never changes and may be shared.
//
// If no reader knows an error, Errors takes its text, recognises the time-outs
// and network errors of the standard library, and calls these methods of it:
//
//	ErrorCode() string                          Code
//	ErrorMessage() string                       Message
//	HTTPStatusCode() int, or StatusCode() int   Status
//	RetryAfter() time.Duration                  After, from a second to an hour
//	Timeout() bool                              Transient
//
// Such an error is also Transient if it is a network error or if its status is
// 408, 429 or 5xx. A status of 404 means NotFound.
//
// An error of any service is neither NotFound nor Ended if it wraps a time-out
// or a network error, or if one of them wraps it.
type Errors struct {
	services []*service
}

// service holds the arguments of one call of NewErrors.
type service struct {
	name  string
	read  func(*Failure) bool
	table *index
}

// NewErrors returns the Errors of one service. table decides about failures
// that read accepts. It runs after all links of a chain and before the general
// rules of [Compose]. It may be nil.
//
// read is the reader of the service. It reads f.Err into f: it sets Code,
// Status, Message, After, Inner, NotFound, Transient, Ended and Class, as far
// as the error has them. It returns false for an error of another service.
// f.Err may be wrapped, so read looks for its error type with errors.As.
// Several goroutines call read at once. A panic of read counts as false.
//
// NewErrors panics for an empty name, a nil read, and a table for which
// [Table.Link] panics.
func NewErrors(name string, read func(f *Failure) bool, table Table) Errors {
	if strings.TrimSpace(name) == "" || read == nil {
		panic(fmt.Sprintf("classify: NewErrors: the name %q is empty or the reader is nil: set both", name))
	}
	return Errors{services: []*service{{name: name, read: read, table: mustCompile("NewErrors: "+name, table)}}}
}

// And returns an Errors that calls the readers of e first, then those of others
// in order. The first reader that knows an error reads it.
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

// NotFound reports whether err means that the object does not exist. For a
// joined error, the same must hold for each cause. It is false for a nil error.
func (e Errors) NotFound(err error) bool { return err != nil && e.failure(err).NotFound }

// Ended reports whether err means that the polled operation ended without
// success or no longer exists. For a joined error, the same must hold for each
// cause. It is false for a nil error, and for an error that no reader knows.
func (e Errors) Ended(err error) bool { return err != nil && e.failure(err).Ended }

// Transient reports whether a retry may help. For a joined error, each cause
// has to be transient. Transient is false for a nil error.
func (e Errors) Transient(err error) bool { return err != nil && e.failure(err).Transient }

func (e Errors) failure(err error) *Failure { return NewFailure(err, "", time.Time{}, e) }

// read calls the readers in order until one knows the error. The writes of the
// other readers are undone.
func (e Errors) read(f *Failure) {
	for _, s := range e.services {
		before := *f
		if f.readBy(s.read) {
			f.service, f.After = s, serviceDelay(f.After)
			f.readSafely(clearUncertain)
			return
		}
		*f = before
	}
	f.readSafely(readGeneral)
	f.readSafely(clearUncertain)
}

// clearUncertain clears NotFound and Ended if a time-out or a network error
// wraps the error of the service, or is wrapped in it.
func clearUncertain(f *Failure) bool {
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

// readSafely calls a reader of this package. If a method of the error panics,
// it clears NotFound, Transient and Ended.
func (f *Failure) readSafely(read func(*Failure) bool) {
	if f.readBy(read) {
		return
	}
	f.NotFound, f.Transient, f.Ended = false, false, false
	if f.Message == "" {
		f.Message = "an error of type " + typeName(f.Err) + " panics when it is read"
	}
}
