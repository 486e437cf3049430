// Package reader tests the readers and the tables of errors of the clouds.
package reader

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/classify"
)

// Noon is the time from which the tests measure dates.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Case is an error, with the failure that errs must read it into.
type Case = struct {
	Reason string
	Err    error
	Want   classify.Failure
}

// Test compares the failures that errs makes of errors, apart from Err.
func Test(t *testing.T, errs classify.Errors, cases map[string]Case) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := classify.NewFailure(c.Err, "", Noon, errs)
			if diff := cmp.Diff(&c.Want, got, cmpopts.IgnoreFields(classify.Failure{}, "Err"), cmpopts.IgnoreUnexported(classify.Failure{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.Reason, diff)
			}
		})
	}
}

// Header makes a header of keys and values.
func Header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// Classify classifies err without links.
func Classify(t testing.TB, errs classify.Errors, err error) classify.Classification {
	t.Helper()
	c, failed := classify.Compose(classify.Chain{})(context.Background(), classify.NewFailure(err, "", Noon, errs))
	if failed != nil || c.IsZero() {
		t.Fatalf("a composed handler returned %v, error %v", c, failed)
	}
	return c
}

// Table tests the function that returns the table of a service: it has rows, each
// of them once and without AnyCase, and returns a copy.
func Table(t *testing.T, codes func() classify.Table) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range codes() {
		if name := r.Code + "/" + r.InnerCode; seen[name] || r.AnyCase {
			t.Errorf("%s is listed twice, or in any case: the service writes its codes in one way", name)
		} else {
			seen[name] = true
		}
	}
	if len(seen) < 20 {
		t.Errorf("there are only %d codes", len(seen))
	}
	codes()[0].Retry = classify.Unset
	if codes()[0].Retry == classify.Unset {
		t.Error("a change of the copy changed the table")
	}
}
