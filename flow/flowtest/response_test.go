package flowtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// A reader finds all parts of a response, each time.
func TestResponse(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   classify.Failure
		text   string
	}{
		"Whole": {
			"a response with all parts", flowtest.Response(409, "Conflict", `say "please"`, 90*time.Second),
			classify.Failure{Code: "Conflict", Status: 409, Message: `say "please"`, After: 90 * time.Second},
			`HTTP 409 Conflict: Conflict: say "please"`,
		},
		"Bare": {
			"a response with only a status", flowtest.Response(503, "", "", 0),
			classify.Failure{Status: 503, Transient: true},
			"HTTP 503 Service Unavailable",
		},
		"Soon": {
			"a delay below a second counts as a second", flowtest.Response(429, "Busy", "m", time.Microsecond),
			classify.Failure{Code: "Busy", Status: 429, Message: "m", After: time.Second, Transient: true},
			"HTTP 429 Too Many Requests: Busy: m",
		},
		"TooLong": {
			"the longest delay is an hour", flowtest.Response(429, "Busy", "m", 2*time.Hour),
			classify.Failure{Code: "Busy", Status: 429, Message: "m", After: time.Hour, Transient: true},
			"HTTP 429 Too Many Requests: Busy: m",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got := classify.NewFailure(tc.err, "", time.Time{})
				if diff := cmp.Diff(tc.want, *got, cmpopts.IgnoreUnexported(classify.Failure{}), cmpopts.IgnoreFields(classify.Failure{}, "Err")); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
			if got := tc.err.Error(); got != tc.text {
				t.Errorf("%s: got text %q, want %q", tc.reason, got, tc.text)
			}
		})
	}
}
