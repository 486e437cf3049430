package checks

import "github.com/windlass-go/windlass/internal/reason"

// Reasons that the prebuilt checks block with. [Reason] replaces them.
const (
	// ReasonOwnerNotFound: the owner was looked for and is not there.
	ReasonOwnerNotFound = "OwnerNotFound"
	// ReasonOwnerNotReady: the owner is there and says that it is not ready.
	ReasonOwnerNotReady = "OwnerNotReady"
	// ReasonOwnerUnknown: the owner is there and nobody reported whether it is ready.
	ReasonOwnerUnknown = "OwnerReadinessUnknown"
	// ReasonOwnerStale: the owner was ready, but for an older generation of its spec.
	ReasonOwnerStale = "OwnerReadinessStale"
	// ReasonOwnerDeleting: the owner is being deleted.
	ReasonOwnerDeleting = "OwnerDeleting"
	// ReasonOwnerByID: only the owner's cloud ID is known, and that is not enough: for OwnerReady with [ByIDBlocks], and
	// for the checks that look into the owner.
	ReasonOwnerByID = "OwnerKnownByIDOnly"
	// ReasonOwnerState: the owner is in a state that does not allow the work.
	ReasonOwnerState = "OwnerState"
	// ReasonOwnerStateUnknown: the owner has not reported the state that is asked for.
	ReasonOwnerStateUnknown = "OwnerStateUnknown"
	// ReasonOwnerWrongKind: the owner is of another kind than the check is for.
	ReasonOwnerWrongKind = "OwnerWrongKind"
	// ReasonOwnerUnsuitable: the owner does not suit the resource, the message says why.
	ReasonOwnerUnsuitable = "OwnerUnsuitable"
	// ReasonState: the resource is in a state that does not allow the work.
	ReasonState = "ResourceState"
	// ReasonStateUnknown: the resource is there and has not reported the state that is asked for.
	ReasonStateUnknown = "ResourceStateUnknown"
	// ReasonReferenceNotFound: an object that the resource refers to is not there.
	ReasonReferenceNotFound = "ReferenceNotFound"
	// ReasonReferenceNotReady: an object that the resource refers to is there and not known to be ready.
	ReasonReferenceNotReady = "ReferenceNotReady"
	// ReasonReferenceByID: of what the resource refers to only the cloud ID is known, and that is not enough ([ByIDBlocks]).
	ReasonReferenceByID = "ReferenceKnownByIDOnly"
	// ReasonApprovalPending: a person has to approve.
	ReasonApprovalPending = "ApprovalPending"
	// ReasonApprovalRejected: a person said no.
	ReasonApprovalRejected = "ApprovalRejected"
	// ReasonApprovalDisconnected: what was approved was taken apart again.
	ReasonApprovalDisconnected = "ApprovalDisconnected"
	// ReasonApprovalAbsent: what is to be approved is not there yet, or nothing is said of its approval.
	ReasonApprovalAbsent = "ApprovalAbsent"
	// ReasonApprovalUnknown: the state of the approval is none that is known.
	ReasonApprovalUnknown = "ApprovalUnknown"
	// ReasonSpecInvalid: the spec breaks a rule.
	ReasonSpecInvalid = "SpecInvalid"
	// ReasonPaused: a person said stop.
	ReasonPaused = "Paused"
	// ReasonInvalid stands in for a reason that is none; see [Block].
	ReasonInvalid = "InvalidReason"
)

// ValidReason tells whether s can be the reason of a Kubernetes condition: 1 to 1,024 characters that match
// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$, as metav1.Condition says.
func ValidReason(s string) bool { return reason.Valid(s) }
