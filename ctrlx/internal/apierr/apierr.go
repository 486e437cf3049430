// Package apierr reads the errors of the Kubernetes API, of its clients and of discovery.
package apierr

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
)

// Codes of errors that a client makes without an answer of the API server. All other
// codes are reasons of the API server (metav1.StatusReason).
const (
	CodeNoKindMatch         = "NoKindMatch"         // meta.NoKindMatchError: the kind is not installed
	CodeNoResourceMatch     = "NoResourceMatch"     // meta.NoResourceMatchError: the resource is not installed
	CodeAmbiguousKind       = "AmbiguousKind"       // meta.AmbiguousKindError
	CodeAmbiguousResource   = "AmbiguousResource"   // meta.AmbiguousResourceError
	CodeDiscoveryFailed     = "DiscoveryFailed"     // discovery.ErrGroupDiscoveryFailed
	CodeNotRegistered       = "NotRegistered"       // runtime.IsNotRegisteredError: the scheme lacks the type
	CodeCacheNotStarted     = "CacheNotStarted"     // cache.ErrCacheNotStarted
	CodeKindNotCached       = "KindNotCached"       // cache.ErrResourceNotCached
	CodeUnexpectedObject    = "UnexpectedObject"    // apierrors.UnexpectedObjectError
	CodeKindNotWatched      = "KindNotWatched"      // a reference to a kind that the manager does not watch: see WithWatchedKinds
	CodeNamespaceNotAllowed = "NamespaceNotAllowed" // a reference into another namespace: see WithForeignReferences
	CodeNamespaceNotWatched = "NamespaceNotWatched" // a reference into a namespace that the cache of the manager does not have
)

// NamespaceNotAllowedError is the error of a reference into another namespace.
type NamespaceNotAllowedError struct{ Namespace string }

// Error names the namespace and the fix.
func (e *NamespaceNotAllowedError) Error() string {
	return fmt.Sprintf("the namespace %q is not the namespace of the object: refer to an object of the same namespace, "+
		"or allow the reference with ctrlx.WithForeignReferences", e.Namespace)
}

var (
	// Reader reads all errors of Kubernetes.
	Reader = classify.NewErrors("kubernetes", readKubernetes, Table())

	// OtherObjects is the default of reconcilers. The reconciled resource is in a cloud, so an error of the API server is about
	// another object, for example a Secret. The absence of that object does not mean that the resource is absent.
	OtherObjects = classify.NewErrors("kubernetes", func(f *classify.Failure) bool {
		known := readKubernetes(f)
		f.NotFound = false
		return known
	}, Table())
)

// Table returns the table of the codes. No row is [classify.OnChange], because the refused
// object is seldom the reconciled one.
func Table() classify.Table {
	return slices.Concat(
		classify.Table{
			// Causes of the details. Sources: CauseType in k8s.io/apimachinery/pkg/apis/meta/v1, NamespaceTerminatingCause in
			// k8s.io/api/core/v1, DisruptionBudgetCause in k8s.io/api/policy/v1.
			{Name: RulePrefix + "NamespaceTerminating", Code: "Forbidden", InnerCode: "NamespaceTerminating", Retry: classify.Slow}, // the namespace is gone soon
			{Name: RulePrefix + causeFieldManager, Code: "Conflict", InnerCode: causeFieldManager, Retry: classify.VerySlow},
			{Name: RulePrefix + "ResourceVersionTooLarge", Code: "Timeout", InnerCode: "ResourceVersionTooLarge", Retry: classify.Fast},
			{Name: RulePrefix + "DisruptionBudget", Code: "TooManyRequests", InnerCode: "DisruptionBudget", Retry: classify.Slow},
			{Name: RulePrefix + "NotServed", Code: "NotFound", InnerCode: causeUnexpected, Retry: classify.Slow},
			// Texts of admission. Sources: k8s.io/apiserver/pkg/admission/plugin, resourcequota and webhook/errors.
			{Name: RulePrefix + "QuotaExceeded", Code: "Forbidden", Message: classify.Contains("exceeded quota:"), Retry: classify.Slow},
			{Name: RulePrefix + "WebhookFailed", Code: "InternalError", Message: classify.Contains("failed calling webhook"), Retry: classify.Slow},
			{Name: RulePrefix + "WebhookFailed", Code: "InternalError", Message: classify.Contains("conversion webhook for"), Retry: classify.Slow},
		},
		// Reasons. Source: StatusReason in k8s.io/apimachinery/pkg/apis/meta/v1, all of them. "Can never succeed" is VerySlow. A
		// conflict means that the object was read before its last change, and Expired that a list or a watch has to begin again.
		rules(classify.Fast, "Conflict", "Expired"),
		rules(classify.Slow, "AlreadyExists", "Forbidden", "Gone", "InternalError", "NotFound", "ServerTimeout", "ServiceUnavailable",
			"StorageReadError", "Timeout", "TooManyRequests", "Unauthorized"),
		rules(classify.VerySlow, "BadRequest", "Invalid", "MethodNotAllowed", "NotAcceptable", "RequestEntityTooLarge", "UnsupportedMediaType"),
		// Errors of clients. Sources: the Go types at the constants.
		rules(classify.Fast, CodeCacheNotStarted),
		rules(classify.Slow, CodeDiscoveryFailed, CodeNoKindMatch, CodeNoResourceMatch, CodeUnexpectedObject),
		rules(classify.VerySlow, CodeAmbiguousKind, CodeAmbiguousResource, CodeKindNotCached, CodeKindNotWatched, CodeNamespaceNotAllowed,
			CodeNamespaceNotWatched, CodeNotRegistered),
	)
}

// rules returns a row for each code.
func rules(retry classify.Retry, codes ...string) (rows classify.Table) {
	for _, code := range codes {
		rows = append(rows, classify.Rule{Name: RulePrefix + code, Code: code, Retry: retry})
	}
	return rows
}

// RulePrefix begins the name of each rule.
const RulePrefix = "Kubernetes"

const (
	causeFieldManager = string(metav1.CauseTypeFieldManagerConflict)
	causeUnexpected   = string(metav1.CauseTypeUnexpectedServerResponse)
)

// The rules of [Table] that other packages ask for.
const (
	RuleConflict = RulePrefix + "Conflict"
	RuleTooMany  = RulePrefix + "TooManyRequests"
	RuleTimeout  = RulePrefix + "ServerTimeout"
)

// readKubernetes is the function of [Reader].
func readKubernetes(f *classify.Failure) bool {
	var status apierrors.APIStatus
	if !errors.As(f.Err, &status) {
		return readKubernetesClient(f)
	}
	readStatus(f, status.Status())
	return true
}

func readStatus(f *classify.Failure, s metav1.Status) {
	f.Code, f.Status = string(s.Reason), int(s.Code)
	f.Message = f.Err.Error() // the text of the API server, and of the errors that wrap it
	named := false
	if s.Details != nil {
		f.After = time.Duration(max(s.Details.RetryAfterSeconds, 0)) * time.Second
		f.Inner = innerOf(s.Details.Causes)
		named = s.Details.Name != ""
	}
	f.ReadStatus()
	switch s.Reason {
	case metav1.StatusReasonConflict:
		f.Transient = !hasInner(f, causeFieldManager) // which stays until a person or another client gives way
	case metav1.StatusReasonExpired, metav1.StatusReasonInternalError, metav1.StatusReasonServerTimeout,
		metav1.StatusReasonServiceUnavailable, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests:
		f.Transient = true
	case metav1.StatusReasonStoreReadError: // a stored object may be damaged for good
		f.Transient = false
	}
	f.NotFound = named && !hasInner(f, causeUnexpected) &&
		(s.Reason == metav1.StatusReasonNotFound || s.Reason == metav1.StatusReasonUnknown && s.Code == http.StatusNotFound)
}

// maxCauses bounds the causes that are read: an admission webhook decides how many there are.
const maxCauses = 32

func innerOf(causes []metav1.StatusCause) (inner []classify.InnerError) {
	for _, c := range causes[:min(len(causes), maxCauses)] {
		if c.Type == "" && c.Message == "" {
			continue
		}
		message := c.Message
		if !strings.Contains(message, c.Field) {
			message = c.Field + ": " + message
		}
		inner = append(inner, classify.InnerError{Code: string(c.Type), Message: message})
	}
	return inner
}

func hasInner(f *classify.Failure, code string) bool {
	return slices.ContainsFunc(f.Inner, func(e classify.InnerError) bool { return e.Code == code })
}

// clientErrors are the errors that a client makes without an answer of the API server.
var clientErrors = []struct {
	code string
	is   func(error) bool
}{
	{CodeNoKindMatch, Is[*meta.NoKindMatchError]},
	{CodeNoResourceMatch, Is[*meta.NoResourceMatchError]},
	{CodeAmbiguousKind, Is[*meta.AmbiguousKindError]},
	{CodeAmbiguousResource, Is[*meta.AmbiguousResourceError]},
	{CodeDiscoveryFailed, Is[*discovery.ErrGroupDiscoveryFailed]},
	{CodeNotRegistered, notRegistered},
	{CodeCacheNotStarted, Is[*cache.ErrCacheNotStarted]},
	{CodeKindNotCached, Is[*cache.ErrResourceNotCached]},
	{CodeKindNotWatched, Is[*engine.KindNotWatchedError]},
	{CodeNamespaceNotAllowed, Is[*NamespaceNotAllowedError]},
	{CodeNamespaceNotWatched, Is[*engine.NamespaceNotWatchedError]},
	{CodeUnexpectedObject, Is[*apierrors.UnexpectedObjectError]},
}

func readKubernetesClient(f *classify.Failure) bool {
	for _, e := range clientErrors {
		if !e.is(f.Err) {
			continue
		}
		f.Code, f.Message = e.code, f.Err.Error()
		f.Transient = e.code == CodeDiscoveryFailed || e.code == CodeCacheNotStarted
		f.Inner = groupErrors(f.Err)
		return true
	}
	return false
}

// groupErrors lists the API groups whose discovery failed, if err says so, each with the reason of its error.
func groupErrors(err error) (inner []classify.InnerError) {
	groups, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	for gv, err := range groups {
		inner = append(inner, classify.InnerError{Code: string(apierrors.ReasonForError(err)), Message: fmt.Sprintf("%s: %v", gv, err)})
	}
	slices.SortFunc(inner, func(a, b classify.InnerError) int { return strings.Compare(a.Message, b.Message) })
	return inner
}

// notRegistered reports whether err wraps the error of a scheme without the type, which has an unexported type.
func notRegistered(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if runtime.IsNotRegisteredError(err) {
			return true
		}
	}
	return false
}

// Is reports whether err wraps an error of type E.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// IgnoreGone drops the error that an object does not exist any more, because there is
// nothing to write then. It keeps the error of a kind that is not served now, which
// has the same code: the object may exist.
func IgnoreGone(err error) error {
	if Reader.NotFound(err) {
		return nil
	}
	return err
}
