package classify

import (
	"net/http"
	"strings"
	"time"
)

// maxAfter is the longest wait that a service can ask for; more counts as this.
const maxAfter = time.Hour

// RetryAfter is how long a response asks to wait before the next try: never negative, at most an hour; 0 if it does
// not ask. In this order, the first that says something usable counts: Retry-After-Ms, X-Ms-Retry-After-Ms (both in
// milliseconds), Retry-After (in seconds, or a date).
//
// A date is measured against the response's own Date, so that the clocks need not agree; without one against now, or if
// that is the zero time against the wall clock. What is negative, past, or neither a whole number nor a date of HTTP is
// taken for absent; more than an hour, however large, for an hour. A nil header asks for nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d := wholeNumber(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	if d := wholeNumber(h.Get("X-Ms-Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
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
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	} else if now.IsZero() {
		now = time.Now()
	}
	return min(max(at.Sub(now), 0), maxAfter)
}

// wholeNumber reads digits, any number of them, as a multiple of unit cut to maxAfter. Anything else is 0.
func wholeNumber(s string, unit time.Duration) time.Duration {
	n, limit := time.Duration(0), maxAfter/unit
	for _, c := range []byte(strings.TrimSpace(s)) {
		if !digit(c) {
			return 0
		}
		// Not multiplied before it is cut, so that it cannot overflow.
		n = min(n*10+time.Duration(c-'0'), limit)
	}
	return n * unit
}
