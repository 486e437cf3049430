package azure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/reason"
)

// The corpus is in testdata/fuzz. Each byte of wraps wraps the error once more
// (see wrapped), from the inside out.
func FuzzErrorBody(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte, code string, status int, wraps string) {
		bare := respErr(code, status, string(body))
		want := classifyOf(t, bare).Retry()
		response := respErr(code, status, string(body))
		err := error(response)
		for _, w := range []byte(wraps[:min(len(wraps), 32)]) {
			want, err = wrapped(w, want, err)
		}
		c := classifyOf(t, err)
		if c.Retry() != want {
			t.Errorf("wrapped by %q the Retry is %s, want %s", wraps, c.Retry(), want)
		}
		if c.Retry() == classify.OnChange && !listed(c.Code(), classify.OnChange) {
			t.Errorf("code %q is OnChange but not in the table", c.Code())
		}
		if c.Canceled() || c.Fault() != nil {
			t.Errorf("canceled is %t, and the fault is %v", c.Canceled(), c.Fault())
		}
		if !reason.Valid(c.Reason()) {
			t.Errorf("%q is not a valid reason of a condition", c.Reason())
		}
		if c.Message() == "" {
			t.Error("the message is empty")
		}
		for _, r := range []*http.Response{bare.RawResponse, response.RawResponse} {
			if left, err := io.ReadAll(r.Body); !bytes.Equal(left, body) || err != nil {
				t.Errorf("the body changed from %q to %q, error %v", body, left, err)
			}
		}
	})
}

// wrapped wraps an error in one of the usual ways, and returns the Retry of the
// whole.
func wrapped(how byte, r classify.Retry, err error) (classify.Retry, error) {
	switch how {
	case 'w':
		return r, fmt.Errorf("wrapped: %w", err)
	case 'j': // with an unknown error
		return max(r, classify.Slow), errors.Join(errors.New("boom"), err)
	case 'm':
		return max(r, classify.Slow), fmt.Errorf("%w after %w", err, io.ErrUnexpectedEOF)
	case 'n':
		return r, errors.Join(nil, err, nil)
	case 'd': // wraps the error and the deadline; the deadline is not a cause
		return r, &chain.DeadlineError{Link: "slow", After: time.Second, Err: err}
	case 'p': // a panic hides its value
		return classify.Slow, &chain.PanicError{Value: err}
	}
	return r, err
}

// listed reports whether Codes has the code with this Retry.
func listed(code string, r classify.Retry) bool {
	return slices.ContainsFunc(Codes(), func(rule classify.Rule) bool { return rule.Code == code && rule.Retry == r })
}

// The corpus is in testdata/fuzz. The test computes the delay in another way.
func FuzzRetryAfter(f *testing.F) {
	f.Fuzz(func(t *testing.T, seconds, ms, azureMs, date string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {ms}, "X-Ms-Retry-After-Ms": {azureMs}, "Date": {date}}
		response := respErr("Conflict", 409, "")
		response.RawResponse.Header = h
		got := newFailure(response).After
		if got != 0 && got < time.Second || got > time.Hour {
			t.Errorf("%q: got %s, which is neither 0 nor from a second to an hour", h, got)
		}
		want := classify.NewFailure(errors.New("x"), "", noon).RetryAfter(http.Header{"Retry-After": {seconds}, "Date": {date}})
		for _, s := range []string{azureMs, ms} { // the later header wins
			if s = strings.TrimSpace(s); !onlyDigits.MatchString(s) || strings.Trim(s, "0") == "" {
				continue
			}
			want = time.Hour
			if n, _ := new(big.Int).SetString(s, 10); n.Cmp(big.NewInt(time.Hour.Milliseconds())) < 0 {
				want = max(time.Duration(n.Int64())*time.Millisecond, time.Second)
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", h, got, want)
		}
	})
}

var onlyDigits = regexp.MustCompile(`^[0-9]+$`)
