// Package azure reads and classifies the errors of Azure Resource Manager, and
// polls its long-running operations from a flow. A reconciler for Azure adds
// one line:
//
//	pools := flow.New("AgentPool", operations, extensions, flow.WithErrors(azure.Errors()))
//
// # Reading errors
//
// [Errors] reads the first [*azcore.ResponseError] that an error wraps:
//
//   - the code, the status and the message
//   - the delay (Retry-After-Ms, X-Ms-Retry-After-Ms, Retry-After)
//   - up to eight nested errors ("details" and "innererror"), so that
//     "DeploymentFailed" shows its cause. Rules match their codes by
//     [classify.Rule.InnerCode].
//
// The code of the response wins over that of its body. At most 1 MiB of a body
// is read. It need not be JSON. The body remains readable for other readers.
//
// Azure Resource Manager sets a code for every error. A 4xx response with a
// text but without a code comes from a proxy. It does not mean that an object
// or an operation is missing, or that the request is wrong. Messages show a
// page that is not JSON. Rules do not match its text.
//
// # Operations
//
// [Advance] sends one request of a poller of the SDK and returns a
// [flow.Progress]. [Observe] makes a [flow.Observation] from a GET.
package azure
