package storage

import (
	"fmt"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// domain is the source of the reasons in ErrorInfo.
const domain = "storage.example.com"

// Unavailable returns the error of a service that is down for a time.
func Unavailable(message string, back time.Duration) error {
	return with(codes.Unavailable, message, retryIn(back))
}

// Throttled returns the error of a service that receives too many calls.
func Throttled(message string, back time.Duration) error {
	return with(codes.ResourceExhausted, message, reason("RATE_LIMIT_EXCEEDED"), retryIn(back))
}

// OverQuota returns the error of a create above the quota. It has the code of
// [Throttled], but waiting does not help.
func OverQuota(account string, quota int) error {
	message := fmt.Sprintf("account %q may have %d buckets", account, quota)
	return with(codes.ResourceExhausted, message, reason("QUOTA_EXCEEDED"), &errdetails.QuotaFailure{
		Violations: []*errdetails.QuotaFailure_Violation{{Subject: "accounts/" + account, Description: message}},
	})
}

func reason(word string) protoadapt.MessageV1 {
	return protoadapt.MessageV1Of(&errdetails.ErrorInfo{Reason: word, Domain: domain})
}

func retryIn(d time.Duration) protoadapt.MessageV1 {
	return protoadapt.MessageV1Of(&errdetails.RetryInfo{RetryDelay: durationpb.New(d)})
}

func with(code codes.Code, message string, details ...protoadapt.MessageV1) error {
	s, err := status.New(code, message).WithDetails(details...)
	if err != nil {
		return err // the code is OK
	}
	return s.Err()
}
