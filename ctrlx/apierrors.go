package ctrlx

import (
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
)

// Codes of errors that a client makes without an answer of the API server. All other
// codes of [Errors] are reasons of the API server (metav1.StatusReason).
const (
	CodeNoKindMatch         = apierr.CodeNoKindMatch         // meta.NoKindMatchError: the kind is not installed
	CodeNoResourceMatch     = apierr.CodeNoResourceMatch     // meta.NoResourceMatchError: the resource is not installed
	CodeAmbiguousKind       = apierr.CodeAmbiguousKind       // meta.AmbiguousKindError
	CodeAmbiguousResource   = apierr.CodeAmbiguousResource   // meta.AmbiguousResourceError
	CodeDiscoveryFailed     = apierr.CodeDiscoveryFailed     // discovery.ErrGroupDiscoveryFailed
	CodeNotRegistered       = apierr.CodeNotRegistered       // runtime.IsNotRegisteredError: the scheme lacks the type
	CodeCacheNotStarted     = apierr.CodeCacheNotStarted     // cache.ErrCacheNotStarted
	CodeKindNotCached       = apierr.CodeKindNotCached       // cache.ErrResourceNotCached
	CodeUnexpectedObject    = apierr.CodeUnexpectedObject    // apierrors.UnexpectedObjectError
	CodeKindNotWatched      = apierr.CodeKindNotWatched      // a reference to a kind that the manager does not watch: see WithWatchedKinds
	CodeNamespaceNotAllowed = apierr.CodeNamespaceNotAllowed // a reference into another namespace: see WithForeignReferences
	CodeNamespaceNotWatched = apierr.CodeNamespaceNotWatched // a reference into a namespace that the cache of the manager does not have
)

// Errors reads the errors of the Kubernetes API, of its clients and of discovery, and decides by [ErrorCodes].
//
//	Code       the reason (metav1.StatusReason), or one of the codes of this package
//	Status     the HTTP code
//	After      retryAfterSeconds
//	Inner      the causes in the details: FieldValueInvalid, NamespaceTerminating
//	Transient  Conflict, Expired, InternalError, ServerTimeout, ServiceUnavailable, Timeout, TooManyRequests
//	NotFound   NotFound for an object with a name
//
// NotFound stays false if the API server does not serve the kind, because the object
// may exist. Ended stays false: no answer of the API server says that an operation
// failed. Return flow.Failed for that.
//
// [New] knows these errors without an option, and asks the readers of flow.WithErrors first. There NotFound is always
// false: the resource lives in a cloud, and a Secret that [checks.LiveState] does not find must not look like an absent
// resource. If the resource itself is a Kubernetes object, say so:
//
//	ctrlx.WithFlow(flow.WithErrors(ctrlx.Errors()))
func Errors() classify.Errors { return apierr.Reader }

// ErrorCodes is the table of [Errors]. It is a copy: change it as you like and put it into a chain, as
// ErrorCodes().Link().
//
// No row is [classify.OnChange], because the refused object is seldom the reconciled one.
func ErrorCodes() classify.Table {
	return apierr.Table()
}
