package grpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

// statusErr returns an error as the stub of a client does.
func statusErr(t testing.TB, code codes.Code, message string, details ...protoadapt.MessageV1) error {
	t.Helper()
	s, err := status.New(code, message).WithDetails(details...)
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}

func errorInfo(reason string) protoadapt.MessageV1 {
	return &errdetails.ErrorInfo{Reason: reason, Domain: "googleapis.com"}
}

func retryInfo(d time.Duration) protoadapt.MessageV1 {
	return &errdetails.RetryInfo{RetryDelay: durationpb.New(d)}
}

// custom is an error with a status of its own.
type custom struct{ s *status.Status }

func (custom) Error() string                { return "custom" }
func (c custom) GRPCStatus() *status.Status { return c.s }

func TestRead(t *testing.T) {
	type inner = []classify.InnerError
	many := make([]protoadapt.MessageV1, 100)
	for i := range many {
		many[i] = errorInfo("R")
	}
	reader.Test(t, Errors(), map[string]reader.Case{
		"status":         {"the status has a code and a message", statusErr(t, codes.FailedPrecondition, "busy"), classify.Failure{Code: "FailedPrecondition", Message: "busy"}},
		"wrapped":        {"the message of a wrapped error is that of the status", fmt.Errorf("get: %w", statusErr(t, codes.Internal, "broken")), classify.Failure{Code: "Internal", Message: "broken"}},
		"custom":         {"an error of any type may have a status", fmt.Errorf("get: %w", custom{status.New(codes.Internal, "broken")}), classify.Failure{Code: "Internal", Message: "broken"}},
		"RetryInfo":      {"the delay of a RetryInfo applies", statusErr(t, codes.Unavailable, "down", retryInfo(17*time.Second)), classify.Failure{Code: "Unavailable", Message: "down", After: 17 * time.Second, Transient: true}},
		"two RetryInfos": {"the longer delay applies", statusErr(t, codes.Unavailable, "down", retryInfo(17*time.Second), retryInfo(7*time.Second)), classify.Failure{Code: "Unavailable", Message: "down", After: 17 * time.Second, Transient: true}},
		"long delay":     {"the delay is cut to an hour", statusErr(t, codes.Unavailable, "down", retryInfo(24*time.Hour)), classify.Failure{Code: "Unavailable", Message: "down", After: time.Hour, Transient: true}},
		"negative delay": {"a negative delay is ignored", statusErr(t, codes.Unavailable, "down", retryInfo(-time.Second)), classify.Failure{Code: "Unavailable", Message: "down", Transient: true}},
		"empty delay":    {"an unset delay is ignored", statusErr(t, codes.Unavailable, "down", &errdetails.RetryInfo{}), classify.Failure{Code: "Unavailable", Message: "down", Transient: true}},
		"ErrorInfo":      {"the reason of an ErrorInfo is a nested error", statusErr(t, codes.PermissionDenied, "no", errorInfo("SERVICE_DISABLED"), &errdetails.Help{}), classify.Failure{Code: "PermissionDenied", Message: "no", Inner: inner{{Code: "SERVICE_DISABLED"}}}},
		"many":           {"eight nested errors are read", statusErr(t, codes.PermissionDenied, "no", many...), classify.Failure{Code: "PermissionDenied", Message: "no", Inner: inner{{Code: "R"}, {Code: "R"}, {Code: "R"}, {Code: "R"}, {Code: "R"}, {Code: "R"}, {Code: "R"}, {Code: "R"}}}},
		"not found":      {"the code means that the object does not exist", statusErr(t, codes.NotFound, "no topic"), classify.Failure{Code: "NotFound", Message: "no topic", NotFound: true}},
		"exhausted":      {"a rate limit is transient", statusErr(t, codes.ResourceExhausted, "rate"), classify.Failure{Code: "ResourceExhausted", Message: "rate", Transient: true}},
		"aborted":        {"a conflict is transient", statusErr(t, codes.Aborted, "x"), classify.Failure{Code: "Aborted", Message: "x", Transient: true}},
		"deadline":       {"an expired deadline is transient", statusErr(t, codes.DeadlineExceeded, "x"), classify.Failure{Code: "DeadlineExceeded", Message: "x", Transient: true}},
		"no path":        {"the 404 of a proxy has this code", statusErr(t, codes.Unimplemented, "unexpected HTTP status code received from server: 404 (Not Found)"), classify.Failure{Code: "Unimplemented", Message: "unexpected HTTP status code received from server: 404 (Not Found)"}},
		"new code":       {"an unknown code is kept", statusErr(t, codes.Code(77), "x"), classify.Failure{Code: "Code(77)", Message: "x"}},
		"OK":             {"OK is not an error of the service", custom{status.New(codes.OK, "")}, classify.Failure{Message: "custom"}},
		"nil status":     {"a nil status is not an error of the service", custom{}, classify.Failure{Message: "custom"}},
		"typed nil":      {"a nil error sets no field", (*custom)(nil), classify.Failure{Message: "an error of type *grpc.custom panics when it is read"}},
		"wrapped nil":    {"a nil error sets no field", fmt.Errorf("a: %w", error((*custom)(nil))), classify.Failure{Message: "a: <nil>"}},
		"other":          {"the message of another error is its text", errors.New("NotFound"), classify.Failure{Message: "NotFound"}},
		"context":        {"a deadline of the caller has no status", context.DeadlineExceeded, classify.Failure{Message: "context deadline exceeded", Transient: true}},
	})
}

// A call that the end of the pass cuts short is no failure of the service.
func TestCanceled(t *testing.T) {
	here, cancel := context.WithCancel(t.Context())
	cancel()
	err := fmt.Errorf("get: %w", statusErr(t, codes.Canceled, "context canceled"))
	for want, ctx := range map[string]context.Context{"Canceled": here, "CanceledElsewhere": t.Context()} {
		f := classify.NewFailure(err, "", reader.Noon, Errors())
		if s, ok := status.FromError(f.Err); !ok || s.Code() != codes.Canceled {
			t.Errorf("a link does not find the status in %v", f.Err)
		}
		c, failed := classify.Compose(classify.Chain{})(ctx, f)
		if failed != nil || c.Rule() != want || c.Canceled() != (want == "Canceled") {
			t.Errorf("got %v, %v, want %s", c, failed, want)
		}
	}
}

func TestCodes(t *testing.T) {
	want := map[codes.Code]classify.Retry{
		codes.Unknown: classify.Slow, codes.InvalidArgument: classify.OnChange, codes.DeadlineExceeded: classify.Slow,
		codes.NotFound: classify.Slow, codes.AlreadyExists: classify.VerySlow, codes.PermissionDenied: classify.Slow, codes.ResourceExhausted: classify.Slow,
		codes.FailedPrecondition: classify.Slow, codes.Aborted: classify.Slow, codes.OutOfRange: classify.VerySlow, codes.Unimplemented: classify.VerySlow,
		codes.Internal: classify.Slow, codes.Unavailable: classify.Slow, codes.DataLoss: classify.Slow, codes.Unauthenticated: classify.Slow,
	}
	for code, r := range want {
		if c := reader.Classify(t, Errors(), fmt.Errorf("a: %w", statusErr(t, code, "x"))); c.Retry() != r || c.Rule() != code.String() {
			t.Errorf("%s: got %v, want %s", code, c, r)
		}
	}
	for _, r := range Codes() {
		if r.Code == "" {
			continue
		}
		// Each code of a row is a code of gRPC.
		known := false
		for code := range want {
			known = known || code.String() == r.Code
		}
		if !known {
			t.Errorf("%s is not a code of gRPC", r.Code)
		}
	}
	// A reason wins over the code.
	for reason, r := range map[string]classify.Retry{"SERVICE_DISABLED": classify.Slow, "BILLING_DISABLED": classify.VerySlow, "NEWER": classify.OnChange, "service_disabled": classify.OnChange} {
		if c := reader.Classify(t, Errors(), statusErr(t, codes.InvalidArgument, "x", errorInfo(reason))); c.Retry() != r {
			t.Errorf("%s: got %v, want %s", reason, c, r)
		}
	}
	if c := reader.Classify(t, Errors(), custom{status.New(codes.Code(77), strings.Repeat("x", 10))}); c.Retry() != classify.Slow || c.Rule() != "Unknown" {
		t.Errorf("a new code: got %v", c)
	}
	reader.Table(t, Codes)
}
