// Package classify decides what a failed pass of a reconciler means: how soon to try again, and what to report.
//
// There is one answer, a [Retry], ordered by the wait:
//
//	Fast      over in seconds            Warning
//	Slow      over in minutes, unknown   Warning
//	VerySlow  tried at each resync       Warning
//	OnChange  until the spec changes     Error
//
// An error is read once into a [Failure]: the code, the status, the message and the delay of the service. A chain of links
// turns the Failure into a [Classification]; [Compose] makes the handler that runs the chain:
//
//	redis := classify.Table{
//		{Name: "Redis is busy", Code: "Conflict", Message: classify.Contains("try again later"), Retry: classify.Fast},
//	}
//	handle := classify.Compose(chain.New(redis.Link()))
//	c, _ := handle(ctx, classify.NewFailure(err, "2024-05-01", time.Time{}, azure.Errors()))
//
// # Your cloud
//
// The package knows no cloud. An [Errors] knows one: it reads the errors of the SDK, and it has a table of codes. A
// reconciler gets it by one line:
//
//	flow.WithErrors(azure.Errors())   // github.com/windlass-go/windlass/classify/azure
//	flow.WithErrors(aws.Errors())     // github.com/windlass-go/windlass/classify/aws, a module of its own
//	flow.WithErrors(google.Errors())  // github.com/windlass-go/windlass/classify/google, a module of its own
//	flow.WithErrors(grpc.Errors())    // github.com/windlass-go/windlass/classify/grpc, a module of its own
//
// A chain that stands alone passes it to [NewFailure], as above. Errors of several clouds are given together, as in
// flow.WithErrors(google.Errors(), grpc.Errors()). [NewErrors] makes one for any other service: a [Reader], which is a
// function of a few lines, and a table. Without any, an error says about itself what it can by methods such as
// ErrorCode() string; [Errors] lists them.
//
// A Reader also says what an error means for the object: [Failure.NotFound], [Failure.Transient] and [Failure.Ended]. A
// joined error has them only if each of its causes does. A panic, an error that no reader can read, and an error that
// unwraps without end have none of them.
//
// # Rules and links
//
// Most special cases of a service are a row of a [Table]: a code, a nested code, a status, a [Matcher] for the message,
// API versions, and the Retry that then applies. The first row that matches decides. Codes and texts are compared exactly
// as the service writes them. A row with another Retry that an earlier row covers is an error of set-up.
//
// [Default] decides what no link does: by the table of the service, by HTTP status, and by the kind of the error. To see
// it all, print the tables in this order:
//
//	fmt.Print(append(redis, azure.Codes()...))
//
// A decision that no row can express is a link, a plain function. It decides by itself, with [Failure.As], or asks next
// and adjusts the answer, with [Classification.With].
//
// # Failing closed
//
// Every unknown error is [Slow], never [OnChange]: a new error code must not stop a resource. So is the failure if a link
// panics, returns an error or does not decide, and a nil *Failure. Nothing panics while classifying. A wrong rule or
// matcher panics at set-up, and the message names it.
package classify
