package classify

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/errtree"
)

// NewFailure reads err with the first reader of errs that knows it. If none
// does, it reads err as [Errors] describes. NotFound, Transient and Ended of a
// joined error are true only if they are true for each cause. apiVersion may be
// empty. A Retry-After date is measured from now if the response has no date of
// its own; the zero time means the wall clock.
//
// A nil err gives a nil *Failure, which the handlers of this package classify
// as [Slow]. NewFailure calls no reader for a panic (*chain.PanicError). It
// replaces an unreadable error by one that reports this. An error is unreadable
// if it has more than 1,000 wrapped and joined errors, or if one of its methods
// panics.
func NewFailure(err error, apiVersion string, now time.Time, errs ...Errors) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Err: err, APIVersion: apiVersion, now: now}
	if len(errs) == 1 {
		f.errors = errs[0]
	} else {
		f.errors = f.errors.And(errs...)
	}
	causes, panicked, ok := causesOf(err)
	switch {
	case !ok:
		f.Err = newUnreadable(err)
		f.Message = f.Err.Error()
	case panicked:
		f.readSafely(readText) // the value of a panic is not a response of the service
	default:
		f.errors.read(f)
		if len(causes) > 1 {
			f.readCauses(causes)
		}
	}
	return f
}

// readCauses sets the fields of a joined error that all causes must share.
func (f *Failure) readCauses(causes []error) {
	f.NotFound, f.Transient, f.Ended = true, true, true
	for _, err := range causes {
		cause := NewFailure(err, f.APIVersion, f.now, f.errors)
		f.NotFound = f.NotFound && cause.NotFound
		f.Transient = f.Transient && cause.Transient
		f.Ended = f.Ended && cause.Ended
	}
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

// maxClass bounds the text of a service in an attribute of telemetry.
const maxClass = 100

// Class returns the kind of an error for telemetry, which needs few different
// values. It returns the first of these that is set: [Failure.Class], the code,
// the HTTP status, the Go type. For a joined error, Class uses the first cause.
// The result has at most 100 bytes of printable ASCII. It is empty for a nil
// error.
func (e Errors) Class(err error) string {
	if err == nil {
		return ""
	}
	if causes, _, _ := causesOf(err); len(causes) > 0 {
		err = causes[0]
	}
	f := e.failure(err)
	class := cmp.Or(f.Class, f.Code)
	if class == "" && f.Status != 0 {
		class = strconv.Itoa(f.Status)
	} else if class == "" {
		class = typeName(f.Err)
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, class[:min(len(class), maxClass)])
}

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

// RetryAfter returns the delay that the header of a response requests, for
// readers. It is cut to between a second and an hour; 0 means none.
// milliseconds names further headers of the service, in milliseconds. They take
// precedence over Retry-After. The first one that is a positive whole number
// counts.
//
// Retry-After is a number of seconds or a date. A date is measured from the
// Date of the response, so that the clocks need not agree. Without one it is
// measured from the time that [NewFailure] got, or from the wall clock if that
// is zero. A negative number, a date in the past, and a value that is neither a
// whole number nor an HTTP date count as absent. h may be nil.
func (f *Failure) RetryAfter(h http.Header, milliseconds ...string) time.Duration {
	for _, name := range milliseconds {
		if d := wholeNumber(h.Get(name), time.Millisecond); d > 0 {
			return serviceDelay(d)
		}
	}
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	if d := wholeNumber(value, time.Second); d > 0 {
		return d
	}
	at, err := http.ParseTime(strings.TrimSpace(value))
	if err != nil {
		return 0
	}
	now := f.now
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	} else if now.IsZero() {
		now = time.Now()
	}
	return serviceDelay(at.Sub(now))
}

// wholeNumber reads a whole number of units, cut to an hour. It returns 0 for
// any other text.
func wholeNumber(s string, unit time.Duration) time.Duration {
	n, limit := time.Duration(0), maxAfter/unit
	for _, c := range []byte(strings.TrimSpace(s)) {
		if c < '0' || c > '9' {
			return 0
		}
		// n is cut before it is multiplied, so it cannot overflow.
		n = min(n*10+time.Duration(c-'0'), limit)
	}
	return n * unit
}
