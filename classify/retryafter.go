package classify

import (
	"net/http"
	"strings"
	"time"
)

// maxAfter is the longest delay that a service can ask for.
const maxAfter = time.Hour

// RetryAfter returns the delay that the header Retry-After asks for, in seconds or as a date: never negative, at most an
// hour, and 0 without one.
//
// A date is measured against the response's own Date, so that the clocks need not agree; without one against now, or
// against the wall clock if now is zero. A negative number, a date in the past, and a value that is neither a whole number
// nor an HTTP date count as absent; more than an hour counts as an hour. A nil header has no delay.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if value == "" {
		return 0
	}
	if d := WholeNumber(value, time.Second); d > 0 {
		return d
	}
	at, err := http.ParseTime(strings.TrimSpace(value))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	} else if now.IsZero() {
		now = time.Now()
	}
	return min(max(at.Sub(now), 0), maxAfter)
}

// WholeNumber reads a header that is a whole number of units, any number of digits, and returns at most an hour. Any other
// value is 0. It is for readers of services with headers of their own.
func WholeNumber(s string, unit time.Duration) time.Duration {
	n, limit := time.Duration(0), maxAfter/unit
	for _, c := range []byte(strings.TrimSpace(s)) {
		if !digit(c) {
			return 0
		}
		// Cut before it is multiplied, so that it cannot overflow.
		n = min(n*10+time.Duration(c-'0'), limit)
	}
	return n * unit
}
