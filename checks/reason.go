package checks

import "github.com/windlass-go/windlass/internal/reason"

// The reasons of the blocks of the prebuilt checks. The option [Reason] replaces them.
const (
	// ReasonOwnerNotFound: the owner does not exist.
	ReasonOwnerNotFound = "OwnerNotFound"
	// ReasonOwnerNotReady: the owner exists and reports that it is not ready.
	ReasonOwnerNotReady = "OwnerNotReady"
	// ReasonOwnerUnknown: the owner exists and has not reported whether it is ready.
	ReasonOwnerUnknown = "OwnerReadinessUnknown"
	// ReasonOwnerStale: the owner was ready, but for an older generation of its spec.
	ReasonOwnerStale = "OwnerReadinessStale"
	// ReasonOwnerDeleting: the owner is being deleted.
	ReasonOwnerDeleting = "OwnerDeleting"
	// ReasonOwnerByID: only the owner's cloud ID is known, and the check needs more. It is for
	// OwnerReady with [ByIDBlocks], and for the checks that read fields of the owner.
	ReasonOwnerByID = "OwnerKnownByIDOnly"
	// ReasonOwnerState: the owner is in a state that does not allow the work.
	ReasonOwnerState = "OwnerState"
	// ReasonOwnerStateUnknown: the owner has not reported the state that the check reads.
	ReasonOwnerStateUnknown = "OwnerStateUnknown"
	// ReasonOwnerWrongKind: the owner has another Go type than the check expects.
	ReasonOwnerWrongKind = "OwnerWrongKind"
	// ReasonOwnerUnsuitable: the owner does not suit the resource. The message says why.
	ReasonOwnerUnsuitable = "OwnerUnsuitable"
	// ReasonState: the resource is in a state that does not allow the work.
	ReasonState = "ResourceState"
	// ReasonStateUnknown: the resource has not reported the state that the check needs, and is not known to be absent.
	ReasonStateUnknown = "ResourceStateUnknown"
	// ReasonResourceAbsent: the resource is not in the cloud although Apply has succeeded.
	ReasonResourceAbsent = "ResourceAbsent"
	// ReasonReferenceNotFound: an object that the resource refers to does not exist.
	ReasonReferenceNotFound = "ReferenceNotFound"
	// ReasonReferenceNotReady: an object that the resource refers to exists and is not known to be
	// ready.
	ReasonReferenceNotReady = "ReferenceNotReady"
	// ReasonReferenceByID: only the cloud ID of a referenced object is known, and the check needs
	// more ([ByIDBlocks]).
	ReasonReferenceByID = "ReferenceKnownByIDOnly"
	// ReasonApprovalPending: a person has to approve.
	ReasonApprovalPending = "ApprovalPending"
	// ReasonApprovalRejected: a person rejected the request for approval.
	ReasonApprovalRejected = "ApprovalRejected"
	// ReasonApprovalDisconnected: the approved thing was disconnected.
	ReasonApprovalDisconnected = "ApprovalDisconnected"
	// ReasonApprovalAbsent: the thing to approve, or its approval status, is not reported yet.
	ReasonApprovalAbsent = "ApprovalAbsent"
	// ReasonApprovalUnknown: the approval has a status that is not in the [Vocabulary].
	ReasonApprovalUnknown = "ApprovalUnknown"
	// ReasonSpecInvalid: the spec breaks a rule.
	ReasonSpecInvalid = "SpecInvalid"
	// ReasonPaused: a person paused the resource.
	ReasonPaused = "Paused"
	// ReasonInvalid replaces a reason that is not valid; see [Block].
	ReasonInvalid = "InvalidReason"
)

// ValidReason reports whether s can be the reason of a Kubernetes condition. As for
// metav1.Condition, it must have 1 to 1,024 characters and match
// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$.
func ValidReason(s string) bool { return reason.Valid(s) }
