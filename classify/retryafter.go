package classify

import (
	"net/http"
	"strings"
	"time"
)

// A delay of a service is cut to between minAfter and maxAfter. A shorter delay
// could cause a busy loop.
const minAfter, maxAfter = time.Second, time.Hour

// serviceDelay cuts a delay to the permitted range. It returns 0, which is no
// delay, if d is not positive.
func serviceDelay(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return min(max(d, minAfter), maxAfter)
}

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
