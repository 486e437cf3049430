package ctrlx

// Reasons that ctrlx gives to the condition Ready, besides those of checks, errors and package flow. Where the API server
// refused something it is the server's own word: Conflict, Forbidden, NotFound (metav1.StatusReason).
const (
	// ReasonRetrying: there was a [RetriableError], and it carried no reason of its own.
	ReasonRetrying = "Retrying"
	// ReasonHookFailed: a hook returned an error without a code. The message names
	// the hook, except at Pass and Delete. A panic of a hook has
	// [flow.ReasonPanic].
	ReasonHookFailed = "HookFailed"
	// ReasonTimeout: the object was not ready within its time-out ([TimeoutConfiguration]).
	ReasonTimeout = "Timeout"
	// ReasonSuspended: the object says that nothing is to be done ([SuspendConfiguration]).
	ReasonSuspended = "Suspended"
	// ReasonNotPaused is the reason of the condition [ConditionPaused] of an object that was paused and continues.
	ReasonNotPaused = "NotPaused"
	// ReasonPassTimeout: the pass did not end before its deadline ([WithPassTimeout]).
	ReasonPassTimeout = "PassTimeout"
	// ReasonRetryHandled is the reason of the condition [ConditionRecord] if the last handled retry is all that it stores.
	ReasonRetryHandled = "Handled"
	// ReasonTerminal: there was a reconcile.TerminalError, about which nothing else is known.
	ReasonTerminal = "Terminal"
	// ReasonStatusInvalid: the API server refused the status that operations have found out, as its definition does not allow it.
	ReasonStatusInvalid = "StatusInvalid"
	// ReasonReleased is the reason of the event about an object that was released without a Delete ([checks.Release]). Its
	// note says why.
	ReasonReleased = "Released"
	// ReasonDeleted: the operator has ended its part of the deletion, or has none because its finalizer is missing.
	// Finalizers of other controllers keep the object.
	ReasonDeleted = "Deleted"
	// ReasonOrphaned is the reason of the event about a cloud resource whose object vanished after Apply was called, and that
	// could not be deleted. The event is about the namespace of the object, and in it, or about an object without a namespace.
	// Its note names the object. Delete the resource in the cloud.
	ReasonOrphaned = "Orphaned"
	// ReasonChecks is the reason of Reconciling, Stalled and Finished while a check of [Guards] does not pass.
	ReasonChecks = "ChecksNotPassed"
	// ReasonChecksPassed is that of Ready=Unknown: the checks of [Guards] passed, and the caller has not set Ready yet.
	ReasonChecksPassed = "ChecksPassed"
	// ReasonOperationUnderWay is the reason of the condition [ConditionRecord] while an operation is under way.
	ReasonOperationUnderWay = "UnderWay"
	// ReasonOperationUnverified: the object has a stored operation that cannot be read, has no valid signature
	// ([WithTokenKey]), or is stored where users can write. It is neither polled nor started again, because it may be
	// under way in the cloud.
	ReasonOperationUnverified = "OperationUnverified"
	// ReasonOperationCopied is the reason of the event about an object whose status was copied from another object while
	// an operation was under way there. The operation of the other object is ignored.
	ReasonOperationCopied = "OperationCopied"
	// ReasonSettled is the reason of the condition [ConditionRecord] of a Ready object whose success is stored.
	ReasonSettled = "Settled"
	// ReasonOverwritten is the reason of the event about an object whose condition Ready, Reconciling or Stalled another
	// writer changed. Its note names the field manager of the writer. The pass corrected the conditions.
	ReasonOverwritten = "ConditionsOverwritten"
	// ReasonDependencyCycle: the object waits for itself by way of other objects, or for an object that it keeps
	// itself ([WithKeeping]). Only a change of a reference ends that.
	ReasonDependencyCycle = "DependencyCycle"
	// ReasonProcessing is the reason of the condition [ConditionRecord] while the clock of a time-out runs ([TimeoutConfiguration]).
	ReasonProcessing = "Processing"
)
