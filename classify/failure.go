package classify

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Failure is an error in the terms of this package. [NewFailure] makes it; in tests it may be a literal. All links of a
// call share it, read it, and do not change it.
type Failure struct {
	Err        error         // the error with all that wraps it; never nil if NewFailure made the Failure
	Joined     error         // the error that Err is one cause of, if several were joined ([Compose]); else nil
	APIVersion string        // the API version of the request, as "2024-05-01" or "2024-05-01-preview"; empty: unknown
	Code       string        // the service's word for the error, as "Conflict"; empty: none
	Status     int           // the HTTP status; 0: unknown. A long-running operation may fail with 200
	Message    string        // the service's text, or that of the error if no service spoke; may be empty
	After      time.Duration // the delay that the service asks for, at most an hour (see [RetryAfter]); 0: none
	Inner      []InnerError  // the errors that the service nests in this one, outermost first
	NotFound   bool          // the object does not exist
	Transient  bool          // a retry may help; false: unknown
	Ended      bool          // the operation that was polled has ended without success, or no longer exists
	Class      string        // the kind of error for telemetry; empty: see [Errors.Class]

	now      time.Time // the time that Retry-After dates are measured against
	errors   Errors    // for the causes of a joined error
	service  *service  // the service whose reader knew the error; nil: none
	read     bool      // NewFailure made it
	panicked bool      // and Err has a *chain.PanicError
}

// InnerError is an error that a service reports inside another one: the cause of "DeploymentFailed", for example.
type InnerError struct {
	Code, Message string
}

// NewFailure reads err with the first reader of errs that knows it; see [Errors] for an error that none knows. NotFound,
// Transient and Ended of a joined error hold for each of its causes. apiVersion
// may be empty. now is the time that a Retry-After date is measured against if the response has no date; the zero time
// means the wall clock's now.
//
// A nil err gives a nil *Failure, which the handlers of this package classify as [Slow]. No reader is asked about a panic
// (*chain.PanicError). An error that is not safe to look into, because its tree has more than 1,000 wrapped and joined
// errors or because a method panics, is replaced by one that says so.
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
	f.read, f.panicked = true, panicked
	switch {
	case !ok:
		f.Err = newUnreadable(err)
		f.Message = f.Err.Error()
	case panicked:
		readWith(f, readText) // a service's error that is the value of a panic is no answer of the service
	default:
		f.errors.read(f)
		if len(causes) > 1 {
			f.readCauses(causes)
		}
	}
	return f
}

// readCauses sets what all causes of a joined error have to say.
func (f *Failure) readCauses(causes []error) {
	f.NotFound, f.Transient, f.Ended = true, true, true
	for _, err := range causes {
		cause := NewFailure(err, f.APIVersion, f.now, f.errors)
		f.NotFound = f.NotFound && cause.NotFound
		f.Transient = f.Transient && cause.Transient
		f.Ended = f.Ended && cause.Ended
	}
}

// RetryAfter is [RetryAfter] of h, measured against the time that NewFailure was given. It is for readers.
func (f *Failure) RetryAfter(h http.Header) time.Duration { return RetryAfter(h, f.now) }

// As classifies f: it is for links that decide themselves instead of asking next. rule says who decides and why, in a
// word or a few; people see it, and it stands in for a missing code (see [Classification.Reason]). [Unset], and a value
// that is no Retry, becomes [Slow]; an empty rule becomes "Unnamed". A nil f gives a classification without a code.
func (f *Failure) As(rule string, r Retry) Classification {
	if !r.decided() {
		r = Slow
	}
	if rule == "" {
		rule = "Unnamed"
	}
	d := &decision{retry: r, rule: rule}
	if f != nil {
		d.after, d.code, d.status, d.message = f.After, f.Code, f.Status, f.text()
	}
	return Classification{d: d}
}

// maxInner is how many nested errors a message shows.
const maxInner = 3

// text is the message, with the nested errors after it that the message does not contain.
func (f *Failure) text() string {
	nested := slices.DeleteFunc(slices.Clone(f.Inner), func(e InnerError) bool {
		return e.Message != "" && strings.Contains(f.Message, e.Message)
	})
	if len(nested) == 0 {
		return f.Message
	}
	var b strings.Builder
	b.WriteString(f.Message)
	for i, inner := range nested {
		switch {
		case i == maxInner:
			fmt.Fprintf(&b, "; and %d more", len(nested)-maxInner)
			return b.String()
		case i == 0 && f.Message != "":
			b.WriteString(": ")
		case i > 0:
			b.WriteString("; ")
		}
		b.WriteString(inner.Code)
		if inner.Code != "" && inner.Message != "" {
			b.WriteString(": ")
		}
		b.WriteString(inner.Message)
	}
	return b.String()
}

// failed is the classification of f if classifying itself went wrong.
func (f *Failure) failed(rule string, fault error) Classification {
	c := f.As(rule, Slow)
	c.d.fault = fault
	return c
}

// statusText is "HTTP 409 Conflict".
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("HTTP %d %s", status, text)
	}
	return fmt.Sprintf("HTTP %d", status)
}
