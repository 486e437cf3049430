package classify

import (
	"net/http"
	"strings"
	"time"
)

// A service can ask for a delay from minAfter to maxAfter. A shorter delay would
// let a service cause a busy loop.
const minAfter, maxAfter = time.Second, time.Hour

// serviceDelay returns the delay that a service asks for as a delay that it can
// ask for. It returns 0, which is no delay, if d is not positive.
func serviceDelay(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return min(max(d, minAfter), maxAfter)
}

// RetryAfter returns the delay that the header of a response asks for: from a
// second to an hour, and 0 without one. A shorter delay counts as a second, a
// longer one as an hour. Readers call it. milliseconds are the names of further
// headers of the service. The first of them that is a positive whole number, in
// milliseconds, comes before Retry-After.
//
// Retry-After is in seconds or a date. A date is measured against the
// response's own Date, so that the clocks need not agree. Without one it is
// measured against the time that [NewFailure] was given, or against the wall
// clock if that is zero. A negative number, a date in the past, and a value
// that is neither a whole number nor an HTTP date count as absent. A nil header
// has no delay.
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
