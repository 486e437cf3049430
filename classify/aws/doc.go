// Package aws reads and classifies the errors of the AWS SDK for Go v2. A
// reconciler for Amazon Web Services adds one line:
//
//	buckets := flow.New("Bucket", operations, extensions, flow.WithErrors(aws.Errors()))
//
// # Reading errors
//
// [Errors] reads the code, the message and the fault of a [smithy.APIError]. It
// reads the HTTP status and the delay of a [smithyhttp.ResponseError]
// (X-Amz-Retry-After, Retry-After).
//
// # Not found
//
// A code that ends in NotFound, NotFoundException or NotFoundFault, or starts
// with NoSuch, means that the object does not exist. A 404 alone does not: some
// services return it for an operation that they do not support.
//
// # Operations under way
//
// No error of AWS ends a polled operation. The services report a failure in the
// state of the object: return flow.Failed for such a state. A new object may be
// reported as not found for some time.
//
// # Other packages
//
// A package of the SDK has the same name. Import one of them under another
// name:
//
//	import wlaws "github.com/windlass-go/windlass/classify/aws"
package aws
