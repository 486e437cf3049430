// Package classify decides how soon a reconciler retries after an error, and
// how the error is reported.
//
// The decision is a [Retry]. A later row of this list waits longer:
//
//	Retry     for errors that                       retried           severity
//	Fast      end within seconds                    within seconds    Warning
//	Slow      end within minutes, or are unknown    within minutes    Warning
//	VerySlow  rarely end without help               at each resync    Warning
//	OnChange  end only if the spec changes          at each resync    Error
//	Never     end only if the spec changes          after the change  Error
//
// [NewFailure] reads an error into a [Failure]: the code, the status, the
// message and the delay of the service. A chain of links turns the Failure into
// a [Classification]. [Compose] makes the handler that runs the chain:
//
//	redis := classify.Table{
//		{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
//	}
//	handle := classify.Compose(redis.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
//
// # Your cloud
//
// The package itself knows no cloud. An [Errors] reads the errors of one SDK
// and holds a table of its codes. Add it to a reconciler by one line:
//
//	flow.WithErrors(azure.Errors())   // github.com/windlass-go/windlass/classify/azure
//	flow.WithErrors(aws.Errors())     // github.com/windlass-go/windlass/classify/aws, a module of its own
//	flow.WithErrors(google.Errors())  // github.com/windlass-go/windlass/classify/google, a module of its own
//	flow.WithErrors(grpc.Errors())    // github.com/windlass-go/windlass/classify/grpc, a module of its own
//
// Without a reconciler, pass it to [NewFailure], as above. For several clouds,
// pass several, as in flow.WithErrors(google.Errors(), grpc.Errors()). For any
// other service, [NewErrors] makes an Errors from a table and a reader, which
// is a function of a few lines. If no reader knows an error, its methods are
// called, such as ErrorCode() string. [Errors] lists them.
//
// # Rules and links
//
// Most special cases of a service fit into a row of a [Table]: a code, a nested
// code, a status, a [Matcher] for the message, API versions, the link that
// failed, a Go error. The row sets the Retry, and optionally a delay. The first row that
// matches decides. Codes and texts are compared exactly as the service writes
// them. A row that an earlier row contradicts is a set-up error.
//
// If no link decides, the table of the service decides, and then general rules
// ([Compose]). [Table.String] prints them.
//
// For a decision that no row can express, write a link, which is a plain
// function. It decides with [Failure.As]. Or it calls next and adjusts the
// answer with [Classification.With].
//
// # Failing closed
//
// Every unknown error is [Slow], never [OnChange]: a new error code must not
// stop a resource. A fault of a link is Slow, too ([Compose]), and so is an
// error that panics while a row compares it: no later row decides. Classifying
// never panics. A wrong rule or matcher panics at set-up, and the message names it.
package classify
