// Package azure knows the errors of Azure Resource Manager, and moves its
// long-running operations on from a flow. A reconciler for Azure adds one line:
//
//	pools := flow.New("AgentPool", operations, extensions, flow.WithErrors(azure.Errors()))
//
// A chain that stands alone reads its failures with it:
//
//	handle := classify.Compose(redis.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
//
// # What it reads
//
// [Errors] reads the first [*azcore.ResponseError] that an error wraps: code,
// status and message, the delay that the service asks for (Retry-After-Ms,
// X-Ms-Retry-After-Ms, Retry-After), and up to eight errors that are nested in
// it ("details" and "innererror"), so that "DeploymentFailed" shows its cause.
// Rules match the codes of nested errors by [classify.Rule.InnerCode]. The code
// of the response wins over that of its body. At most 1 MiB of a body is read,
// JSON or not, cut off or not; the body stays readable for others.
//
// Azure Resource Manager names every error. A response of 4xx with a text and
// without a code comes from a proxy. It does not mean that an object or an
// operation is missing, or that the request is wrong. Messages show a page that
// is not JSON, and rules do not see it.
//
// # What it decides
//
// [Codes] is the table of codes. Print it to see every row.
//
// # Operations
//
// [Advance] moves a poller of the SDK on by one request and returns a
// [flow.Progress]. [Observe] makes a [flow.Observation] of a GET.
package azure
