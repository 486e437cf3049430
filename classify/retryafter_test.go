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

func TestRetryAfter(t *testing.T) {
	date := func(d time.Duration) string { return noon.Add(d).Format(http.TimeFormat) }
	cases := map[string]struct {
		reason string
		header []string
		want   time.Duration
	}{
		"none":             {"a response that does not ask waits for nothing", nil, 0},
		"seconds":          {"whole seconds", []string{"Retry-After", "120"}, 2 * time.Minute},
		"spaces":           {"space around a value is no part of it", []string{"Retry-After", " 5 "}, 5 * time.Second},
		"date":             {"a date counts from now", []string{"Retry-After", date(90 * time.Second)}, 90 * time.Second},
		"own date":         {"a date counts from the response's own date", []string{"Retry-After", date(90 * time.Second), "Date", date(80 * time.Second)}, 10 * time.Second},
		"rubbish own date": {"a date that is none is not there", []string{"Retry-After", date(90 * time.Second), "Date", "yesterday"}, 90 * time.Second},
		"RFC 850":          {"the older forms of dates are dates", []string{"Retry-After", noon.Add(time.Minute).Format("Monday, 02-Jan-06 15:04:05 GMT")}, time.Minute},
		"asctime":          {"the older forms of dates are dates", []string{"Retry-After", noon.Add(time.Minute).Format(time.ANSIC)}, time.Minute},
		"hour":             {"an hour is an hour", []string{"Retry-After", "3600"}, time.Hour},
		"over an hour":     {"more than an hour counts as one", []string{"Retry-After", "3601"}, time.Hour},
		"a year":           {"a date far away counts as an hour", []string{"Retry-After", date(365 * 24 * time.Hour)}, time.Hour},
		"overflow":         {"no number is too large to be cut", []string{"Retry-After", "99999999999999999999999999999999"}, time.Hour},
		"overflow ns":      {"a number that fits an int, but not in nanoseconds", []string{"Retry-After", "9223372036854775807"}, time.Hour},
		"zero":             {"zero asks for nothing", []string{"Retry-After", "0"}, 0},
		"negative":         {"negative is none", []string{"Retry-After", "-5"}, 0},
		"past":             {"a date in the past is none", []string{"Retry-After", date(-time.Minute)}, 0},
		"past own date":    {"a date in the past of the response is none", []string{"Retry-After", date(time.Minute), "Date", date(time.Hour)}, 0},
		"fraction":         {"only whole numbers are numbers", []string{"Retry-After", "1.5"}, 0},
		"colon":            {"the character after the digits is none", []string{"Retry-After", "1:"}, 0},
		"exponent":         {"only whole numbers are numbers", []string{"Retry-After", "1e9"}, 0},
		"NaN":              {"no number", []string{"Retry-After", "NaN"}, 0},
		"rubbish":          {"no number", []string{"Retry-After", "soon"}, 0},
		"other digits":     {"only the digits of ASCII are digits", []string{"Retry-After", "５"}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for i := 0; i < len(c.header); i += 2 {
				h.Set(c.header[i], c.header[i+1])
			}
			if got := (&Failure{now: noon}).RetryAfter(h); got != c.want {
				t.Errorf("%s: got %s, want %s for %v", c.reason, got, c.want, h)
			}
		})
	}
}

func TestRetryAfterWithoutClock(t *testing.T) {
	h := http.Header{"Retry-After": {time.Now().Add(1000 * time.Hour).UTC().Format(http.TimeFormat)}}
	if got := new(Failure).RetryAfter(h); got != time.Hour {
		t.Errorf("the zero time is the wall clock's now: got %s, want an hour", got)
	}
	h.Set("Retry-After", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
	if got := new(Failure).RetryAfter(h); got != 0 {
		t.Errorf("the zero time is the wall clock's now: got %s, want 0 for the past", got)
	}
	h.Set("Retry-After", noon.Format(http.TimeFormat))
	if got := (&Failure{now: noon.Add(-time.Millisecond)}).RetryAfter(h); got != time.Second {
		t.Errorf("a date that is less than a second away counts as a second: got %s", got)
	}
	if got := (&Failure{now: noon}).RetryAfter(nil); got != 0 {
		t.Errorf("a nil header asks for nothing: got %s", got)
	}
}

// A service may have headers in milliseconds.
func TestRetryAfterInMilliseconds(t *testing.T) {
	cases := map[string]struct {
		reason string
		header http.Header
		want   time.Duration
	}{
		"tiny":    {"a millisecond counts as a second", http.Header{"X-Ms": {"1"}, "Retry-After": {"7"}}, time.Second},
		"short":   {"and so does any delay below a second", http.Header{"X-Ms": {"999"}}, time.Second},
		"second":  {"a second is not too short", http.Header{"X-Ms": {"1000"}}, time.Second},
		"one":     {"a header of the service comes first", http.Header{"X-Ms": {" 1500 "}, "Retry-After": {"7"}}, 1500 * time.Millisecond},
		"order":   {"headers are read in order", http.Header{"X-Ms": {"1100"}, "Y-Ms": {"1200"}}, 1100 * time.Millisecond},
		"next":    {"a header that is no positive number does not count", http.Header{"X-Ms": {"0"}, "Y-Ms": {"1200"}}, 1200 * time.Millisecond},
		"rubbish": {"nor does a date", http.Header{"X-Ms": {noon.Add(time.Hour).Format(http.TimeFormat)}, "Retry-After": {"7"}}, 7 * time.Second},
		"long":    {"an hour is the most", http.Header{"Y-Ms": {"99999999999999999999"}}, time.Hour},
	}
	for name, c := range cases {
		if got := new(Failure).RetryAfter(c.header, "X-Ms", "Y-Ms"); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", name, c.reason, got, c.want)
		}
	}
}

// The corpus is in testdata/fuzz. The test reads the headers by other means.
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

// digits reads a whole number of units, however large, as at most an hour; 0 if
// it is none.
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

// until is the time from a response's own date, or noon, to a date.
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
