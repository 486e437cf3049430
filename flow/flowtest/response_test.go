package flowtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestResponse: what is read from a response is what it was made of, each time.
func TestResponse(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   classify.Failure
	}{
		"Whole": {
			"all there is", flowtest.Response(409, "Conflict", `say "please"`, 90*time.Second),
			classify.Failure{Code: "Conflict", Status: 409, Message: `say "please"`, After: 90 * time.Second},
		},
		"Bare": {
			"a status alone", flowtest.Response(503, "", "", 0),
			classify.Failure{Status: 503, Message: `{"error":{}}`},
		},
		"Code": {
			"a code without a message", flowtest.Response(404, "NotFound", "", 0),
			classify.Failure{Code: "NotFound", Status: 404},
		},
		"Soon": {
			"less than a millisecond is one", flowtest.Response(429, "Busy", "m", time.Microsecond),
			classify.Failure{Code: "Busy", Status: 429, Message: "m", After: time.Millisecond},
		},
		"Past": {
			"a negative delay is none", flowtest.Response(429, "Busy", "m", -time.Second),
			classify.Failure{Code: "Busy", Status: 429, Message: "m"},
		},
		"TooLong": {
			"an hour is the most that anybody is believed", flowtest.Response(429, "Busy", "m", 2*time.Hour),
			classify.Failure{Code: "Busy", Status: 429, Message: "m", After: time.Hour},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var response *azcore.ResponseError
			if !errors.As(tc.err, &response) {
				t.Fatalf("a %T", tc.err)
			}
			for range 2 {
				got := classify.NewFailure(tc.err, "", time.Time{})
				if diff := cmp.Diff(tc.want, *got, cmpopts.IgnoreUnexported(classify.Failure{}), cmpopts.IgnoreFields(classify.Failure{}, "Err")); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
				_ = tc.err.Error()
			}
		})
	}
}
