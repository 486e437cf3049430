// Package checks holds the checks that a reconciler runs before it works on a resource. A check
// decides, for instance, whether the owner is ready or whether a person has approved. Each check is
// one link of a chain and one line of code:
//
//	guards := chain.New(
//		checks.OnOwner[*Database](checks.OwnerReady()),
//		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
//		checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Spec.Network} }),
//	)
//
// # Two kinds of checks
//
// The type of the request separates the two kinds:
//
//   - An owner check is an [OwnerMiddleware]. It receives an [OwnerRequest], which holds the owner
//     and nothing of the resource. So it can run before the first call to the cloud.
//   - A check of the resource is a [Middleware]. It receives a [Request], which holds the resource
//     and its owner.
//
// An owner check that uses the resource does not compile. [OnOwner] puts owner checks into a chain
// of resource checks.
//
// # Results
//
// A check returns one of these results:
//
//	Proceed    the next check runs, and then the work
//	Skip       the work runs without the inner checks
//	Block      the work has to wait
//	Ignore     the resource belongs to another controller: nothing is written
//	Finished   the work is complete until the spec changes
//	Release    a resource that a user deletes goes without a deletion in the cloud
//
// A block is not an error. It states:
//
//   - why: a reason for machines and a message for people
//   - how soon to retry ([WithRetry], [WithAfter]); [classify.Never] is a final failure
//   - the awaited objects ([WithWaitingFor], [WithWaitingForSelf])
//   - whether the conditions stay as they are ([WithStatusKept])
//
// An error means that the check could not decide. A negative delay is ignored, and the trace shows
// it.
//
// # The prebuilt checks
//
//	OwnerReady               the owner is ready for its own generation
//	OwnerFound               the owner exists
//	OwnerProvisioningState   the owner is in a state that allows work: any field, an allow or a deny set
//	OwnerIs, OwnerFits       the user's function has no objection to the owner, alone or with the resource
//	ProvisioningState        the resource itself is in a state that allows work, as last seen
//	LiveState                the same, but the check reads the state from the cloud
//	ReferenceReady           all objects that the resource refers to are found and ready
//	ReferenceIs              the user's function has no objection to any of these objects
//	ResourceIs               the user's function has no objection to the resource, for instance to its spec
//	ApprovalPending          a person has approved
//	Paused                   no person has paused the resource
//
// Unknown is never treated as ready. An owner that is not found, a state that is not reported, and
// stale readiness block, each with its own reason. Each option that relaxes this names the case it
// allows, as [WithUnknownAllowed] does. The trace shows each pass that proceeded because of such an
// option.
//
// OwnerReady, OwnerFound and ReferenceReady proceed in two cases in which the answer can never be
// determined: a resource without an owner ([WithRequiredOwner]), and an object known only by its cloud
// ID ([WithByIDBlocked]). An owner that no reference names yet is no such case: it blocks
// ([ReasonOwnerNotSet]).
//
// # States of the resource
//
// The [Presence] in the [Request] says whether the resource is in the cloud: unknown, absent or
// present. Before Apply, ProvisioningState and LiveState decide by a reported state, whatever the
// presence is. If no state is reported:
//
//	absent             proceed: no operation can be under way
//	present, unknown   block
//
// Once Apply has succeeded ([OwnerRequest.Applied]), a check guards Ready. An absent resource then
// always blocks, because it is missing. Without [WithAllowed] and [WithDenied] only a final good state
// proceeds, so that a failed resource does not become Ready.
//
// The words for states and approvals are Azure's unless the kind has a [Vocabulary].
//
// # Nil pointers
//
// A selector of a state may dereference nil. The state is then not reported. The trace shows where,
// so that a bug in the selector is visible.
//
// A function that returns a list of references or a boolean must not dereference nil, nor must the
// objection of ResourceIs. The check fails, because one nil would hide the other references.
// [OptionalRefs] takes references that may be nil.
//
// If the list function of ApprovalPending dereferences nil, the approvals are not reported.
//
// # Handing over what a check found
//
// A [Slot] carries a value from a check to later checks and to Apply, within one
// pass. Apply then needs no second lookup, and acts on the object that the check
// approved:
//
//	var subnet = checks.NewSlot[*Subnet]("subnet") // once, as a variable of the package
//
//	subnet.Set(req, s)          // in the check
//	s, err := subnet.Get(req)   // in a later check, a link, or Apply
//
// [WithSlot] sets a slot to the owner that OwnerIs or OwnerFits found suitable.
// Reading a slot that is not set is an error ([ErrSlotUnset]). A pass that polls
// an operation under way skips the checks before Apply, so a slot may be unset
// when the request has a Token. A check that [Cached] remembers sets nothing.
//
// # Writing a check
//
// [Check] makes a link from a function that decides and never sees next. [Gate] makes a link from a
// function that acts and then waits. [All] runs several checks and reports every blocker. [Cached]
// remembers that a check proceeded. Observers see each check within these, and within OnOwner.
//
// Write a raw link, a func(next) Handler, only if the decision depends on the inner checks. A raw
// link must call next with the request that it received.
//
// Package checkstest tests your checks. It runs your own cases, and it tests the rules that every
// check has to keep.
//
// [Convert] reuses a chain written for one version of an API for another version.
//
// # Running a chain
//
// [Compose] makes a handler from a chain. It fails closed: a link that forgets next, the zero
// Result and a panic are errors that name the link. No result with an error proceeds. Links made by
// Check and Gate refuse a request that no Compose opened. So a chain of checks that Then runs fails
// ([ErrNotComposed]).
package checks
