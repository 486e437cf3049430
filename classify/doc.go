// Package classify decides what a failed pass of a reconciler means: how soon to try again, and what to tell people.
//
// There is one answer, a [Retry], ordered by how long it waits:
//
//	Fast      over in seconds            Warning
//	Slow      over in minutes, unknown   Warning
//	VerySlow  looked at at each resync   Warning
//	OnChange  until the spec changes     Error
//
// An error is read once into a [Failure], which has the code, the status, the message and the delay that the service
// asked for. A chain of links turns it into a [Classification]; [Compose] makes the handler that runs the chain:
//
//	redis := classify.Table{
//		{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
//	}
//	handle := classify.Compose(chain.New(redis.Link()))
//	c, _ := handle(ctx, classify.NewFailure(err, "2024-05-01", time.Time{}))
//
// What no link decides, [Default] does: by the error codes of Azure Resource Manager ([AzureCodes]), by HTTP status, and
// by the kind of the error.
//
// # Rules and links
//
// Most of what a service does in its own way is a row of a [Table]: a code, a status, a [Matcher] for the message, API
// versions, and the Retry that then applies. The first row that matches decides, and several tables may stand in one
// chain. Printed, a table shows its rows, the default behind them, and which rows are never reached.
//
// What a row cannot say is a link, a plain function. It may decide by itself, with [Failure.As]; or ask next and adjust
// what that said, with [Classification.With].
//
// # What fails, fails slowly
//
// Whatever is not known is tried again as [Slow], never [OnChange]: a new error code must not stop a resource. So are a
// link that panics, gives an error or does not decide, and a nil *Failure. Nothing here panics while classifying; what
// is wrong with a rule or a matcher is found at set-up, where it panics and says which and why.
//
// Bodies of errors may be anything: of each at most 1 MiB is read, JSON or not, cut off or not, and they stay readable
// for whoever comes next.
package classify
