// Package checks decides whether a reconciler may work on a resource now. Is
// the owner ready? Has a person approved? Each check is one link of a chain and
// one line of code:
//
//	all := chain.New(
//		checks.OnOwner[*Database](checks.OwnerReady()),
//		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
//		checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Spec.Network} }),
//	)
//
// The flow runs these chains at its extension points. [Compose] runs one
// anywhere else.
//
// # Which check to use
//
// The work waits until:
//
//   - the owner is ready: [OwnerReady]
//   - the owner exists, ready or not: [OwnerFound]
//   - a field of the owner has a certain state: [OwnerProvisioningState]
//   - the owner meets your rule: [OwnerIs], or [OwnerFits] if the rule compares
//     the owner with the resource
//   - the resource is in a certain state: [ProvisioningState], or [LiveState]
//     if the check has to read the state from the cloud
//   - the objects that the resource refers to are ready: [ReferenceReady]
//   - these objects meet your rule: [ReferenceIs]
//   - the objects of a set meet your rule: [SetIs]
//   - no other object uses the resource any more: [Unused]
//   - no older object has the same: [Unique]
//   - the resource meets your rule: [ResourceIs]
//   - a person has approved: [ApprovalPending]
//   - the resource is not paused: [Paused]
//   - anything else is true: [Check], or [Gate] for a function that starts work
//     and waits for it
//
// [OwnerFrom] finds the owner by a query, if no field names it.
//
// A [Slot] carries a value from a check to later checks and to Apply, within one
// pass.
//
// The request separates two kinds of checks. An owner check is an
// [OwnerMiddleware]. It receives an [OwnerRequest], which holds the owner and
// nothing of the resource, so it can run before the first call to the cloud. A
// check of the resource is a [Middleware]. It receives a [Request], which holds
// the resource and its owner. An owner check that uses the resource does not
// compile. [OnOwner] puts owner checks into a chain of resource checks.
//
// [All] runs several checks and reports every blocker. [Cached] remembers that
// an expensive check proceeded. [Convert] reuses a chain written for one
// version of an API for another version.
//
// # Results
//
// [Result] lists the decisions of a check. An error means that the check could
// not decide: the flow classifies it and retries.
//
// A block is not an error. It has a reason for machines and a message for people.
// Options set the delay ([WithRetry], [WithAfter]; [classify.Never] is a final
// failure), the awaited objects ([WithWaitingFor], [WithWaitingForSelf]), and
// whether the conditions stay as they are ([WithStatusKept]).
//
// # Sets and following
//
// A [Query] names a set of objects, which can be awaited and followed like an
// object ([Query.Ref]). A check lists a set with the [Lister] of its request,
// and an engine that watches requeues the resource when the set changes. Changes
// of the resource itself do not count.
//
// A block ends its wait as soon as the resource is Ready. [OwnerRequest.Follow]
// states that the resource depends on an object also later, so that a rotated
// Secret reaches the cloud. [WithFollowing] lists the checks that do so.
//
// # Writing a check
//
// [Check] makes a link from a function that decides. The function never sees
// next, so it cannot forget it:
//
//	quota := checks.Check("quota", func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
//		free, err := quotas.Free(ctx, req.Resource.Spec.Region)
//		if err != nil {
//			return checks.Result{}, err
//		}
//		if free < req.Resource.Spec.Cores {
//			return checks.Block("QuotaExceeded", fmt.Sprintf("%d cores are free; raise the quota", free)), nil
//		}
//		return checks.Proceed(), nil
//	})
//
// Write a raw link, a func(next) Handler, only if the decision depends on the
// inner checks. It must call next with the request that it received, or with a
// copy of it. Package checkstest tests your checks: it runs your cases, and it
// tries the rules that every check must keep.
//
// # Unknown is never treated as ready
//
// An owner that is not found, a state that is not reported, and stale readiness
// block, each with its own reason. Each option that relaxes this names the case
// it allows, as [WithUnknownAllowed] does. The trace shows each pass that
// proceeded because of such an option.
//
// # States of the resource
//
// The words for states and approvals are Azure's unless a check is given a
// [Vocabulary].
//
// A selector of a state or a field may dereference nil: the field is then not
// reported. docs/checks/nil-pointers.md lists the functions that must not.
package checks
