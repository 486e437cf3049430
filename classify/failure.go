package classify

import (
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

// Failure is an error and what could be read from it. It is made by [NewFailure]; in tests it may be a literal.
// Links read it and leave it as it is: it is shared by all links of a call.
type Failure struct {
	Err        error         // the error as it came, wraps and all; never nil in what NewFailure made
	Joined     error         // the error that Err is one cause of, if several were joined ([Compose]); else nil
	APIVersion string        // the API version that was asked, as "2024-05-01" or "2024-05-01-preview"; empty: not known
	Code       string        // the service's word for the error, as "Conflict"; empty: none was given
	Status     int           // the HTTP status; 0: no response. Long-running operations fail with 200
	Message    string        // what the service said, or the error's text if no service spoke; may be empty
	After      time.Duration // how long the service asked to wait, at most an hour (see [RetryAfter]); 0: it did not

	now time.Time // what NewFailure was given, for the causes of a joined error
}

// NewFailure reads what can be read from err: from the first *azcore.ResponseError in it, however deep it is wrapped,
// or else from its text. apiVersion may be empty. now is what a Retry-After date is measured against where the response
// has no date of its own; the zero time is the wall clock's now.
//
// The response's code wins over that of its body. Of the body at most 1 MiB is read; it stays readable for others, from
// where they were. err is not changed. A body that azcore has not cached is put back piece by piece, so such an error is
// best not read by two goroutines at once.
//
// A nil err gives a nil *Failure, which the handlers of this package classify, too, as [Slow].
func NewFailure(err error, apiVersion string, now time.Time) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Err: err, APIVersion: apiVersion, now: now}
	f.read()
	return f
}

// read fills f from its error. Methods of foreign errors and bodies may panic, and then f stays as far as it got.
func (f *Failure) read() {
	defer func() {
		if v := recover(); v != nil && f.Message == "" {
			f.Message = fmt.Sprintf("the error, a %T, panics when it is read: %v", f.Err, v)
		}
	}()
	re := responseError(f.Err)
	if re == nil {
		f.Message = f.Err.Error()
		return
	}
	f.Code, f.Status = re.ErrorCode, re.StatusCode
	resp := re.RawResponse
	if resp == nil {
		return
	}
	if f.Status == 0 {
		f.Status = resp.StatusCode
	}
	if f.Code == "" {
		f.Code = resp.Header.Get("X-Ms-Error-Code")
	}
	f.After = RetryAfter(resp.Header, f.now)
	var code string
	code, f.Message = readBody(resp)
	if f.Code == "" {
		f.Code = code
	}
}

// responseError finds the first usable *azcore.ResponseError in err's tree, as errors.As would, but passes by nil ones,
// and does not allocate.
func responseError(err error) *azcore.ResponseError {
	for err != nil {
		if re, ok := err.(*azcore.ResponseError); ok {
			return re
		}
		if x, ok := err.(interface{ As(any) bool }); ok {
			if re := new(*azcore.ResponseError); x.As(re) {
				return *re
			}
		}
		switch x := err.(type) {
		case interface{ Unwrap() error }:
			err = x.Unwrap()
		case interface{ Unwrap() []error }:
			for _, err := range x.Unwrap() {
				if re := responseError(err); re != nil {
					return re
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

// As classifies f: it is for links that decide themselves instead of asking next. rule says who decides and why, in a
// word or a few; it is shown to people and stands in for a missing code (see [Classification.Reason]). [Unset], and
// what is no Retry, becomes [Slow]; an empty rule becomes "Unnamed". A nil f gives a classification without a code.
func (f *Failure) As(rule string, r Retry) Classification {
	if !r.decided() {
		r = Slow
	}
	if rule == "" {
		rule = "Unnamed"
	}
	d := &decision{retry: r, rule: rule}
	if f != nil {
		d.after, d.code, d.status, d.message = f.After, f.Code, f.Status, f.Message
	}
	return Classification{d: d}
}

// failed is the classification of f where classifying itself went wrong.
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
