// Package grpc knows the status errors of gRPC services. A reconciler for a
// service that speaks gRPC adds one line:
//
//	topics := flow.New("Topic", operations, extensions, flow.WithErrors(grpc.Errors()))
//
// A chain that stands alone reads its failures with it:
//
//	handle := classify.Compose(mine.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "", time.Time{}, grpc.Errors()))
//
// # What it reads
//
// [Errors] reads the first error that has a gRPC status, however deep it is
// wrapped: those of package status, and those of Google Cloud's clients
// (apierror.APIError). The code is the name of the status code in Go, as in
// "Unavailable". The reason of an ErrorInfo in the details is a nested error,
// which rules match by [classify.Rule.InnerCode]. The delay comes from a
// RetryInfo. There is no HTTP status.
//
// NotFound says that the object does not exist.
//
// # Operations under way
//
// No error ends a polled operation: the status of a failed operation and that
// of a failed poll look alike. Return flow.Failed when the operation itself
// reports an error.
//
// # Other packages
//
// The package has the name of gRPC's own. Import one of them under another
// name:
//
//	import wlgrpc "github.com/windlass-go/windlass/classify/grpc"
package grpc
