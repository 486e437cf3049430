package flow

import "errors"

// ErrMisuse is in every error about a mistake in a program that uses this
// package, such as the zero Progress of a link. The text names the link and says
// what to change. Test for it with errors.Is.
var ErrMisuse = errors.New("misuse of package flow")

// misuse is the text of a mistake. It is in an error that wraps ErrMisuse.
type misuse string

func (m misuse) Error() string { return string(m) }

// Is reports whether target is ErrMisuse.
func (misuse) Is(target error) bool { return target == ErrMisuse }

// The mistakes of links and operations.
const (
	errNoKey          = misuse("flow: Operations.Key returned an empty key: return the identity of the resource, such as its namespace and name")
	errMadeAgain      = misuse("include the UID in Operations.Key, and call Reconciler.Remove for resources that are gone")
	errMisplaced      = misuse("this point does not accept the result: Ignore is for checks before Apply and Delete, Release for a deletion, and Finished for a resource that no user deletes")
	errForeignRequest = misuse("the request or the context does not belong to this pass: pass to next the request and the context that the link received, or values derived from them")
	errNoOutcome      = misuse("the zero Outcome is not a result: return the outcome of next, an error, or flow.Stop")
	errForeignOutcome = misuse("the outcome does not belong to this pass: return the outcome of next, an error, or flow.Stop")
	errNotSeen        = misuse("the link returned InSync, but Get did not succeed in this pass: return the result of next, or set Observation.Skip to the reason")
	errNoProgress     = misuse("the zero Progress is not a result: return flow.Done or flow.InProgress")
	errNoToken        = misuse("InProgress without a token: return the poller's resume token; without it, the next pass would start the operation again")
	errUnderWay       = misuse("the link returned Done or Skip, but the operation is under way: return the result of next")
	errNotDone        = misuse("the link returned Done, but the operation did not: return the result of next, or flow.Skip to replace the operation")
	errWrongType      = misuse("the resource is not of the type that the extensions of its kind are registered for")
	errUnknownKind    = misuse("unknown kind")
)
