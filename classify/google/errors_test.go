package google

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

// apiErr returns the error of a client for a response.
func apiErr(t testing.TB, status int, body string, header ...string) error {
	t.Helper()
	err := googleapi.CheckResponse(&http.Response{StatusCode: status, Header: reader.Header(header...), Body: io.NopCloser(strings.NewReader(body))})
	if err == nil {
		t.Fatalf("status %d is not an error", status)
	}
	return err
}

// reason returns the body of an error of an older service.
func reason(code int, text, message string) string {
	m, _ := json.Marshal(message)
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"errors":[{"message":%s,"domain":"global","reason":%q}]}}`, code, m, m, text)
}

// status returns the body of an error of a newer service.
func status(code int, text, details string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":"the message","status":%q,"details":[%s]}}`, code, text, details)
}

const (
	disabled = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com","metadata":{"service":"x"}}`
	retry    = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}`
)

func TestRead(t *testing.T) {
	reader.Test(t, Errors(), map[string]reader.Case{
		"reason":        {"the reason of an older service is the code", apiErr(t, 400, reason(400, "resourceNotReady", "not ready"), "Retry-After", "7"), classify.Failure{Code: "resourceNotReady", Status: 400, Message: "not ready", After: 7 * time.Second}},
		"two reasons":   {"further reasons are nested errors", apiErr(t, 400, `{"error":{"code":400,"message":"m","errors":[{"reason":"a","message":"x"},{"reason":"b","message":"y"}]}}`), classify.Failure{Code: "a", Status: 400, Message: "m", Inner: []classify.InnerError{{Code: "b", Message: "y"}}}},
		"status":        {"the status of a newer service is the code", apiErr(t, 409, status(409, "ABORTED", "")), classify.Failure{Code: "ABORTED", Status: 409, Message: "the message", Transient: true}},
		"list":          {"some services wrap the error in a list", apiErr(t, 409, "["+status(409, "ALREADY_EXISTS", "")+"]"), classify.Failure{Code: "ALREADY_EXISTS", Status: 409, Message: "the message"}},
		"ErrorInfo":     {"the reason of an ErrorInfo is a nested error", apiErr(t, 403, status(403, "PERMISSION_DENIED", disabled)), classify.Failure{Code: "PERMISSION_DENIED", Status: 403, Message: "the message", Inner: []classify.InnerError{{Code: "SERVICE_DISABLED"}}}},
		"RetryInfo":     {"the delay of a RetryInfo applies", apiErr(t, 429, status(429, "RESOURCE_EXHAUSTED", disabled+","+retry)), classify.Failure{Code: "RESOURCE_EXHAUSTED", Status: 429, Message: "the message", After: 17 * time.Second, Transient: true, Inner: []classify.InnerError{{Code: "SERVICE_DISABLED"}}}},
		"both delays":   {"the header wins over the RetryInfo", apiErr(t, 429, status(429, "RESOURCE_EXHAUSTED", retry), "Retry-After", "7"), classify.Failure{Code: "RESOURCE_EXHAUSTED", Status: 429, Message: "the message", After: 7 * time.Second, Transient: true}},
		"long delay":    {"the delay is cut to an hour", apiErr(t, 503, status(503, "UNAVAILABLE", strings.Replace(retry, "17s", "86400s", 1))), classify.Failure{Code: "UNAVAILABLE", Status: 503, Message: "the message", After: time.Hour, Transient: true}},
		"no delay":      {"an invalid delay is ignored", apiErr(t, 503, status(503, "UNAVAILABLE", strings.Replace(retry, "17s", "soon", 1))), classify.Failure{Code: "UNAVAILABLE", Status: 503, Message: "the message", Transient: true}},
		"odd details":   {"details of other forms are ignored", apiErr(t, 400, status(400, "INVALID_ARGUMENT", `"x",1,null,{"@type":7},{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":1}`)), classify.Failure{Code: "INVALID_ARGUMENT", Status: 400, Message: "the message"}},
		"rate, 403":     {"Compute Engine reports a rate limit with 403", apiErr(t, 403, reason(403, "rateLimitExceeded", "m")), classify.Failure{Code: "rateLimitExceeded", Status: 403, Message: "m", Transient: true}},
		"not found":     {"a 404 with a reason is a missing object", apiErr(t, 404, reason(404, "notFound", "no disk")), classify.Failure{Code: "notFound", Status: 404, Message: "no disk", NotFound: true}},
		"NOT_FOUND":     {"a 404 with a status is a missing object", apiErr(t, 404, status(404, "NOT_FOUND", "")), classify.Failure{Code: "NOT_FOUND", Status: 404, Message: "the message", NotFound: true}},
		"page of 404":   {"the 404 of a proxy is not a missing object", apiErr(t, 404, "<html>no route</html>"), classify.Failure{Status: 404, Message: "googleapi: got HTTP response code 404 with body: <html>no route</html>"}},
		"not found 400": {"the code with another status concerns an object that the request names", apiErr(t, 400, reason(400, "notFound", "no network")), classify.Failure{Code: "notFound", Status: 400, Message: "no network"}},
		"server error":  {"5xx is transient", apiErr(t, 502, "bad gateway"), classify.Failure{Status: 502, Message: "googleapi: got HTTP response code 502 with body: bad gateway", Transient: true}},
		"wrapped":       {"the error may be wrapped", fmt.Errorf("a: %w", apiErr(t, 409, reason(409, "conflict", "m"))), classify.Failure{Code: "conflict", Status: 409, Message: "m"}},
		"zero":          {"the message of a zero error is its text", new(googleapi.Error), classify.Failure{Message: "googleapi: got HTTP response code 0 with body: "}},
		"typed nil":     {"a nil error sets no field", (*googleapi.Error)(nil), classify.Failure{Message: "an error of type *googleapi.Error cannot be read: it panics, or it wraps more than 1000 errors"}},
		"wrapped nil":   {"a nil error sets no field", fmt.Errorf("a: %w", error((*googleapi.Error)(nil))), classify.Failure{Message: "an error of type *fmt.wrapError cannot be read: it panics, or it wraps more than 1000 errors"}},
		"other":         {"the message of another error is its text", errors.New("notFound"), classify.Failure{Message: "notFound"}},
	})
}

func TestBounds(t *testing.T) {
	const start, end = `{"error":{"status":"INVALID_ARGUMENT","x":"`, `"}}`
	whole := start + strings.Repeat("x", maxBody-len(start)-len(end)) + end
	if f := classify.NewFailure(&googleapi.Error{Code: 400, Body: whole}, "", reader.Noon, Errors()); f.Code != "INVALID_ARGUMENT" {
		t.Errorf("a body of exactly 1 MiB must be read: got code %q", f.Code)
	}
	e := &googleapi.Error{Code: 400, Body: whole + " "}
	for range 100 {
		e.Details = append(e.Details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "R"})
	}
	if f := classify.NewFailure(e, "", reader.Noon, Errors()); f.Code != "" || len(f.Inner) != maxInner {
		t.Errorf("got code %q and %d nested errors", f.Code, len(f.Inner))
	}
}

func TestCodes(t *testing.T) {
	want := map[string]classify.Retry{ // some codes of each group
		"ABORTED": classify.Slow, "FAILED_PRECONDITION": classify.Slow, "RESOURCE_EXHAUSTED": classify.Slow, "NOT_FOUND": classify.Slow, "PERMISSION_DENIED": classify.Slow,
		"ALREADY_EXISTS": classify.VerySlow, "OUT_OF_RANGE": classify.VerySlow, "UNIMPLEMENTED": classify.VerySlow, "INVALID_ARGUMENT": classify.OnChange,
		"resourceNotReady": classify.Slow, "rateLimitExceeded": classify.Slow, "conflict": classify.Slow, "notFound": classify.Slow,
		"quotaExceeded": classify.VerySlow, "alreadyExists": classify.VerySlow, "invalid": classify.VerySlow, "required": classify.OnChange,
	}
	for code, r := range want {
		for _, http := range []int{400, 403, 409, 500} {
			for form, body := range map[string]string{"reason": reason(http, code, "m"), "status": status(http, code, "")} {
				if c := reader.Classify(t, Errors(), apiErr(t, http, body)); c.Retry() != r || c.Rule() != code {
					t.Errorf("%s as %s with %d: got %v, want %s", code, form, http, c, r)
				}
			}
		}
	}
	// A reason wins over the status.
	for text, r := range map[string]classify.Retry{"SERVICE_DISABLED": classify.Slow, "BILLING_DISABLED": classify.VerySlow, "NEWER": classify.OnChange} {
		body := status(400, "INVALID_ARGUMENT", strings.Replace(disabled, "SERVICE_DISABLED", text, 1))
		if c := reader.Classify(t, Errors(), apiErr(t, 400, body)); c.Retry() != r {
			t.Errorf("%s: got %v, want %s", text, c, r)
		}
	}
	reader.Table(t, Codes)
}
