package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// asError gives an error through As only.
type asError struct{ re *azcore.ResponseError }

func (e asError) Error() string { return "as" }

func (e asError) As(target any) bool {
	if t, ok := target.(**azcore.ResponseError); ok {
		*t = e.re
		return true
	}
	return false
}

// panicky panics whatever is asked of it.
type panicky struct{}

func (panicky) Error() string             { panic("no text") }
func (panicky) Unwrap() error             { panic("no cause") }
func (panicky) Is(error) bool             { panic("no equal") }
func (*panicky) Read([]byte) (int, error) { panic("no body") }
func (*panicky) Close() error             { return nil }

func TestNewFailure(t *testing.T) {
	const body = `{"error":{"code":"FromBody","message":"busy"}}`
	bare := &azcore.ResponseError{ErrorCode: "Conflict", StatusCode: 409}
	cases := map[string]struct {
		reason string
		err    error
		want   Failure
	}{
		"response":       {"code and status of the error, message of the body, delay of the header", respErr("Conflict", 409, body, "Retry-After", "7"), Failure{Code: "Conflict", Status: 409, Message: "busy", After: 7 * time.Second}},
		"code of body":   {"without a code of its own the body's counts", respErr("", 409, body), Failure{Code: "FromBody", Status: 409, Message: "busy"}},
		"code of header": {"the header's code counts before the body's", respErr("", 409, body, "x-ms-error-code", "FromHeader"), Failure{Code: "FromHeader", Status: 409, Message: "busy"}},
		"status":         {"without a status of its own the response's counts", &azcore.ResponseError{RawResponse: &http.Response{StatusCode: 503}}, Failure{Status: 503}},
		"operation":      {"a long-running operation fails with 200", respErr("Conflict", 200, `{"status":"Failed","error":{"code":"Conflict","message":"busy"}}`), Failure{Code: "Conflict", Status: 200, Message: "busy"}},
		"no response":    {"a nil RawResponse is fine", bare, Failure{Code: "Conflict", Status: 409}},
		"zero":           {"a zero ResponseError is fine", new(azcore.ResponseError), Failure{}},
		"date":           {"a date is measured against now", respErr("Conflict", 409, "", "Retry-After", noon.Add(time.Minute).Format(http.TimeFormat)), Failure{Code: "Conflict", Status: 409, After: time.Minute}},
		"wrapped":        {"however deep it is wrapped", fmt.Errorf("a: %w", fmt.Errorf("b: %w", fmt.Errorf("c: %w", bare))), Failure{Code: "Conflict", Status: 409}},
		"joined":         {"of joined ones the first", errors.Join(errors.New("x"), fmt.Errorf("a: %w", bare), respErr("Other", 400, "")), Failure{Code: "Conflict", Status: 409}},
		"as":             {"an As method counts, as for errors.As", fmt.Errorf("a: %w", asError{bare}), Failure{Code: "Conflict", Status: 409}},
		"as nil":         {"an As method that gives nil gives none", asError{}, Failure{Message: "as"}},
		"other":          {"an error that no service gave has its text", fmt.Errorf("a: %w", context.DeadlineExceeded), Failure{Message: "a: context deadline exceeded"}},
		"nil response":   {"a nil *ResponseError in a join is passed by", errors.Join(asError{}, (*azcore.ResponseError)(nil), bare), Failure{Code: "Conflict", Status: 409}},
		"nil wrapped":    {"a nil *ResponseError that is wrapped is none", &wrapper{(*azcore.ResponseError)(nil)}, Failure{Message: "wrapper"}},
		"panicky":        {"an error whose methods panic says so", panicky{}, Failure{Message: "the error, a classify.panicky, panics when it is read: no cause"}},
		"panicky body":   {"what was read before a panic counts", &azcore.ResponseError{ErrorCode: "Conflict", StatusCode: 409, RawResponse: &http.Response{Body: new(panicky)}}, Failure{Code: "Conflict", Status: 409, Message: "the error, a *exported.ResponseError, panics when it is read: no body"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewFailure(c.err, "2024-05-01", noon)
			c.want.APIVersion = "2024-05-01"
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreFields(Failure{}, "Err"), cmpopts.IgnoreUnexported(Failure{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if fmt.Sprintf("%p %T", got.Err, got.Err) != fmt.Sprintf("%p %T", c.err, c.err) {
				t.Error("Err is not the error that was given")
			}
		})
	}
}

// wrapper wraps without looking at what it wraps.
type wrapper struct{ err error }

func (w *wrapper) Error() string { return "wrapper" }
func (w *wrapper) Unwrap() error { return w.err }

func TestNewFailureOfTypedNil(t *testing.T) {
	var err *azcore.ResponseError
	f := NewFailure(err, "", noon)
	if f == nil || f.Code != "" || !strings.Contains(f.Message, "panics when it is read") {
		t.Errorf("got %+v", f)
	}
	if c := classifyBy(t, f); c.Retry() != Slow || c.Rule() != "Unknown" {
		t.Errorf("a nil error in an interface is an unknown one: got %v", c)
	}
}

func TestNewFailureOfNil(t *testing.T) {
	if f := NewFailure(nil, "2024-05-01", noon); f != nil {
		t.Errorf("a nil error is no failure: got %+v", f)
	}
}

func TestNewFailureLeavesTheErrorAsItWas(t *testing.T) {
	const body = `{"error":{"code":"Conflict","message":"busy"}}`
	err := respErr("Conflict", 409, body)
	wrapped := fmt.Errorf("a: %w", err) // reads and caches the body
	_ = wrapped
	fresh := respErr("Conflict", 409, body)
	NewFailure(fresh, "", noon)
	if diff := cmp.Diff(err.Error(), fresh.Error()); diff != "" {
		t.Errorf("its text changed (-want +got):\n%s", diff)
	}
	if left, _ := io.ReadAll(fresh.RawResponse.Body); string(left) != body {
		t.Errorf("its body became %q", left)
	}
}

func TestAs(t *testing.T) {
	f := &Failure{Code: "Conflict", Status: 409, Message: "busy", After: time.Second}
	cases := map[string]struct {
		reason string
		got    Classification
		want   facts
	}{
		"decided": {"it has all of the failure", f.As("Mine", VerySlow), facts{VerySlow, time.Second, "Conflict", "busy", "Mine", false}},
		"unset":   {"what is not decided is slow", f.As("Mine", Unset), facts{Slow, time.Second, "Conflict", "busy", "Mine", false}},
		"invalid": {"what is no Retry is slow", f.As("Mine", OnChange+1), facts{Slow, time.Second, "Conflict", "busy", "Mine", false}},
		"no rule": {"a rule has a name", f.As("", Fast), facts{Fast, time.Second, "Conflict", "busy", "Unnamed", false}},
		"nil":     {"a nil failure has nothing to say", (*Failure)(nil).As("Mine", Fast), facts{Fast, 0, "", "the error has no text", "Mine", false}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, factsOf(c.got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}
