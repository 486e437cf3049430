package classify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/text"
)

// Failure is an error in the terms of this package. [NewFailure] makes it;
// tests may use a literal. All links of a call share it and must not change it.
type Failure struct {
	Err        error         // the error, with all errors that wrap it; never nil if NewFailure made the Failure
	Joined     error         // the joined error, if Err is one of its causes ([Compose]); else nil
	APIVersion string        // the API version of the request, as "2024-05-01" or "2024-05-01-preview"; empty: unknown
	Point      string        // the extension point of package flow where the pass failed, as "Apply"; empty: unknown
	Link       string        // the name of the link that returned the error; empty: no link did, or it is unknown
	Resource   any           // the resource of the pass, as the engine gave it; nil: unknown
	Code       string        // the error code of the service, as "Conflict"; empty: none
	Status     int           // the HTTP status; 0: unknown. A long-running operation may fail with 200
	Message    string        // the text of the service, else of the error; may be empty
	After      time.Duration // the delay that the service requests, from a second to an hour ([Failure.RetryAfter]); 0: none
	Inner      []InnerError  // the errors that the service nests in this one, outermost first
	NotFound   bool          // the object does not exist
	Transient  bool          // a retry may help; false: unknown
	Ended      bool          // the polled operation ended without success, or no longer exists
	Class      string        // the kind of error for telemetry; empty: see [Errors.Class]

	now     time.Time   // the time from which Retry-After dates are measured
	errors  Errors      // for the causes of a joined error
	service *service    // the service whose reader knew the error; nil: none
	note    *onion.Note // of an observed call; nil: not observed
}

// InnerError is an error that a service reports inside another one: the cause
// of "DeploymentFailed", for example.
type InnerError struct {
	Code, Message string
}

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
	name   string
	read   func(*Failure) bool
	decide func(context.Context, *Failure) (Classification, bool) // by the table
}

// As returns a decision about f. Links that decide call it instead of next.
// rule names the link and its reason in a few words. Operators see it, and it
// replaces a missing code ([Classification.Reason]); an empty rule becomes
// "Unnamed". [Unset] and an invalid Retry become [Slow]. A nil f gives a
// Classification without a code.
func (f *Failure) As(rule string, r Retry) Classification {
	if !r.decided() {
		r = Slow
	}
	if rule == "" {
		rule = "Unnamed"
	}
	d := &decision{retry: r, rule: rule}
	if f != nil {
		d.after, d.code, d.status, d.message = serviceDelay(f.After), text.Cut(f.Code, maxCode), f.Status, f.text()
	}
	return Classification{d: d}
}

// maxCode bounds the code of a service in conditions, logs and telemetry. It is
// the length of the longest reason of a condition.
const maxCode = reason.Max

// maxInner is the number of nested errors that a message shows.
const maxInner = 3

// text returns the message, and after it the nested errors that the message
// does not contain.
func (f *Failure) text() string {
	var nested []string
	for _, e := range f.Inner {
		if e.Message == "" || !strings.Contains(f.Message, e.Message) {
			nested = append(nested, text.Join(e.Code, e.Message))
		}
	}
	if more := len(nested) - maxInner; more > 0 {
		nested = append(nested[:maxInner], fmt.Sprintf("and %d more", more))
	}
	return text.Join(f.Message, strings.Join(nested, "; "))
}

// failed returns the Classification of f after a fault of a link or a rule.
func (f *Failure) failed(rule string, fault error) Classification {
	c := f.As(rule, Slow)
	c.d.fault = fault
	return c
}

// The types of package chain for this package. They are aliases, so plain
// functions and the links of package chain fit without a conversion.
type (
	Handler    = chain.Handler[*Failure, Classification]
	Middleware = chain.Middleware[*Failure, Classification]
	Chain      = chain.Chain[*Failure, Classification]
)
