// Package classify decides what a failed pass of a reconciler means: how soon
// to try again, and what to report.
//
// The answer is a [Retry]. The values are ordered by the wait:
//
//	Fast      over in seconds            Warning
//	Slow      over in minutes, unknown   Warning
//	VerySlow  tried at each resync       Warning
//	OnChange  until the spec changes     Error; tried at each resync, too
//	Never     until the spec changes     Error
//
// [NewFailure] reads an error into a [Failure]: the code, the status, the
// message and the delay of the service. A chain of links turns the Failure into
// a [Classification]; [Compose] makes the handler that runs the chain:
//
//	redis := classify.Table{
//		{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
//	}
//	handle := classify.Compose(redis.Chain())
//	c, _ := handle(ctx, classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
//
// # Your cloud
//
// The package knows no cloud. An [Errors] knows one: it reads the errors of the
// SDK, and it has a table of codes. One line gives it to a reconciler:
//
//	flow.WithErrors(azure.Errors())   // github.com/windlass-go/windlass/classify/azure
//	flow.WithErrors(aws.Errors())     // github.com/windlass-go/windlass/classify/aws, a module of its own
//	flow.WithErrors(google.Errors())  // github.com/windlass-go/windlass/classify/google, a module of its own
//	flow.WithErrors(grpc.Errors())    // github.com/windlass-go/windlass/classify/grpc, a module of its own
//
// Without a reconciler, pass it to [NewFailure], as above. For several clouds,
// pass several, as in flow.WithErrors(google.Errors(), grpc.Errors()).
// [NewErrors] makes an Errors for any other service from a reader, which is a
// function of a few lines, and a table. An error that no reader knows is read
// by its methods, such as ErrorCode() string. [Errors] lists them.
//
// A reader also reports what an error means for the object: [Failure.NotFound],
// [Failure.Transient] and [Failure.Ended]. A joined error has them only if each
// of its causes has them. A panic, an unreadable error, and an error that
// unwraps without end have none of them.
//
// # Rules and links
//
// Most special cases of a service fit into a row of a [Table]: a code, a nested
// code, a status, a [Matcher] for the message, API versions, a Go error or its
// type. The row names the Retry that then applies, and perhaps a delay. The
// first row that matches decides. Codes and texts are compared exactly as the
// service writes them. A row that an earlier row contradicts is a set-up error.
//
// If no link decides, the table of the service does, and then general rules for
// the HTTP status and the kind of the error. To see all of them, print the
// tables in this order:
//
//	fmt.Print(append(redis, azure.Codes()...))
//
// For a decision that no row can express, write a link, which is a plain
// function. It decides with [Failure.As]. Or it calls next and adjusts the
// answer with [Classification.With].
//
// # Failing closed
//
// Every unknown error is [Slow], never [OnChange]: a new error code must not
// stop a resource. A failure is Slow, too, if a link panics, returns an error
// or does not decide, and so is a nil *Failure. An error that panics when a row
// looks for a Go error in it is Slow, and no later row decides. The delays of a
// service are from a second to an hour. Classifying never panics. A
// wrong rule or matcher panics at set-up, and the message names it.
package classify
