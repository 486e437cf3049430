package grpc

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/windlass-go/windlass/classify"
)

var known = classify.NewErrors("grpc", read, Codes())

// Errors returns the reader and the table ([Codes]) for status errors of gRPC.
func Errors() classify.Errors { return known }

// maxInner is the number of nested errors that are read.
const maxInner = 8

// read is the reader of [Errors].
func read(f *classify.Failure) bool {
	err, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](f.Err)
	if !ok {
		return false
	}
	s := err.GRPCStatus()
	if s.Code() == codes.OK { // a nil status is OK, too; OK is not an error
		return false
	}
	f.Code, f.Message = s.Code().String(), s.Message()
	for _, detail := range s.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetReason() != "" && len(f.Inner) < maxInner {
				f.Inner = append(f.Inner, classify.InnerError{Code: detail.GetReason()})
			}
		case *errdetails.RetryInfo:
			f.After = max(f.After, detail.GetRetryDelay().AsDuration())
		}
	}
	switch s.Code() {
	case codes.Canceled:
		f.Err = canceledError{f.Err}
	case codes.NotFound:
		f.NotFound = true
	case codes.Unavailable, codes.ResourceExhausted, codes.Aborted, codes.DeadlineExceeded:
		f.Transient = true
	}
	return true
}

// canceledError is a status error of a call whose context was canceled. gRPC does not wrap the error of the
// context, so the general rules would not see that the pass was canceled.
type canceledError struct{ error }

func (e canceledError) Unwrap() error        { return e.error }
func (e canceledError) Is(target error) bool { return target == context.Canceled }
