package storage

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The states of an account. Only an active account takes buckets.
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
	Class         string // the storage class, as "STANDARD"
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
	Error *OperationError // of an operation that is done and has failed
}

// OperationError is the reason why an operation has failed.
type OperationError struct {
	Code    codes.Code
	Message string
}

// Err returns the error as a gRPC status, the form that all other errors of the
// API have.
func (e *OperationError) Err() error { return status.Error(e.Code, e.Message) }
