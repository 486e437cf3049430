// Package sdkfake has errors like the SDKs of several clouds, for tests that
// must not import these SDKs. All mean that a service is unavailable.
package sdkfake

import (
	"errors"
	"fmt"
)

// Unavailable returns an error of each SDK, by the name of the SDK.
func Unavailable() map[string]error {
	return map[string]error{
		"smithy":     &smithyResponse{status: 503, err: &smithyAPI{code: "ServiceUnavailable", message: "slow down"}},
		"gRPC":       &grpcStatus{code: 14, message: "connection refused"},
		"googleapi":  &googleAPI{Code: 429, Message: "quota exceeded"},
		"kubernetes": &statusError{status: status{Code: 429, Reason: "TooManyRequests", Message: "too many requests"}},
		"plain":      errors.New("the service does not answer"),
	}
}

// smithyAPI has the methods of smithy.APIError.
type smithyAPI struct{ code, message string }

func (e *smithyAPI) Error() string        { return "api error " + e.code + ": " + e.message }
func (e *smithyAPI) ErrorCode() string    { return e.code }
func (e *smithyAPI) ErrorMessage() string { return e.message }
func (e *smithyAPI) ErrorFault() int      { return 1 }

// smithyResponse has the methods of the ResponseError of smithy's HTTP
// transport.
type smithyResponse struct {
	status int
	err    error
}

func (e *smithyResponse) Error() string {
	return fmt.Sprintf("https response error StatusCode: %d, %v", e.status, e.err)
}
func (e *smithyResponse) Unwrap() error       { return e.err }
func (e *smithyResponse) HTTPStatusCode() int { return e.status }

// grpcStatus is like the error of google.golang.org/grpc/status. Only a reader
// for gRPC can call GRPCStatus, because its result is a type of that module.
type grpcStatus struct {
	code    uint32
	message string
}

func (e *grpcStatus) Error() string {
	return fmt.Sprintf("rpc error: code = Unavailable desc = %s", e.message)
}
func (e *grpcStatus) GRPCStatus() *grpcStatus { return e }

// googleAPI is like googleapi.Error: the status is in a field.
type googleAPI struct {
	Code    int
	Message string
}

func (e *googleAPI) Error() string { return fmt.Sprintf("googleapi: Error %d: %s", e.Code, e.Message) }

// statusError is like the StatusError of k8s.io/apimachinery: a method returns
// a struct with the code.
type statusError struct{ status status }

type status struct {
	Code            int32
	Reason, Message string
}

func (e *statusError) Error() string  { return e.status.Message }
func (e *statusError) Status() status { return e.status }
