package storage

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The states of an account. Only an active account accepts buckets.
const (
	StateVerifying = "VERIFYING"
	StateActive    = "ACTIVE"
)

// Account owns buckets.
type Account struct {
	Name  string
	State string // set by the server
}

// Bucket holds objects.
type Bucket struct {
	Account, Name string
	Class         string // the storage class, such as "STANDARD"
}

// GetAccountRequest names an account.
type GetAccountRequest struct{ Name string }

// GetBucketRequest names a bucket.
type GetBucketRequest struct{ Account, Name string }

// GetOperationRequest names an operation.
type GetOperationRequest struct{ Name string }

// Operation is a create that takes time.
type Operation struct {
	Name  string
	Done  bool
	Error *OperationError // of a failed operation; else nil
}

// OperationError is the error of a failed operation.
type OperationError struct {
	Code    codes.Code
	Message string
}

// Err returns the error as a gRPC status, like all other errors of the API.
func (e *OperationError) Err() error { return status.Error(e.Code, e.Message) }
