// Package google reads and classifies the errors of Google Cloud's REST clients
// (google.golang.org/api). A reconciler for Google Cloud adds one line:
//
//	disks := flow.New("Disk", operations, extensions, flow.WithErrors(google.Errors()))
//
// Clients that use gRPC return other errors, which package classify/grpc reads.
// Pass both for a reconciler that uses both kinds of clients:
//
//	flow.WithErrors(google.Errors(), grpc.Errors())
//
// # Reading errors
//
// [Errors] reads a [googleapi.Error]:
//
//   - The code is the reason of the first of its Errors, as in
//     "resourceNotReady". Newer services have no Errors. Their code is the
//     status in the body, as in "FAILED_PRECONDITION".
//   - The reasons of the other Errors and of the ErrorInfo in the details are
//     nested errors. Rules match them by [classify.Rule.InnerCode].
//   - The delay comes from the header Retry-After, or from the RetryInfo in the
//     details.
//
// A 404 with a code means that the object does not exist. A 404 without a code
// is the page of a proxy.
//
// # Operations under way
//
// No error of Google Cloud ends a polled operation. The operation object itself
// reports a failure, with status 200: return flow.Failed if its error is set.
package google
