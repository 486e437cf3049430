package aws

import (
	"errors"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/windlass-go/windlass/classify"
)

var known = classify.NewErrors("aws", read, Codes())

// Errors returns the reader and the table ([Codes]) for errors of AWS.
func Errors() classify.Errors { return known }

// read is the reader of [Errors].
func read(f *classify.Failure) bool {
	api, isAPI := errors.AsType[smithy.APIError](f.Err)
	response, isResponse := errors.AsType[*smithyhttp.ResponseError](f.Err)
	isResponse = isResponse && response != nil && response.Response != nil && response.Response.Response != nil
	if !isAPI && !isResponse {
		return false
	}
	f.Message = f.Err.Error()
	if isResponse {
		f.Status = response.Response.StatusCode
		f.After = f.RetryAfter(response.Response.Header, "X-Amz-Retry-After")
	}
	f.ReadStatus()
	f.NotFound = false
	if isAPI {
		f.Code, f.NotFound = api.ErrorCode(), notFound(api.ErrorCode()) && !nested(f.Err)
		if text := api.ErrorMessage(); text != "" {
			f.Message = text
		}
		f.Transient = f.Transient || api.ErrorFault() == smithy.FaultServer || slices.Contains(throttling, f.Code)
	}
	return true
}

// nested reports whether an operation failed because of another one, such as one that fetches the credentials of the
// request. That error says nothing about the object.
func nested(err error) bool {
	outer, is := errors.AsType[*smithy.OperationError](err)
	if is && outer != nil {
		_, is = errors.AsType[*smithy.OperationError](outer.Err)
	}
	return is && outer != nil
}

// notFound reports whether a code means that the object does not exist.
func notFound(code string) bool {
	return strings.HasSuffix(code, "NotFound") || strings.HasSuffix(code, "NotFoundException") ||
		strings.HasSuffix(code, "NotFoundFault") || strings.HasPrefix(code, "NoSuch") ||
		code == "QueueDoesNotExist" || code == "AWS.SimpleQueueService.NonExistentQueue" // of SQS
}
