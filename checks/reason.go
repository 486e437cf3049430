package checks

import "github.com/windlass-go/windlass/internal/reason"

// The reasons of the blocks of the prebuilt checks. The option [WithReason]
// replaces most of them.
const (
	ReasonOwnerNotSet          = "OwnerNotSet"            // no reference names the owner, and one is needed
	ReasonOwnerNotFound        = "OwnerNotFound"          // the owner does not exist
	ReasonOwnerAmbiguous       = "OwnerAmbiguous"         // a query names the owner, and several objects match it
	ReasonOwnerNotReady        = "OwnerNotReady"          // the owner reports that it is not ready
	ReasonOwnerUnknown         = "OwnerReadinessUnknown"  // the owner has not reported whether it is ready
	ReasonOwnerStale           = "OwnerReadinessStale"    // the owner was ready, but for an older generation of its spec
	ReasonOwnerDeleting        = "OwnerDeleting"          // the owner is being deleted
	ReasonOwnerByID            = "OwnerKnownByIDOnly"     // only the owner's cloud ID is known, and the check needs more
	ReasonOwnerState           = "OwnerState"             // the owner is in a state that does not allow the work
	ReasonOwnerStateUnknown    = "OwnerStateUnknown"      // the owner has not reported the state that the check reads
	ReasonOwnerWrongKind       = "OwnerWrongKind"         // the owner has another Go type than the check expects
	ReasonOwnerUnsuitable      = "OwnerUnsuitable"        // the owner does not suit the resource, as the message says
	ReasonState                = "ResourceState"          // the resource is in a state that does not allow the work
	ReasonStateUnknown         = "ResourceStateUnknown"   // the resource, which may exist, has not reported a state
	ReasonResourceUnsuitable   = "ResourceUnsuitable"     // there is an objection to the resource, as the message says
	ReasonResourceAbsent       = "ResourceAbsent"         // the resource is not in the cloud although Apply has succeeded
	ReasonReferenceNotSet      = "ReferenceNotSet"        // a reference has no name
	ReasonReferenceNotFound    = "ReferenceNotFound"      // a referenced object does not exist
	ReasonReferenceNotReady    = "ReferenceNotReady"      // a referenced object is not known to be ready
	ReasonReferenceByID        = "ReferenceKnownByIDOnly" // only the cloud ID of a referenced object is known, and the check needs more
	ReasonReferenceUnknown     = "ReferenceStateUnknown"  // a referenced object has not reported the field that the check reads
	ReasonReferenceWrongKind   = "ReferenceWrongKind"     // a referenced object has another Go type than the check expects
	ReasonReferenceUnsuitable  = "ReferenceUnsuitable"    // a referenced object does not suit the resource, as the message says
	ReasonInUse                = "InUse"                  // other objects still use the resource that a user deletes
	ReasonNotUnique            = "NotUnique"              // an older object has what only one object may have
	ReasonApprovalPending      = "ApprovalPending"        // a person has to approve
	ReasonApprovalRejected     = "ApprovalRejected"       // a person rejected the request for approval
	ReasonApprovalDisconnected = "ApprovalDisconnected"   // the approved thing was disconnected
	ReasonApprovalAbsent       = "ApprovalAbsent"         // the thing to approve, or its approval status, is not reported yet
	ReasonApprovalUnknown      = "ApprovalUnknown"        // the approval has a status that is not in the [Vocabulary]
	ReasonSpecInvalid          = "SpecInvalid"            // the spec breaks a rule
	ReasonPaused               = "Paused"                 // a person paused the resource
	ReasonInvalid              = "InvalidReason"          // a check gave a reason that is not valid; see [Block]
)

// ValidReason reports whether s can be the reason of a Kubernetes condition. As
// for metav1.Condition, it must have 1 to 1,024 characters and match
// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$.
func ValidReason(s string) bool { return reason.Valid(s) }
