// Package google knows the errors of Google Cloud, as the REST clients of
// google.golang.org/api return them. A reconciler for Google Cloud adds one
// line:
//
//	disks := flow.New("Disk", operations, extensions, flow.WithErrors(google.Errors()))
//
// Clients that speak gRPC return other errors. Package classify/grpc knows
// those, and both can be given:
//
//	flow.WithErrors(google.Errors(), grpc.Errors())
//
// A chain that stands alone reads its failures with it:
//
//	handle := classify.Compose(mine.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "", time.Time{}, google.Errors()))
//
// # What it reads
//
// [Errors] reads a [googleapi.Error]. The code is the reason of the first of
// its Errors, as in "resourceNotReady". Newer services have none: their code is
// the status of the body, as in "FAILED_PRECONDITION". The reasons of the other
// Errors and of the ErrorInfo in the details are nested errors, which rules
// match by [classify.Rule.InnerCode]. The delay comes from the header
// Retry-After, or from the RetryInfo in the details.
//
// 404 means that the object does not exist, if the response has a code. The
// page of a proxy has none.
//
// # Operations under way
//
// No error ends a polled operation. Google Cloud reports a failure in the
// operation itself, with 200. Return flow.Failed when its error is set.
package google
