package classify

import (
	"net/http"
	"strings"
	"time"
)

// maxAfter is the longest delay that a service can ask for.
const maxAfter = time.Hour

// RetryAfter returns the delay that the header of a response asks for: never
// negative, at most an hour, and 0 without one. Readers call it. milliseconds
// are the names of further headers of the service. The first of them that is a
// positive whole number, in milliseconds, comes before Retry-After.
//
// Retry-After is in seconds or a date. A date is measured against the
// response's own Date, so that the clocks need not agree. Without one it is
// measured against the time that [NewFailure] was given, or against the wall
// clock if that is zero. A negative number, a date in the past, and a value
// that is neither a whole number nor an HTTP date count as absent; more than an
// hour counts as an hour. A nil header has no delay.
func (f *Failure) RetryAfter(h http.Header, milliseconds ...string) time.Duration {
	for _, name := range milliseconds {
		if d := wholeNumber(h.Get(name), time.Millisecond); d > 0 {
			return d
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
	return min(max(at.Sub(now), 0), maxAfter)
}

// wholeNumber reads a whole number of units, of any number of digits, as at
// most an hour. Any other value is 0.
func wholeNumber(s string, unit time.Duration) time.Duration {
	n, limit := time.Duration(0), maxAfter/unit
	for _, c := range []byte(strings.TrimSpace(s)) {
		if c < '0' || c > '9' {
			return 0
		}
		// Cut before it is multiplied, so that it cannot overflow.
		n = min(n*10+time.Duration(c-'0'), limit)
	}
	return n * unit
}
