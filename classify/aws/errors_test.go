package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/reader"
)

// apiErr returns an error as the clients of the SDK return it: an operation
// error that wraps a response error that wraps an API error. Status 0 means no
// response error.
func apiErr(code, message string, fault smithy.ErrorFault, status int, header ...string) error {
	var err error = &smithy.GenericAPIError{Code: code, Message: message, Fault: fault}
	if status != 0 {
		err = responseErr(err, status, header...)
	}
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "CreateVpc", Err: err}
}

func responseErr(err error, status int, header ...string) error {
	return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: reader.Header(header...)}}, Err: err}
}

func TestRead(t *testing.T) {
	reader.Test(t, Errors(), map[string]reader.Case{
		"response":         {"the code and the message are of the API error, the status and the delay of the response", apiErr("Conflict", "busy", smithy.FaultClient, 409, "Retry-After", "7"), classify.Failure{Code: "Conflict", Message: "busy", Status: 409, After: 7 * time.Second}},
		"milliseconds":     {"AWS's own header is in milliseconds and wins", apiErr("SlowDown", "slow", smithy.FaultServer, 503, "Retry-After", "7", "X-Amz-Retry-After", "1500"), classify.Failure{Code: "SlowDown", Message: "slow", Status: 503, After: 1500 * time.Millisecond, Transient: true}},
		"not milliseconds": {"an invalid value is ignored", apiErr("SlowDown", "slow", smithy.FaultServer, 503, "Retry-After", "7", "X-Amz-Retry-After", "soon"), classify.Failure{Code: "SlowDown", Message: "slow", Status: 503, After: 7 * time.Second, Transient: true}},
		"date":             {"a date is measured from now", apiErr("SlowDown", "slow", smithy.FaultServer, 503, "Retry-After", reader.Noon.Add(time.Minute).Format(http.TimeFormat)), classify.Failure{Code: "SlowDown", Message: "slow", Status: 503, After: time.Minute, Transient: true}},
		"no response":      {"an API error may have no response", apiErr("Conflict", "busy", smithy.FaultUnknown, 0), classify.Failure{Code: "Conflict", Message: "busy"}},
		"no message":       {"the text of the error replaces a missing message", &smithy.GenericAPIError{Code: "Conflict"}, classify.Failure{Code: "Conflict", Message: "api error Conflict: "}},
		"wrapped":          {"the error may be wrapped", fmt.Errorf("a: %w", apiErr("Conflict", "busy", smithy.FaultUnknown, 409)), classify.Failure{Code: "Conflict", Message: "busy", Status: 409}},
		"server fault":     {"a fault of the server is transient", apiErr("Odd", "x", smithy.FaultServer, 0), classify.Failure{Code: "Odd", Message: "x", Transient: true}},
		"throttled":        {"throttling with status 400 is transient", apiErr("ThrottlingException", "x", smithy.FaultClient, 400), classify.Failure{Code: "ThrottlingException", Message: "x", Status: 400, Transient: true}},
		"status only":      {"an unreadable response has a status", responseErr(&smithy.DeserializationError{Err: errors.New("no XML")}, 502), classify.Failure{Message: "http response error StatusCode: 502, deserialization failed, no XML", Status: 502, Transient: true}},
		"not found":        {"the code means that the object does not exist", apiErr("ResourceNotFoundException", "x", smithy.FaultClient, 400), classify.Failure{Code: "ResourceNotFoundException", Message: "x", Status: 400, NotFound: true}},
		"not found, EC2":   {"EC2 has its own form of the code", apiErr("InvalidVpcID.NotFound", "x", smithy.FaultClient, 400), classify.Failure{Code: "InvalidVpcID.NotFound", Message: "x", Status: 400, NotFound: true}},
		"not found, RDS":   {"RDS has its own form of the code", apiErr("DBInstanceNotFoundFault", "x", smithy.FaultClient, 404), classify.Failure{Code: "DBInstanceNotFoundFault", Message: "x", Status: 404, NotFound: true}},
		"not found, SQS":   {"SQS has two forms of the code", apiErr("AWS.SimpleQueueService.NonExistentQueue", "x", smithy.FaultClient, 400), classify.Failure{Code: "AWS.SimpleQueueService.NonExistentQueue", Message: "x", Status: 400, NotFound: true}},
		"not found, SQS 2": {"SQS has two forms of the code", apiErr("QueueDoesNotExist", "x", smithy.FaultClient, 400), classify.Failure{Code: "QueueDoesNotExist", Message: "x", Status: 400, NotFound: true}},
		"not found, S3":    {"S3 has its own form of the code", apiErr("NoSuchBucket", "x", smithy.FaultClient, 404), classify.Failure{Code: "NoSuchBucket", Message: "x", Status: 404, NotFound: true}},
		"not found, HEAD":  {"S3 responds to a HEAD without a body", apiErr("NotFound", "x", smithy.FaultClient, 404), classify.Failure{Code: "NotFound", Message: "x", Status: 404, NotFound: true}},
		"credentials":      {"an operation that fetches credentials says nothing about the object", &smithy.OperationError{ServiceID: "SQS", OperationName: "ReceiveMessage", Err: fmt.Errorf("failed to retrieve credentials: %w", apiErr("NoSuchVersion", "x", smithy.FaultClient, 400))}, classify.Failure{Code: "NoSuchVersion", Message: "x", Status: 400}},
		"other 404":        {"an unsupported operation is not a missing object", apiErr("UnknownOperationException", "x", smithy.FaultClient, 404), classify.Failure{Code: "UnknownOperationException", Message: "x", Status: 404}},
		"404 alone":        {"an unreadable page is not a missing object", responseErr(errors.New("x"), 404), classify.Failure{Message: "http response error StatusCode: 404, x", Status: 404}},
		"near miss":        {"the code must end with the word", apiErr("NotFoundHere", "x", smithy.FaultClient, 400), classify.Failure{Code: "NotFoundHere", Message: "x", Status: 400}},
		"nil response":     {"a response error may have no response", &smithyhttp.ResponseError{Err: errors.New("x")}, classify.Failure{Message: "an error of type *http.ResponseError panics when it is read"}},
		"not sent":         {"a request that was not sent is a network error", &smithy.OperationError{ServiceID: "S3", OperationName: "Get", Err: &smithyhttp.RequestSendError{Err: context.DeadlineExceeded}}, classify.Failure{Message: "operation error S3: Get, request send failed, context deadline exceeded", Transient: true}},
		"other":            {"the message of another error is its text", errors.New("ThrottlingException"), classify.Failure{Message: "ThrottlingException"}},
	})
}

// modeled is an exception with a type of its own, as the clients define them.
type modeled struct{ Message *string }

func (e *modeled) Error() string                 { return e.ErrorCode() + ": " + e.ErrorMessage() }
func (e *modeled) ErrorMessage() string          { return *e.Message }
func (e *modeled) ErrorCode() string             { return "ResourceInUseException" }
func (e *modeled) ErrorFault() smithy.ErrorFault { return smithy.FaultClient }

func TestModeledErrors(t *testing.T) {
	text := "the cluster has node groups"
	if c := reader.Classify(t, Errors(), responseErr(&modeled{&text}, 409)); c.Rule() != "ResourceInUseException" || c.Message() != text {
		t.Errorf("got %v", c)
	}
	var none *modeled
	for name, err := range map[string]error{"nil": none, "nil message": new(modeled), "nil, wrapped": responseErr(none, 404)} {
		if c := reader.Classify(t, Errors(), err); c.Retry() != classify.Slow || Errors().NotFound(err) {
			t.Errorf("%s: got %v", name, c)
		}
	}
}

func TestCodes(t *testing.T) {
	want := map[string]classify.Retry{ // some codes of each group
		"ThrottlingException": classify.Slow, "SlowDown": classify.Slow, "RequestLimitExceeded": classify.Slow, "DependencyViolation": classify.Slow,
		"InsufficientInstanceCapacity": classify.Slow, "UnauthorizedOperation": classify.Slow, "AccessDenied": classify.Slow, "DeleteConflict": classify.Slow,
		"InvalidParameterValue": classify.Slow, "MalformedPolicyDocument": classify.Slow, "ResourceNotFoundException": classify.Slow,
		"VpcLimitExceeded": classify.VerySlow, "EntityAlreadyExists": classify.VerySlow, "ValidationError": classify.VerySlow, "ServiceQuotaExceededException": classify.VerySlow,
		"MissingParameter": classify.OnChange, "InvalidBucketName": classify.OnChange, "UnknownParameter": classify.OnChange,
	}
	for code, retry := range want {
		for _, status := range []int{0, 400, 409, 500} {
			if c := reader.Classify(t, Errors(), apiErr(code, "x", smithy.FaultUnknown, status)); c.Retry() != retry || c.Rule() != code {
				t.Errorf("%s with %d: got %v, want %s", code, status, c, retry)
			}
		}
	}
	for _, code := range throttling {
		if c := reader.Classify(t, Errors(), apiErr(code, "x", smithy.FaultClient, 400)); c.Retry() != classify.Slow || !Errors().Transient(apiErr(code, "x", smithy.FaultClient, 400)) {
			t.Errorf("%s must be throttling: got %v", code, c)
		}
	}
	reader.Table(t, Codes)
}
