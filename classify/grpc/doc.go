// Package grpc reads and classifies the status errors of gRPC clients. A
// reconciler that uses a gRPC service adds one line:
//
//	topics := flow.New("Topic", operations, extensions, flow.WithErrors(grpc.Errors()))
//
// # Reading errors
//
// [Errors] reads the first error in the tree that has a gRPC status, for
// example an error of package status or of Google Cloud's clients
// (apierror.APIError):
//
//   - The code is the name of the status code in Go, as in "Unavailable".
//   - The reason of an ErrorInfo in the details is a nested error. Rules match
//     it by [classify.Rule.InnerCode].
//   - The delay comes from a RetryInfo in the details.
//   - There is no HTTP status.
//
// NotFound means that the object does not exist.
//
// # Operations under way
//
// No gRPC error ends a polled operation, because a failed poll and a failed
// operation have the same kind of status. Return flow.Failed if the operation
// itself reports an error.
//
// # Other packages
//
// The package of gRPC has the same name. Import one of them under another name:
//
//	import wlgrpc "github.com/windlass-go/windlass/classify/grpc"
package grpc
