// Package aws knows the errors of Amazon Web Services, as the clients of the
// AWS SDK for Go v2 return them. A reconciler for AWS adds one line:
//
//	buckets := flow.New("Bucket", operations, extensions, flow.WithErrors(aws.Errors()))
//
// A chain that stands alone reads its failures with it:
//
//	handle := classify.Compose(mine.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "", time.Time{}, aws.Errors()))
//
// [Errors] reads code, message and fault of a [smithy.APIError], and the HTTP
// status and the delay of the response ([smithyhttp.ResponseError],
// X-Amz-Retry-After, Retry-After). It decides by [Codes]. Print that table to
// see every row.
//
// # Not found
//
// A code that ends in NotFound, NotFoundException or NotFoundFault, or starts
// with NoSuch, means that the object does not exist. An HTTP status alone does
// not: some services answer 404 for an operation that they do not have.
//
// # Operations under way
//
// No error of AWS ends a polled operation. Its services report a failure in the
// state of the object, and an object that was just created may not be found for
// some time. Return flow.Failed if the state is a failure.
//
// # Other packages
//
// A package of the SDK has the same name. Import one of them under another
// name:
//
//	import wlaws "github.com/windlass-go/windlass/classify/aws"
package aws
