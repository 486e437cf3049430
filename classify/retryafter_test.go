package classify

import (
	"cmp"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestRetryAfterWithoutClock(t *testing.T) {
	h := http.Header{"Retry-After": {time.Now().Add(1000 * time.Hour).UTC().Format(http.TimeFormat)}}
	if got := new(Failure).RetryAfter(h); got != time.Hour {
		t.Errorf("the zero time must mean the wall clock: got %s, want an hour", got)
	}
	h.Set("Retry-After", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
	if got := new(Failure).RetryAfter(h); got != 0 {
		t.Errorf("the zero time must mean the wall clock: got %s, want 0 for the past", got)
	}
	h.Set("Retry-After", noon.Format(http.TimeFormat))
	if got := (&Failure{now: noon.Add(-time.Millisecond)}).RetryAfter(h); got != time.Second {
		t.Errorf("a date that is less than a second away counts as a second: got %s", got)
	}
	if got := (&Failure{now: noon}).RetryAfter(nil); got != 0 {
		t.Errorf("a nil header requests no delay: got %s", got)
	}
}

// The corpus is in testdata/fuzz. The test computes the delay in another way.
func FuzzRetryAfter(f *testing.F) {
	f.Fuzz(func(t *testing.T, value, date string) {
		h := http.Header{"Retry-After": {value}, "Date": {date}}
		got := (&Failure{now: noon}).RetryAfter(h)
		if got != 0 && got < time.Second || got > time.Hour {
			t.Errorf("%q gave %s, which is neither 0 nor from a second to an hour", h, got)
		}
		if want := cmp.Or(digits(value, time.Second), until(value, date)); got != want {
			t.Errorf("%q gave %s, want %s", h, got, want)
		}
	})
}

var onlyDigits = regexp.MustCompile(`^[0-9]+$`)

// digits reads a whole number of units, cut to an hour. It returns 0 for any
// other text.
func digits(s string, unit time.Duration) time.Duration {
	if s = strings.TrimSpace(s); !onlyDigits.MatchString(s) {
		return 0
	}
	n, _ := new(big.Int).SetString(s, 10)
	n.Mul(n, big.NewInt(int64(unit)))
	if hour := big.NewInt(int64(time.Hour)); n.Cmp(hour) > 0 {
		n = hour
	}
	return time.Duration(n.Int64())
}

// until returns the time to a date, from the date of the response or from noon.
func until(s, own string) time.Duration {
	at, err := http.ParseTime(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	now := noon
	if date, err := http.ParseTime(own); err == nil {
		now = date
	}
	switch {
	case !at.After(now):
		return 0
	case at.After(now.Add(time.Hour)):
		return time.Hour
	}
	return at.Sub(now)
}
