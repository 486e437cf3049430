// Package checks holds the guards of a reconciler: whether the owner is ready, whether the resource is in a state that
// allows work, whether what it refers to is there, whether a person approved. Each is a link of a chain and one line:
//
//	guards := chain.New(
//		checks.OnOwner[*Database](checks.OwnerReady()),
//		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
//		checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Spec.Network} }),
//	)
//
// # What a check sees
//
// There are two kinds, told apart by their request. An owner check, an [OwnerMiddleware], sees an [OwnerRequest]: the
// owner and nothing of the resource, so that it can run before the first call to the cloud. A check of the resource, a
// [Middleware], sees a [Request] with the owner in it. That an owner check cannot reach the resource is a compile error,
// not a rule to remember; [OnOwner] carries owner checks into a chain about the resource.
//
// # What a check says
//
// A [Result] is made by [Proceed], [Block] or [Skip], and by nothing else. A block is not an error: it says not yet, why
// (a reason for machines, a message for people), how soon to look again ([Retry], [RetryIn]) and what it waits for
// ([WaitingFor]). An error says that the check could not find out.
//
// # The prebuilt checks
//
//	OwnerReady               the owner is ready for its own generation
//	OwnerProvisioningState   the owner is in a state that allows work: any field, an allow or a deny set
//	OwnerIs, WithOwner       an objection in words against the owner, alone or beside the resource
//	ProvisioningState        the resource itself is in a state that allows work, as last seen
//	LiveState                the same, asked from the cloud just now
//	ReferenceReady           all objects that the resource refers to are found and ready
//	ApprovalPending          a person has approved
//	Valid                    the spec keeps a rule that admission cannot check
//	Paused                   nobody said stop
//
// What is not known never counts as good: an owner that is not found, a state that nobody reported, readiness of an
// older generation block, each with a reason of its own. The options that let such a case pass are named after it, as
// [UnknownProceeds], and what passes because of them is noted in the trace. OwnerReady and ReferenceReady let go on what
// can never be known: no owner at all, and an object of which only the cloud ID is known ([ByIDBlocks]).
//
// Selectors may follow pointers without asking: a nil on the way to a field means that nobody has reported it.
//
// # Writing one
//
// [Check] makes a link of a function that decides and never sees next, [Gate] one of a function that acts and then waits.
// [All] asks several at once and reports every blocker, [Cached] remembers a pass. A raw link, a func(next) Handler, is
// possible where the checks behind it matter to the decision; it has to call next, and to hand on the request it was
// given.
//
// Package checkstest tests what you wrote: with the cases that you know, and for the rules that every check has to keep, in the
// cases that nobody thinks of.
//
// [Convert] makes a chain that was written for one version of an API serve the next one.
//
// # Running a chain
//
// [Compose] makes a handler of a chain. It fails closed: a link that forgets next, the zero Result, a panic are errors
// that name the link, and never let the work through.
package checks
